//! Sandboxes of Modal through a gateway: a server of ours that speaks its protocol and really runs the commands.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hermes_core::SystemRandom;
use hermes_exec::sandboxes::{self, Operator};
use hermes_exec::{
    Backend, BackendConfig, CloudConfig, ExecError, Exit, Input, ManagedModalConfig, Place, open,
};
use hermes_testkit::clouds::{Fault, ModalGateway};
use serde_json::json;
use tokio::io::{AsyncBufReadExt, BufReader};

use super::away::{
    LONG, a_tree_ends, bytes_go_through, is_unavailable, launch, nobody, nothing_outlives_us, read,
    run, terminals_work, wait_for,
};
use super::cloud;

fn config(server: &ModalGateway, cloud: CloudConfig) -> ManagedModalConfig {
    ManagedModalConfig::new(cloud, &server.url(), server.token()).unwrap()
}

pub(crate) fn backend(server: &ModalGateway, folder: &Path) -> Arc<dyn Backend> {
    opened(config(server, cloud::config(folder)))
}

fn opened(config: ManagedModalConfig) -> Arc<dyn Backend> {
    open(BackendConfig::ManagedModal(config), &SystemRandom).unwrap()
}

fn fault(server: &ModalGateway, about: &'static str, answer: u16) {
    let times = 1;
    server.fault(Fault {
        about,
        answer,
        times,
    });
}

// EX-28
#[tokio::test(flavor = "multi_thread")]
async fn a_sandbox_is_made_as_the_settings_say_used_again_and_its_files_are_kept() {
    let (server, folder) = (ModalGateway::start().unwrap(), tempfile::tempdir().unwrap());
    let first = backend(&server, folder.path());
    let (text, exit) = run(&first, "echo kept >file; pwd; exit 5").await;
    assert_eq!(exit, Exit::Code(5));
    let (id, made) = server.sandboxes().pop_first().unwrap();
    assert!(text.ends_with(&format!("/{id}\n")), "{text}");
    let expected = json!({
        "image": "debian:12",
        "cwd": "/root",
        "cpu": 1.5,
        "memoryMiB": 1500,
        "diskMiB": 51_200,
        "timeoutMs": 3_600_000,
        "idleTimeoutMs": 300_000,
        "persistentFilesystem": true,
        "logicalKey": "main.atask1",
    });
    assert_eq!(made, expected);
    let expected = Place::Away {
        kind: "modal",
        label: id.clone(),
    };
    assert_eq!(first.place(), expected);

    // Found again while it runs, and ended with the last one who uses it.
    let second = backend(&server, folder.path());
    assert_eq!(run(&second, "cat file").await.0, "kept\n");
    assert_eq!(server.sandboxes().len(), 1);
    first.close().await.unwrap();
    second.close().await.unwrap();
    assert!(server.sandboxes().is_empty());

    // The next one has its files, unless nothing is to be kept.
    let third = backend(&server, folder.path());
    assert_eq!(run(&third, "cat file").await.0, "kept\n");
    third.close().await.unwrap();
    let other = CloudConfig {
        persistent: false,
        ..cloud::config(folder.path())
    };
    let other = opened(config(&server, other));
    assert_eq!(run(&other, "ls").await.0, "");
    other.close().await.unwrap();
    assert!(server.sandboxes().is_empty());
}

// EX-28
#[tokio::test(flavor = "multi_thread")]
async fn commands_bytes_and_terminals_work_as_everywhere() {
    let (server, folder) = (ModalGateway::start().unwrap(), tempfile::tempdir().unwrap());
    let backend = backend(&server, folder.path());
    let runs = (0..4).map(async |number: i32| {
        let (text, exit) = run(&backend, &format!("echo {number}; exit {number}")).await;
        assert_eq!((text, exit), (format!("{number}\n"), Exit::Code(number)));
    });
    futures_util::future::join_all(runs).await;
    bytes_go_through(&backend, 1_000_000).await;
    terminals_work(&backend).await;
    // What is left behind in the background holds nothing up.
    let (text, exit) = run(&backend, "(sleep 30 >/dev/null 2>&1 &); echo ok").await;
    assert_eq!((text.as_str(), exit), ("ok\n", Exit::Code(0)));
    backend.close().await.unwrap();
    let server = Arc::new(server);
    wait_for("all commands have ended", move || server.running() == 0).await;
}

// EX-23, EX-28
#[tokio::test(flavor = "multi_thread")]
async fn a_tree_ends_when_it_is_told_to_and_when_we_are_killed() {
    let (server, folder) = (ModalGateway::start().unwrap(), tempfile::tempdir().unwrap());
    let backend = backend(&server, folder.path());
    let mark = folder.path().display().to_string();
    a_tree_ends(&backend, &format!("{mark}-told")).await;
    // That was the end of a command, not of the place.
    let (id, _) = server.sandboxes().pop_first().unwrap();
    run(&backend, "true").await;
    assert!(server.sandboxes().contains_key(&id));
    backend.close().await.unwrap();
    let (url, sandboxes) = (server.url(), folder.path().join("sandboxes"));
    let arguments = [
        "modal-managed".as_ref(),
        url.as_ref(),
        server.token().as_ref(),
        sandboxes.as_os_str(),
        cloud::tether().as_ref(),
    ];
    nothing_outlives_us(&arguments, &format!("{mark}-killed")).await;
    // Nor does what carried it.
    let server = Arc::new(server);
    wait_for("the relays have ended", move || server.running() == 0).await;
}

// EX-28
#[tokio::test(flavor = "multi_thread")]
async fn trouble_on_the_way_is_survived() {
    let (server, folder) = (ModalGateway::start().unwrap(), tempfile::tempdir().unwrap());
    for (about, answer) in [
        ("/v1/sandboxes", 429),
        ("/v1/sandboxes", 0),
        ("/execs", 503),
        ("/execs", 0),
        ("/execs/", 502),
        ("/execs/", 0),
    ] {
        fault(&server, about, answer);
    }
    let backend = backend(&server, folder.path());
    assert_eq!(run(&backend, "echo fine").await.0, "fine\n");
    assert_eq!(server.sandboxes().len(), 1);
    // A gateway that shows only so much is asked for less.
    server.cut(4_000);
    let (text, exit) = run(&backend, "seq 1 3000").await;
    assert_eq!(exit, Exit::Code(0));
    let numbers: Vec<String> = (1..=3_000).map(|number| number.to_string()).collect();
    assert!(text.lines().eq(numbers.iter().map(String::as_str)));
    backend.close().await.unwrap();
}

// EX-21, EX-28
#[tokio::test(flavor = "multi_thread")]
async fn a_sandbox_that_is_gone_is_made_again_and_what_ran_in_it_has_failed() {
    let (server, folder) = (ModalGateway::start().unwrap(), tempfile::tempdir().unwrap());
    let backend = backend(&server, folder.path());
    let job = backend
        .spawn(launch("job", "echo up; sleep 963", Input::None))
        .await
        .unwrap();
    let mut lines = BufReader::new(job.output).lines();
    assert_eq!(lines.next_line().await.unwrap().unwrap(), "up");
    let (id, _) = server.sandboxes().pop_first().unwrap();
    server.remove(&id);
    let ended = tokio::time::timeout(LONG, job.exit).await;
    assert!(matches!(ended.unwrap(), Err(ExecError::Gone(_))));
    assert_eq!(run(&backend, "ls").await.0, "");
    assert!(!server.sandboxes().contains_key(&id));

    // Also if it went while nobody was looking.
    let (id, _) = server.sandboxes().pop_first().unwrap();
    server.remove(&id);
    let later = self::backend(&server, folder.path());
    assert_eq!(run(&later, "echo again").await.0, "again\n");
    later.close().await.unwrap();
}

// EX-28, EX-30
#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_is_said_with_the_next_step_and_nothing_runs_here() {
    let (server, folder) = (ModalGateway::start().unwrap(), tempfile::tempdir().unwrap());
    let good = cloud::config(folder.path());
    let at = |url: &str, token: &str| ManagedModalConfig::new(good.clone(), url, token).unwrap();
    let with = |cloud: CloudConfig| config(&server, cloud);
    let (_closed, nobody) = nobody();
    let nobody = format!("http://{nobody}");
    let cases = [
        (
            at(&server.url(), "wrong"),
            "the token is not known",
            "TOOL_GATEWAY_USER_TOKEN",
        ),
        (
            at(&nobody, server.token()),
            "cannot connect",
            "MODAL_GATEWAY_URL",
        ),
        (
            with(CloudConfig {
                image: "missing:1".to_owned(),
                ..good.clone()
            }),
            "manifest unknown",
            "modal_image",
        ),
        (
            with(CloudConfig {
                cpus: 64.0,
                ..good.clone()
            }),
            "limit of processors",
            "container_cpu",
        ),
    ];
    let marker = folder.path().join("marker");
    for (config, cause, next) in cases {
        is_unavailable(&opened(config), "modal", cause, next, &marker).await;
    }
    assert!(
        server.sandboxes().is_empty(),
        "half-made sandboxes are left"
    );
    for (url, token) in [("nowhere", "a"), ("https://127.0.0.1", "")] {
        assert!(ManagedModalConfig::new(good.clone(), url, token).is_err());
    }
}

// EX-22, EX-28, EX-31
#[tokio::test(flavor = "multi_thread")]
async fn an_idle_sandbox_is_ended_with_its_files_kept_unless_something_runs_in_it() {
    let (server, folder) = (ModalGateway::start().unwrap(), tempfile::tempdir().unwrap());
    let settings = CloudConfig {
        lifetime: Duration::from_secs(4),
        ..cloud::config(folder.path())
    };
    let path = settings.sandboxes.clone();
    let settings = config(&server, settings);
    let backend = opened(settings.clone());
    let mut job = backend
        .spawn(launch("job", "sleep 9; echo done | tee file", Input::None))
        .await
        .unwrap();
    assert_eq!(read(&mut job).await, "done\n");
    let server = Arc::new(server);
    let watched = Arc::clone(&server);
    wait_for("ended", move || watched.sandboxes().is_empty()).await;
    assert_eq!(run(&backend, "cat file").await.0, "done\n");

    let operator = || Operator::ManagedModal(&settings);
    let all = sandboxes::list(operator(), &path).await.unwrap();
    assert_eq!(all.len(), 1);
    let one = (all[0].task.as_str(), all[0].running, all[0].leases.len());
    assert_eq!(one, ("atask1", true, 1));
    let removed = sandboxes::remove(operator(), &path, &all[0].name).await;
    assert!(removed.unwrap());
    assert!(server.sandboxes().is_empty());
    assert!(sandboxes::list(operator(), &path).await.unwrap().is_empty());
    backend.close().await.unwrap();
}
