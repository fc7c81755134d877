//! Programs that end well, and those that do not.

use std::path::Path;
use std::time::Duration;

use hermes_program::{Ended, Limits, ProgramError, run};
use hermes_testkit::process::Process;
use hermes_testkit::{SYSTEM_PATH, eventually};
use tokio::process::Command;

const LIMITS: Limits = Limits {
    time: Duration::from_secs(30),
    printed: 1_000,
    complaint: 100,
};

fn shell(line: &str, directory: &Path) -> Command {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", line]).current_dir(directory);
    command.env_clear().env("PATH", SYSTEM_PATH);
    command
}

async fn ran(line: &str, input: &[u8], limits: Limits) -> Result<Ended, ProgramError> {
    let folder = tempfile::tempdir().unwrap();
    run(shell(line, folder.path()), input, limits).await
}

/// Waits until a process that wrote its number down is gone.
fn is_ended(file: &Path) {
    let pid = std::fs::read_to_string(file).unwrap();
    let pid = pid.trim().parse().unwrap();
    let gone = || Process::of(pid).is_none().then_some(());
    eventually(Duration::from_secs(20), "nothing is left of it", gone).unwrap();
}

#[tokio::test]
async fn what_is_printed_complained_and_answered_comes_back() {
    let ended = ran("cat; echo bad >&2; exit 3", b"fed", LIMITS)
        .await
        .unwrap();
    assert_eq!(ended.status.code(), Some(3));
    assert_eq!(ended.printed, b"fed");
    assert_eq!(ended.complaints(), ["bad"]);
    let deaf = ran("exec true", &[b'x'; 1_000_000], LIMITS).await.unwrap();
    assert!(deaf.status.success(), "it need not hear everything");
}

#[tokio::test]
async fn a_flood_of_complaints_holds_nothing_up() {
    let line = "head -c 1000000 /dev/zero | tr '\\0' x >&2; echo done";
    let ended = ran(line, b"", LIMITS).await.unwrap();
    assert_eq!(ended.printed, b"done\n");
    assert_eq!(ended.complaint.len(), 100);
}

#[tokio::test]
async fn too_much_ends_it_with_all_it_started() {
    let folder = tempfile::tempdir().unwrap();
    let line = "sleep 600 & echo $! > started; yes";
    let refused = run(shell(line, folder.path()), b"", LIMITS).await;
    assert!(
        matches!(refused, Err(ProgramError::TooMuch(1_000))),
        "{refused:?}"
    );
    is_ended(&folder.path().join("started"));
}

#[tokio::test]
async fn its_time_is_over_also_when_only_what_it_started_goes_on() {
    let limits = Limits {
        time: Duration::from_secs(3),
        ..LIMITS
    };
    for line in [
        "sleep 600 & echo $! > started; wait",
        "sleep 600 & echo $! > started",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let refused = run(shell(line, folder.path()), b"", limits).await;
        assert!(
            matches!(refused, Err(ProgramError::TooSlow(_))),
            "{refused:?}"
        );
        is_ended(&folder.path().join("started"));
    }
}

#[tokio::test]
async fn it_ends_when_nobody_waits_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let started = folder.path().join("started");
    let line = "sleep 600 & echo $! > number; mv number started; wait";
    let running = run(shell(line, folder.path()), b"", LIMITS);
    let seen = async {
        while !started.exists() {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        ended = running => panic!("{ended:?}"),
        () = seen => {}
    }
    is_ended(&started);
}

#[tokio::test]
async fn a_program_that_is_not_there_is_named_as_such() {
    let missing = run(Command::new("/nowhere/program"), b"", LIMITS).await;
    assert!(
        matches!(missing, Err(ProgramError::NotStarted(_))),
        "{missing:?}"
    );
}
