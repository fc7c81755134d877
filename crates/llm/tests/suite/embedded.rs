//! The model inside this process.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use hermes_llm::{Ask, CallEnd, Course, Endpoint};
use hermes_testkit::model_server::{ModelServer, Scenario};
use tokio_util::sync::CancellationToken;

use super::lab::{Heard, Lab, PROTOCOLS, course, question};

/// A model file that nobody gets to the end of: a pipe without a writer.
fn endless(folder: &Path) -> std::path::PathBuf {
    let file = folder.join("model.gguf");
    assert!(
        Command::new("mkfifo")
            .arg(&file)
            .status()
            .unwrap()
            .success()
    );
    file
}

/// Calls until it is stopped; how long it took after that.
async fn stopped(lab: &Lab, course: &mut Course) -> Duration {
    let (request, cancel, mut heard) = (question(), CancellationToken::new(), Heard::default());
    let ask = Ask {
        request: &request,
        tokens: 100,
        compactable: true,
        addressed: None,
    };
    let call = lab.caller.call(course, &ask, &mut heard, &cancel);
    let stop = async {
        // The file is being read by then, or waited for.
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        cancel.cancel();
        Instant::now()
    };
    let (end, since) = tokio::join!(call, stop);
    assert!(matches!(end, CallEnd::Stopped(_)), "{end:?}");
    since.elapsed()
}

// AG-8
#[tokio::test]
async fn a_stop_is_heard_while_the_model_is_read_and_while_somebody_else_reads_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = endless(folder.path());
    let server = ModelServer::start(Scenario::new()).unwrap();
    let lab = Lab::new();
    let mut route = lab.route(PROTOCOLS[0], &server);
    route.endpoint = Endpoint::Embedded { file: file.clone() };
    for _ in 0..2 {
        let took = stopped(&lab, &mut course(&route)).await;
        assert!(took < Duration::from_millis(300), "{took:?}");
    }
    // Whoever reads it is let go: what comes is no model, and the next question says so.
    let write = tokio::task::spawn_blocking(move || std::fs::write(file, "no model"));
    write.await.unwrap().unwrap();
}
