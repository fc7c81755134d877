//! Sandboxes of Modal: a server of ours that speaks its protocol and really runs the commands.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hermes_core::SystemRandom;
use hermes_exec::sandboxes::{self, Operator};
use hermes_exec::{Backend, BackendConfig, CloudConfig, Exit, Input, ModalConfig, Place, open};
use hermes_testkit::clouds::{Fault, Modal};

use super::away::{
    a_tree_ends, bytes_go_through, is_unavailable, launch, nobody, nothing_outlives_us, read, run,
    terminals_work, wait_for,
};
use super::cloud;

fn config(server: &Modal, folder: &Path, cloud: CloudConfig) -> ModalConfig {
    let snapshots = folder.join("modal_snapshots.json");
    ModalConfig::new(cloud, &server.url(), server.token(), snapshots).unwrap()
}

pub(crate) fn backend(server: &Modal, folder: &Path) -> Arc<dyn Backend> {
    opened(config(server, folder, cloud::config(folder)))
}

fn opened(config: ModalConfig) -> Arc<dyn Backend> {
    open(BackendConfig::Modal(config), &SystemRandom).unwrap()
}

// EX-28
#[tokio::test(flavor = "multi_thread")]
async fn a_sandbox_is_made_as_the_settings_say_used_again_and_its_files_are_kept() {
    let (server, folder) = (Modal::start().unwrap(), tempfile::tempdir().unwrap());
    let first = backend(&server, folder.path());
    let (text, exit) = run(&first, "echo kept >file; pwd; exit 5").await;
    assert_eq!(exit, Exit::Code(5));
    let id = server.sandboxes().pop().unwrap();
    assert!(text.ends_with(&format!("/{id}\n")), "{text}");
    let made = server.made_of(&id).unwrap();
    assert_eq!(made, (1500, 1500, "im-base".to_owned()));
    let expected = Place::Away {
        kind: "modal",
        label: id.clone(),
    };
    assert_eq!(first.place(), expected);

    // Found again while it runs, and ended with the last one who uses it.
    let second = backend(&server, folder.path());
    assert_eq!(run(&second, "cat file").await.0, "kept\n");
    assert_eq!(server.sandboxes(), std::slice::from_ref(&id));
    first.close().await.unwrap();
    second.close().await.unwrap();
    assert!(server.sandboxes().is_empty());
    let snapshots = std::fs::read_to_string(folder.path().join("modal_snapshots.json")).unwrap();
    let snapshots: serde_json::Value = serde_json::from_str(&snapshots).unwrap();
    assert_eq!(snapshots["direct:atask1"], format!("im-of-{id}"));

    // The next one has its files, unless it is made differently.
    let third = backend(&server, folder.path());
    assert_eq!(run(&third, "cat file").await.0, "kept\n");
    third.close().await.unwrap();
    let other = CloudConfig {
        memory_mb: 512,
        persistent: false,
        ..cloud::config(folder.path())
    };
    let other = opened(config(&server, folder.path(), other));
    assert_eq!(run(&other, "ls").await.0, "");
    other.close().await.unwrap();
    assert!(server.sandboxes().is_empty());
}

// EX-28
#[tokio::test(flavor = "multi_thread")]
async fn commands_bytes_and_terminals_work_as_everywhere() {
    let (server, folder) = (Modal::start().unwrap(), tempfile::tempdir().unwrap());
    let backend = backend(&server, folder.path());
    let runs = (0..8).map(async |number: i32| {
        let (text, exit) = run(&backend, &format!("echo {number}; exit {number}")).await;
        assert_eq!((text, exit), (format!("{number}\n"), Exit::Code(number)));
    });
    futures_util::future::join_all(runs).await;
    bytes_go_through(&backend, 3_000_000).await;
    terminals_work(&backend).await;
    // What is left behind in the background holds nothing up.
    let (text, exit) = run(&backend, "(sleep 30 >/dev/null 2>&1 &); echo ok").await;
    assert_eq!((text.as_str(), exit), ("ok\n", Exit::Code(0)));
    backend.close().await.unwrap();
}

// EX-8, EX-28
#[tokio::test(flavor = "multi_thread")]
async fn outputs_that_nobody_reads_do_not_hold_up_the_others() {
    let (server, folder) = (Modal::start().unwrap(), tempfile::tempdir().unwrap());
    let backend = backend(&server, folder.path());
    let mut unread = Vec::new();
    for number in 0..8 {
        let flood = launch(
            &format!("flood{number}"),
            "yes | head -c 5000000",
            Input::None,
        );
        unread.push(backend.spawn(flood).await.unwrap());
    }
    assert_eq!(run(&backend, "echo through").await.0, "through\n");
    for process in &mut unread {
        assert_eq!(read(process).await.len(), 5_000_000);
    }
    backend.close().await.unwrap();
}

// EX-23, EX-28
#[tokio::test(flavor = "multi_thread")]
async fn a_tree_ends_when_it_is_told_to_and_when_we_are_killed() {
    let (server, folder) = (Modal::start().unwrap(), tempfile::tempdir().unwrap());
    let backend = backend(&server, folder.path());
    let mark = folder.path().display().to_string();
    a_tree_ends(&backend, &format!("{mark}-told")).await;
    backend.close().await.unwrap();
    let (url, sandboxes) = (server.url(), folder.path().join("sandboxes"));
    let (id, secret) = server.token();
    let arguments = [
        "modal".as_ref(),
        url.as_ref(),
        id.as_ref(),
        secret.as_ref(),
        sandboxes.as_os_str(),
        cloud::tether().as_ref(),
    ];
    nothing_outlives_us(&arguments, &format!("{mark}-killed")).await;
}

// EX-28
#[tokio::test(flavor = "multi_thread")]
async fn trouble_on_the_way_is_survived() {
    let (server, folder) = (Modal::start().unwrap(), tempfile::tempdir().unwrap());
    for (about, answer) in [
        ("/AppGetOrCreate", 14),
        ("/AppGetOrCreate", 0),
        ("/ImageJoinStreaming", 14),
        ("/SandboxCreate", 13),
        ("/SandboxGetTaskId", 14),
        ("/TaskExecStart", 14),
        ("/TaskExecStdinWrite", 14),
        ("/TaskExecStdinWrite", 0),
        ("/TaskExecStdioRead", 14),
        ("/TaskExecWait", 13),
    ] {
        let times = 1;
        server.fault(Fault {
            about,
            answer,
            times,
        });
    }
    let backend = backend(&server, folder.path());
    assert_eq!(run(&backend, "echo fine").await.0, "fine\n");
    assert_eq!(server.sandboxes().len(), 1);
    // The stream of a long output breaks in the middle, and the pass into the sandbox expires.
    server.fault(Fault {
        about: "stream",
        answer: 0,
        times: 1,
    });
    server.expire_passes();
    let (text, exit) = run(&backend, "seq 1 100000").await;
    assert_eq!(exit, Exit::Code(0));
    let numbers: Vec<String> = (1..=100_000).map(|number| number.to_string()).collect();
    assert!(text.lines().eq(numbers.iter().map(String::as_str)));
    backend.close().await.unwrap();
}

// EX-21, EX-28
#[tokio::test(flavor = "multi_thread")]
async fn a_sandbox_that_is_gone_is_made_again() {
    let (server, folder) = (Modal::start().unwrap(), tempfile::tempdir().unwrap());
    let backend = backend(&server, folder.path());
    run(&backend, "echo lost >file").await;
    let id = server.sandboxes().pop().unwrap();
    let job = backend
        .spawn(launch("job", "sleep 963", Input::None))
        .await
        .unwrap();
    server.remove(&id);
    // With the signal that ended it or with the news that its place is gone, but not as if all were well.
    let ended = tokio::time::timeout(super::away::LONG, job.exit).await;
    assert!(!matches!(ended.unwrap(), Ok(Exit::Code(0))));
    assert_eq!(run(&backend, "ls").await.0, "");
    assert_ne!(server.sandboxes(), [id]);
    backend.close().await.unwrap();
}

// EX-28, EX-30
#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_is_said_with_the_next_step_and_nothing_runs_here() {
    let (server, folder) = (Modal::start().unwrap(), tempfile::tempdir().unwrap());
    let good = cloud::config(folder.path());
    let snapshots = folder.path().join("modal_snapshots.json");
    let at =
        |url: &str, token| ModalConfig::new(good.clone(), url, token, snapshots.clone()).unwrap();
    let with = |cloud: CloudConfig| config(&server, folder.path(), cloud);
    let (_closed, nobody) = nobody();
    let nobody = format!("http://{nobody}");
    let cases = [
        (
            at(&server.url(), ("ak-test", "wrong")),
            "malformed",
            "MODAL_TOKEN",
        ),
        (
            at(&nobody, server.token()),
            "cannot connect",
            "MODAL_SERVER_URL",
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
            "CPU limit",
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
    for (url, token) in [("nowhere", ("a", "b")), ("https://127.0.0.1", ("a", ""))] {
        let config = ModalConfig::new(good.clone(), url, token, snapshots.clone());
        assert!(config.is_err());
    }
}

// EX-22, EX-28, EX-31
#[tokio::test(flavor = "multi_thread")]
async fn an_idle_sandbox_is_ended_with_its_files_kept_unless_something_runs_in_it() {
    let (server, folder) = (Modal::start().unwrap(), tempfile::tempdir().unwrap());
    let settings = CloudConfig {
        lifetime: Duration::from_secs(4),
        ..cloud::config(folder.path())
    };
    let path = settings.sandboxes.clone();
    let settings = config(&server, folder.path(), settings);
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

    let operator = || Operator::Modal(&settings);
    let all = sandboxes::list(operator(), &path).await.unwrap();
    assert_eq!(all.len(), 1);
    let one = (all[0].task.as_str(), all[0].running, all[0].leases.len());
    assert_eq!(one, ("atask1", true, 1));
    let removed = sandboxes::remove(operator(), &path, &all[0].name).await;
    assert!(removed.unwrap());
    assert!(server.sandboxes().is_empty());
    backend.close().await.unwrap();
}
