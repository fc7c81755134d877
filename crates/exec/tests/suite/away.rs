//! What tests of backends that are not this machine have in common.

use std::sync::Arc;
use std::time::Duration;

use hermes_exec::{Backend, Exit, Input, Launch, Process, RunId};
use hermes_testkit::eventually;
use tokio::io::AsyncReadExt;

/// Long enough for a loaded machine; nothing waits this long unless it is broken.
pub(crate) const LONG: Duration = Duration::from_secs(60);

pub(crate) fn launch(id: &str, script: &str, input: Input) -> Launch {
    Launch {
        id: RunId::new(id),
        argv: ["sh", "-c", script].map(str::to_owned).to_vec(),
        directory: None,
        environment: Vec::new(),
        input,
        confinement: None,
    }
}

/// Runs a script and returns what it printed and how it ended.
pub(crate) async fn run(backend: &Arc<dyn Backend>, script: &str) -> (String, Exit) {
    static COUNT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let count = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let launch = launch(&format!("run{count}"), script, Input::None);
    let mut process = backend.spawn(launch).await.unwrap();
    let text = read(&mut process).await;
    (text, process.exit.await.unwrap())
}

pub(crate) async fn read(process: &mut Process) -> String {
    let mut output = Vec::new();
    tokio::time::timeout(LONG, process.output.read_to_end(&mut output))
        .await
        .unwrap()
        .unwrap();
    String::from_utf8_lossy(&output).into_owned()
}

/// Waits for a condition without holding up the runtime.
pub(crate) async fn wait_for(
    what: &'static str,
    mut condition: impl FnMut() -> bool + Send + 'static,
) {
    tokio::task::spawn_blocking(move || eventually(LONG, what, || condition().then_some(())))
        .await
        .unwrap()
        .unwrap();
}
