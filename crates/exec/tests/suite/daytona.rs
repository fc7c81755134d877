//! Sandboxes of Daytona: a server of ours that speaks its protocol and really runs the commands.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hermes_core::{ManualClock, SystemClock, SystemRandom};
use hermes_exec::sandboxes::{self, Operator, Reclaimed};
use hermes_exec::{
    Backend, BackendConfig, CloudConfig, DaytonaConfig, Ending, ExecError, Exit, Input, Leases,
    Place, open,
};
use hermes_testkit::clouds::{Daytona, Fault};
use serde_json::json;
use tokio::io::{AsyncBufReadExt, BufReader};

use super::away::{
    LONG, a_tree_ends, bytes_go_through, is_unavailable, launch, nobody, nothing_outlives_us, read,
    run, terminals_work, wait_for,
};
use super::cloud;

fn config(server: &Daytona, cloud: CloudConfig) -> DaytonaConfig {
    DaytonaConfig::new(cloud, &server.url(), server.key()).unwrap()
}

pub(crate) fn backend(server: &Daytona, folder: &Path) -> Arc<dyn Backend> {
    opened(config(server, cloud::config(folder)))
}

fn opened(config: DaytonaConfig) -> Arc<dyn Backend> {
    open(BackendConfig::Daytona(config), &SystemRandom).unwrap()
}

// EX-28
#[tokio::test(flavor = "multi_thread")]
async fn a_sandbox_is_made_as_the_settings_say_used_again_and_stopped() {
    let (server, folder) = (Daytona::start().unwrap(), tempfile::tempdir().unwrap());
    let mut settings = config(&server, cloud::config(folder.path()));
    settings.target = Some("eu".to_owned());
    settings.organisation = Some("org-1".to_owned());
    let first = opened(settings.clone());
    let (text, exit) = run(&first, "echo kept >file; pwd; exit 5").await;
    assert_eq!(exit, Exit::Code(5));
    let sandbox = server.sandboxes().pop().unwrap();
    let id = sandbox["id"].as_str().unwrap().to_owned();
    assert!(text.ends_with(&format!("/{id}\n")), "{text}");
    let name = sandbox["name"].as_str().unwrap();
    assert!(name.starts_with("hermes-"), "{name}");
    let labels = &sandbox["labels"];
    assert_eq!(labels["hermes-agent"], "1");
    assert_eq!(labels["hermes-task-id"], "atask1");
    assert_eq!(labels["hermes_task_id"], "a task/1");
    assert_eq!(labels["hermes-profile"], "main");
    let image = &sandbox["buildInfo"]["dockerfileContent"];
    assert_eq!(*image, "FROM debian:12\n");
    let limits = [&sandbox["cpu"], &sandbox["memory"], &sandbox["disk"]];
    assert_eq!(json!(limits), json!([2, 2, 10]));
    assert_eq!(sandbox["autoStopInterval"], 15);
    assert_eq!(sandbox["target"], "eu");
    assert_eq!(sandbox["organizationId"], "org-1");
    let Place::Away { kind, label } = first.place() else {
        panic!()
    };
    assert_eq!((kind, label.as_str()), ("daytona", name));

    // Found again while it runs.
    let second = opened(settings.clone());
    assert_eq!(run(&second, "cat file").await.0, "kept\n");
    first.close().await.unwrap();
    second.close().await.unwrap();
    assert_eq!(server.sandboxes()[0]["state"], "stopped");
    assert_eq!(server.open_sessions(), 0);

    // It starts again with its files; another image means another sandbox.
    let third = opened(settings);
    assert_eq!(run(&third, "cat file").await.0, "kept\n");
    third.close().await.unwrap();
    assert_eq!(server.sandboxes()[0]["id"], id.as_str());
    let other = CloudConfig {
        image: "alpine:3".to_owned(),
        persistent: false,
        ..cloud::config(folder.path())
    };
    let other = opened(config(&server, other));
    assert_eq!(run(&other, "ls").await.0, "");
    let sandboxes = server.sandboxes();
    assert_eq!(sandboxes.len(), 1);
    assert_ne!(sandboxes[0]["id"], id.as_str());
    assert_eq!(sandboxes[0]["autoDeleteInterval"], 0);
    other.close().await.unwrap();
    assert!(server.sandboxes().is_empty());
    let leases = Leases::of(&folder.path().join("sandboxes"), "daytona");
    let left = leases.all().unwrap();
    assert!(!left.contains_key(sandboxes[0]["name"].as_str().unwrap()));
}

// EX-28
#[tokio::test(flavor = "multi_thread")]
async fn commands_bytes_and_terminals_work_as_everywhere() {
    let (server, folder) = (Daytona::start().unwrap(), tempfile::tempdir().unwrap());
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
    assert_eq!(server.open_sessions(), 0);
}

// EX-23, EX-28
#[tokio::test(flavor = "multi_thread")]
async fn a_tree_ends_when_it_is_told_to_and_when_we_are_killed() {
    let (server, folder) = (Daytona::start().unwrap(), tempfile::tempdir().unwrap());
    let backend = backend(&server, folder.path());
    let mark = folder.path().display().to_string();
    a_tree_ends(&backend, &format!("{mark}-told")).await;
    backend.close().await.unwrap();
    let (url, sandboxes) = (server.url(), folder.path().join("sandboxes"));
    let arguments = [
        "daytona".as_ref(),
        url.as_ref(),
        server.key().as_ref(),
        sandboxes.as_os_str(),
        cloud::tether().as_ref(),
    ];
    nothing_outlives_us(&arguments, &format!("{mark}-killed")).await;
}

// EX-28
#[tokio::test(flavor = "multi_thread")]
async fn trouble_on_the_way_is_survived() {
    let (server, folder) = (Daytona::start().unwrap(), tempfile::tempdir().unwrap());
    for (about, answer) in [
        ("/api/sandbox", 429),
        ("/api/sandbox", 0),
        ("/api/sandbox/", 502),
        ("/process/session", 503),
        ("/exec", 500),
        ("/input", 502),
        ("/input", 0),
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
    // The stream of a long output breaks in the middle.
    server.fault(Fault {
        about: "stream",
        answer: 0,
        times: 1,
    });
    let (text, exit) = run(&backend, "seq 1 100000").await;
    assert_eq!(exit, Exit::Code(0));
    let numbers: Vec<String> = (1..=100_000).map(|number| number.to_string()).collect();
    assert!(text.lines().eq(numbers.iter().map(String::as_str)));
    backend.close().await.unwrap();
}

// EX-21, EX-28
#[tokio::test(flavor = "multi_thread")]
async fn a_sandbox_that_is_stopped_or_gone_is_started_or_made_again() {
    let (server, folder) = (Daytona::start().unwrap(), tempfile::tempdir().unwrap());
    let backend = backend(&server, folder.path());
    run(&backend, "echo kept >file").await;
    let id = server.sandboxes()[0]["id"].as_str().unwrap().to_owned();
    let job = backend
        .spawn(launch("job", "echo up; sleep 963", Input::None))
        .await
        .unwrap();
    let mut lines = BufReader::new(job.output).lines();
    assert_eq!(lines.next_line().await.unwrap().unwrap(), "up");
    server.stop(&id);
    let ended = tokio::time::timeout(LONG, job.exit).await;
    assert!(matches!(ended.unwrap(), Err(ExecError::Gone(_))));
    assert_eq!(run(&backend, "cat file").await.0, "kept\n");
    assert_eq!(server.sandboxes()[0]["id"], id.as_str());
    server.remove(&id);
    assert_eq!(run(&backend, "ls").await.0, "");
    assert_ne!(server.sandboxes()[0]["id"], id.as_str());
    backend.close().await.unwrap();
}

// EX-28, EX-30
#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_is_said_with_the_next_step_and_nothing_runs_here() {
    let (server, folder) = (Daytona::start().unwrap(), tempfile::tempdir().unwrap());
    let good = cloud::config(folder.path());
    let at = |url: &str, key: &str| DaytonaConfig::new(good.clone(), url, key).unwrap();
    let with = |cloud: CloudConfig| config(&server, cloud);
    let (_closed, nobody) = nobody();
    let nobody = format!("http://{nobody}/api");
    let cases = [
        (
            at(&server.url(), "wrong"),
            "Invalid credentials",
            "DAYTONA_API_KEY",
        ),
        (at(&nobody, "key"), "cannot connect", "DAYTONA_API_URL"),
        (
            with(CloudConfig {
                image: "missing:1".to_owned(),
                ..good.clone()
            }),
            "manifest unknown",
            "daytona_image",
        ),
        (
            with(CloudConfig {
                cpus: 64.0,
                ..good.clone()
            }),
            "CPU limit exceeded",
            "container_cpu",
        ),
    ];
    let marker = folder.path().join("marker");
    for (config, cause, next) in cases {
        is_unavailable(&opened(config), "daytona", cause, next, &marker).await;
    }
    assert!(
        server.sandboxes().is_empty(),
        "half-made sandboxes are left"
    );
    for (url, key) in [("nowhere", "key"), ("https://127.0.0.1", "")] {
        assert!(DaytonaConfig::new(good.clone(), url, key).is_err());
    }
}

// EX-22, EX-28, EX-31
#[tokio::test(flavor = "multi_thread")]
async fn an_idle_sandbox_stops_unless_something_runs_in_it_and_is_removed_later() {
    let (server, folder) = (Daytona::start().unwrap(), tempfile::tempdir().unwrap());
    let settings = CloudConfig {
        lifetime: Duration::from_secs(4),
        ..cloud::config(folder.path())
    };
    let path = settings.sandboxes.clone();
    let settings = config(&server, settings);
    let backend = opened(settings.clone());
    let mut job = backend
        .spawn(launch("job", "sleep 9; echo done", Input::None))
        .await
        .unwrap();
    assert_eq!(read(&mut job).await, "done\n");
    job.control.end(Ending::Kill).await.unwrap();
    let server = Arc::new(server);
    let watched = Arc::clone(&server);
    wait_for("stopped", move || {
        watched.sandboxes()[0]["state"] == "stopped"
    })
    .await;

    // It comes back for the next command.
    assert_eq!(run(&backend, "echo again").await.0, "again\n");
    let operator = || Operator::Daytona(&settings);
    let all = sandboxes::list(operator(), &path).await.unwrap();
    assert_eq!(all.len(), 1);
    assert_eq!(
        (all[0].task.as_str(), all[0].running, all[0].leases.len()),
        ("atask1", true, 1)
    );
    backend.close().await.unwrap();

    let clock = ManualClock::new(hermes_core::Clock::now(&SystemClock));
    clock.advance(Duration::from_secs(300));
    let reclaimed = sandboxes::reclaim(operator(), &path, "other", &clock).await;
    assert_eq!(reclaimed.unwrap(), []);
    let reclaimed = sandboxes::reclaim(operator(), &path, "main", &clock).await;
    assert_eq!(
        reclaimed.unwrap(),
        [Reclaimed::Removed(all[0].name.clone())]
    );
    assert!(server.sandboxes().is_empty());
    let removed = sandboxes::remove(operator(), &path, &all[0].name).await;
    assert!(!removed.unwrap());
}
