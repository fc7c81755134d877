//! What tests of backends that are not this machine have in common.

use std::ffi::OsStr;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use hermes_exec::{Backend, Ending, ExecError, Exit, Input, Launch, Process, RunId};
use hermes_testkit::{eventually, process};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpSocket;

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

/// A process that left its parent, one that left its session, one that dropped its environment too, and one that
/// ignores polite requests.
pub(crate) fn stubborn(mark: &str) -> String {
    format!(
        "export TREE={mark}; trap '' TERM HUP; setsid sleep 975 & (nohup sleep 975 >/dev/null 2>&1 &); \
         (env -i setsid sleep {} >/dev/null 2>&1 </dev/null &); echo up; while :; do sleep 1; done",
        own_time(mark)
    )
}

/// So long sleeps only what belongs to the mark: without an environment it is known by its command line alone.
fn own_time(mark: &str) -> u64 {
    let mut hash = DefaultHasher::new();
    mark.hash(&mut hash);
    100_000_000 + hash.finish() % 100_000_000
}

/// How many processes of the tree run, with and without an environment.
fn marked(mark: &str) -> (usize, usize) {
    let wanted = format!("sleep\0{}\0", own_time(mark));
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let bare = all.filter(|entry| {
        let line = std::fs::read(entry.path().join("cmdline"));
        line.is_ok_and(|line| line == wanted.as_bytes())
    });
    let marked = process::find_by_env_marker("TREE", mark).len();
    (marked, bare.count())
}

/// Waits until the whole tree runs.
async fn grown(mark: &str) {
    let wanted = mark.to_owned();
    wait_for("the tree", move || {
        let (marked, bare) = marked(&wanted);
        marked >= 3 && bare == 1
    })
    .await;
}

/// Waits until nothing of the tree runs.
async fn silent(mark: &str) {
    let wanted = mark.to_owned();
    wait_for("silence", move || marked(&wanted) == (0, 0)).await;
}

/// A whole tree ends when it is told to. Its processes must be visible from here.
pub(crate) async fn a_tree_ends(backend: &Arc<dyn Backend>, mark: &str) {
    let tree = launch("tree", &stubborn(mark), Input::None);
    let process = backend.spawn(tree).await.unwrap();
    let mut lines = BufReader::new(process.output).lines();
    assert_eq!(lines.next_line().await.unwrap().unwrap(), "up");
    grown(mark).await;
    process.control.end(Ending::Terminate).await.unwrap();
    process.control.end(Ending::Kill).await.unwrap();
    assert_eq!(process.exit.await.unwrap(), Exit::Code(137));
    silent(mark).await;
}

/// Bytes of every kind go in and come out as they are.
pub(crate) async fn bytes_go_through(backend: &Arc<dyn Backend>, count: u32) {
    let mut process = backend
        .spawn(launch("cat", "cat", Input::Pipe))
        .await
        .unwrap();
    let mut input = process.input.take().unwrap();
    let sent: Vec<u8> = (0..count)
        .map(|number| (number.wrapping_mul(7) >> (number % 3)) as u8)
        .collect();
    let write = async {
        input.write_all(&sent).await.unwrap();
        input.shutdown().await.unwrap();
        drop(input);
    };
    let mut received = Vec::new();
    let read_all = process.output.read_to_end(&mut received);
    let both = async { tokio::join!(write, read_all).1.unwrap() };
    tokio::time::timeout(LONG, both).await.unwrap();
    assert!(received == sent);
    assert_eq!(process.exit.await.unwrap(), Exit::Code(0));
}

/// A terminal has its size, learns a new one, changes no byte and can be typed into.
pub(crate) async fn terminals_work(backend: &Arc<dyn Backend>) {
    let size = Input::Terminal {
        rows: 31,
        columns: 97,
    };
    let script = "tty >/dev/null && stty size; trap '[ \"$(stty size)\" = \"40 120\" ] && stty size && printf \"\\1\\0\\2 end\" && exit 4' WINCH; echo ready; while :; do sleep 0.05; done";
    let mut terminal = launch("term", script, size);
    terminal.argv[0] = "bash".to_owned();
    let mut process = backend.spawn(terminal).await.unwrap();
    let mut seen = String::new();
    let mut buffer = [0; 256];
    while !seen.contains("ready") {
        let count = tokio::time::timeout(LONG, process.output.read(&mut buffer))
            .await
            .unwrap()
            .unwrap();
        seen.push_str(&String::from_utf8_lossy(&buffer[..count]));
    }
    assert_eq!(seen.replace('\r', ""), "31 97\nready\n");
    process.control.resize(40, 120).await.unwrap();
    assert_eq!(
        read(&mut process).await.replace('\r', ""),
        "40 120\n\u{1}\0\u{2} end"
    );
    assert_eq!(process.exit.await.unwrap(), Exit::Code(4));

    let mut typed = backend
        .spawn(launch("typed", "read line; echo got $line", size))
        .await
        .unwrap();
    typed
        .input
        .as_mut()
        .unwrap()
        .write_all(b"words\r")
        .await
        .unwrap();
    assert!(read(&mut typed).await.contains("got words"));
}

/// A backend that cannot do what it is configured for says why and what to do, and runs nothing here.
pub(crate) async fn is_unavailable(
    backend: &Arc<dyn Backend>,
    kind: &str,
    cause: &str,
    next: &str,
    marker: &Path,
) {
    let launch = launch("none", &format!("touch {}", marker.display()), Input::None);
    let Err(error) = backend.spawn(launch).await else {
        panic!("{cause}")
    };
    let text = error.to_string();
    let ExecError::Unavailable { backend, .. } = error else {
        panic!("{text}")
    };
    assert_eq!(backend, kind);
    assert!(text.contains(cause) && text.contains(next), "{text}");
    assert!(!marker.exists());
}

/// Nothing outlives us longer.
pub(crate) const FIVE_SECONDS: Duration = Duration::from_secs(5);
/// How often a busy machine may try to be that quick.
pub(crate) const ROUNDS: u32 = 3;

/// Our process runs a stubborn tree over there and is killed; nothing of the tree is left five seconds later.
pub(crate) async fn nothing_outlives_us(backend: &[&OsStr], mark: &str) {
    let mut took = Vec::new();
    for round in 0..ROUNDS {
        took.push(time_to_silence(backend, &format!("{mark}-{round}")).await);
        if took.iter().any(|time| *time < FIVE_SECONDS) {
            return;
        }
    }
    panic!("{took:?}");
}

async fn time_to_silence(backend: &[&OsStr], mark: &str) -> Duration {
    let runner = begun(backend, &stubborn(mark));
    grown(mark).await;
    let wanted = mark.to_owned();
    time_until_gone(runner, move || marked(&wanted) == (0, 0)).await
}

/// A process that runs a command over there.
pub(crate) fn start(backend: &[&OsStr], command: &str) -> Child {
    Command::new(env!("CARGO_BIN_EXE_remote-runner"))
        .arg(env!("CARGO_BIN_EXE_hermes-warden"))
        .args(backend)
        .arg(command)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// The same when the command has said `up`.
pub(crate) fn begun(backend: &[&OsStr], command: &str) -> Child {
    let mut runner = start(backend, command);
    let mut line = String::new();
    let output = runner.stdout.take().unwrap();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(output), &mut line).unwrap();
    assert_eq!(line, "up\n");
    runner
}

/// Kills the process and says how long it takes until something is gone.
pub(crate) async fn time_until_gone(
    mut runner: Child,
    gone: impl FnMut() -> bool + Send + 'static,
) -> Duration {
    runner.kill().unwrap();
    let killed = Instant::now();
    runner.wait().unwrap();
    wait_for("silence", gone).await;
    killed.elapsed()
}

/// An address of this machine where nobody listens as long as the socket lives.
pub(crate) fn nobody() -> (TcpSocket, SocketAddr) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = socket.local_addr().unwrap();
    (socket, address)
}
