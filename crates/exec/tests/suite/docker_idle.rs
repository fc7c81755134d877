//! Containers of a real engine that nobody uses for a while.

use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use hermes_core::{ManualClock, SystemClock};
use hermes_exec::sandboxes::{self, Reclaimed};
use hermes_exec::{DockerConfig, Ending, Input, Leases};
use hermes_testkit::Dockerd;

use super::away::{launch, run, wait_for};
use super::docker::{backend, config, inspect};
use super::local::output;
use super::shell_places::elsewhere;

// EX-22, EX-31
#[tokio::test(flavor = "multi_thread")]
async fn an_idle_container_stops_unless_something_runs_in_it_and_comes_back() {
    let (engine, folder) = (Dockerd::start().unwrap(), tempfile::tempdir().unwrap());
    let config = DockerConfig {
        lifetime: Duration::from_secs(2),
        ..config(&engine, folder.path())
    };
    let backend = backend(config);
    let job = backend
        .spawn(launch("job", "sleep 964", Input::None))
        .await
        .unwrap();
    run(&backend, "echo short").await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(inspect(&engine)["State"]["Running"], true);
    job.control.end(Ending::Kill).await.unwrap();
    job.exit.await.unwrap();
    let engine = Arc::new(engine);
    let watched = Arc::clone(&engine);
    wait_for("stopped", move || {
        inspect(&watched)["State"]["Running"] == false
    })
    .await;

    // It comes back for the next command.
    assert_eq!(run(&backend, "echo again").await.0, "again\n");
    backend.close().await.unwrap();
}

// EX-22
#[tokio::test(flavor = "multi_thread")]
async fn leaving_does_not_start_a_container_that_stopped_when_it_was_idle() {
    let (engine, folder) = (Dockerd::start().unwrap(), tempfile::tempdir().unwrap());
    let config = DockerConfig {
        lifetime: Duration::from_secs(2),
        ..config(&engine, folder.path())
    };
    let backend = backend(config);
    let shell = elsewhere(&backend);
    assert_eq!(output(&shell, "echo there").await, "there");
    let engine = Arc::new(engine);
    let watched = Arc::clone(&engine);
    wait_for("stopped", move || {
        inspect(&watched)["State"]["Running"] == false
    })
    .await;
    let started = inspect(&engine)["State"]["StartedAt"].clone();
    shell.close().await.unwrap();
    backend.close().await.unwrap();
    let state = inspect(&engine)["State"].clone();
    assert_eq!(
        (&state["Running"], &state["StartedAt"]),
        (&false.into(), &started)
    );
}

// EX-22, EX-31
#[tokio::test(flavor = "multi_thread")]
async fn a_container_that_was_left_is_stopped_by_whoever_tidies_up_and_removed_later() {
    let (engine, folder) = (Dockerd::start().unwrap(), tempfile::tempdir().unwrap());
    let config = config(&engine, folder.path());
    let backend = backend(config.clone());
    run(&backend, "true").await;
    let all = sandboxes::list(&config.engine, &config.sandboxes)
        .await
        .unwrap();
    assert_eq!(all.len(), 1);
    assert_eq!(
        (all[0].task.as_str(), all[0].running, all[0].leases.len()),
        ("default", true, 1)
    );
    backend.close().await.unwrap();

    let now = hermes_core::Clock::now(&SystemClock);
    let clock = ManualClock::new(now);
    let reclaim = async || {
        sandboxes::reclaim(&config.engine, &config.sandboxes, "main", &clock)
            .await
            .unwrap()
    };
    assert_eq!(reclaim().await, []);
    clock.advance(Duration::from_secs(360));
    assert_eq!(reclaim().await, [Reclaimed::Stopped(all[0].name.clone())]);
    assert_eq!(reclaim().await, []);
    clock.advance(Duration::from_secs(300));
    assert_eq!(
        sandboxes::reclaim(&config.engine, &config.sandboxes, "other", &clock)
            .await
            .unwrap(),
        []
    );
    assert_eq!(reclaim().await, [Reclaimed::Removed(all[0].name.clone())]);
    assert!(
        !sandboxes::remove(&config.engine, &config.sandboxes, &all[0].name)
            .await
            .unwrap()
    );
    assert!(Leases::new(&config.sandboxes).all().unwrap().is_empty());
}

// EX-22: also when nobody of ours is left to look after it.
#[tokio::test(flavor = "multi_thread")]
async fn a_container_that_was_left_running_stops_by_itself_when_its_lifetime_is_over() {
    let (engine, folder) = (Dockerd::start().unwrap(), tempfile::tempdir().unwrap());
    let config = DockerConfig {
        lifetime: Duration::from_secs(4),
        ..config(&engine, folder.path())
    };
    let first = backend(config.clone());
    // Longer than it would be kept if nobody were here.
    assert_eq!(run(&first, "sleep 9; echo there").await.0, "there\n");
    let id = inspect(&engine)["Id"].clone();
    first.close().await.unwrap();
    assert_eq!(inspect(&engine)["State"]["Running"], true);
    let engine = Arc::new(engine);
    let watched = Arc::clone(&engine);
    wait_for("the end of its lifetime", move || {
        inspect(&watched)["State"]["Running"] == false
    })
    .await;
    assert_eq!(inspect(&engine)["State"]["ExitCode"], 0);
    let next = backend(config);
    assert_eq!(run(&next, "echo again").await.0, "again\n");
    assert_eq!(inspect(&engine)["Id"], id);
}

// EX-31: who leaves does not take away what another process still uses.
#[tokio::test(flavor = "multi_thread")]
async fn a_container_that_another_process_uses_stays_when_we_leave() {
    let (engine, folder) = (Dockerd::start().unwrap(), tempfile::tempdir().unwrap());
    let config = DockerConfig {
        across_processes: false,
        ..config(&engine, folder.path())
    };
    let ours = backend(config.clone());
    run(&ours, "true").await;
    let leases = Leases::new(&folder.path().join("sandboxes"));
    let mine = leases
        .all()
        .unwrap()
        .into_values()
        .flatten()
        .next()
        .unwrap();
    let mut other = Command::new("sleep").arg("600").spawn().unwrap();
    let owner = hermes_exec::Owner {
        pid: other.id(),
        started: 0,
    };
    leases.write(&hermes_exec::Lease { owner, ..mine }).unwrap();
    ours.close().await.unwrap();
    let left = engine.docker(&["ps", "-aq", "--filter", "label=hermes-agent=1"]);
    other.kill().unwrap();
    other.wait().unwrap();
    assert_eq!(left.unwrap().lines().count(), 1);
    let alone = backend(config);
    run(&alone, "true").await;
    let before = engine.docker(&["ps", "-aq", "--filter", "label=hermes-agent=1"]);
    alone.close().await.unwrap();
    let after = engine.docker(&["ps", "-aq", "--filter", "label=hermes-agent=1"]);
    assert_eq!(
        before.unwrap().lines().count(),
        after.unwrap().lines().count() + 1
    );
}
