//! What is left when a program that runs commands is killed.

use std::time::{Duration, Instant};

use hermes_exec::Killed;
use hermes_store::{ProcessIdentity, ProcessRow};
use hermes_testkit::process::{Process, descendants, find_by_env_marker};
use hermes_testkit::{Running, Signal, TempHome, eventually};

use super::away::{FIVE_SECONDS, ROUNDS};
use super::local::PATIENCE;
use super::processes::{hear, listening, processes, store};

fn runner(home: &TempHome, mode: &str, command: &str) -> Running {
    home.command(env!("CARGO_BIN_EXE_exec-runner"))
        .arg(mode)
        .arg(home.path())
        .arg(env!("CARGO_BIN_EXE_hermes-warden"))
        .arg(command)
        .spawn()
        .unwrap()
}

/// The first warden and those of single runs.
fn wardens_of(runner: &Running) -> Vec<Process> {
    let all = descendants(runner.pid()).into_iter();
    let wardens: Vec<Process> = all
        .filter(|process| {
            std::fs::read(format!("/proc/{}/cmdline", process.pid))
                .is_ok_and(|line| String::from_utf8_lossy(&line).contains("hermes-warden"))
        })
        .collect();
    assert!(wardens.len() >= 2, "{wardens:?}");
    wardens
}

fn marked(mark: &str) -> Vec<Process> {
    find_by_env_marker("MARK", mark)
}

/// What a process in the background has said so far, by its log.
fn said(home: &TempHome, id: &str) -> String {
    let log = home.path().join("logs").join(format!("{id}.log"));
    std::fs::read_to_string(log).unwrap_or_default()
}

/// A tree that does everything to get away.
fn stubborn(mark: &str) -> String {
    format!(
        "export MARK={mark}; (trap '' TERM HUP; setsid sleep 999) & (setsid sh -c 'sleep 998 & sleep 997' &); \
         (trap '' TERM; while :; do sleep 1; done) & echo begun; wait"
    )
}

/// On a machine that is busy with something else only the quickest round says anything.
fn within_five_seconds(round: impl Fn(&str) -> Duration) {
    let mut took = Vec::new();
    for number in 0..ROUNDS {
        took.push(round(&own(&format!("crash{number}"))));
        if took.iter().any(|time| *time < FIVE_SECONDS) {
            return;
        }
    }
    panic!("{took:?}");
}

/// A mark that nobody else on this machine has.
fn own(name: &str) -> String {
    format!("{name}-{}", std::process::id())
}

/// How long it takes until nothing is left.
fn time_to_silence(mark: &str, wardens: &[Process]) -> Duration {
    let killed = Instant::now();
    eventually(PATIENCE, "nothing is left", || {
        let gone = wardens.iter().all(|warden| !warden.alive());
        (gone && marked(mark).is_empty()).then_some(())
    })
    .unwrap();
    killed.elapsed()
}

// EX-5
#[test]
fn a_killed_program_leaves_nothing_of_a_command() {
    within_five_seconds(|mark| {
        let home = TempHome::new().unwrap();
        let runner = runner(&home, "foreground", &stubborn(mark));
        let begun = runner.next_line(PATIENCE).unwrap();
        assert_eq!(begun.as_deref(), Some("begun"));
        // The shell speaks before its children have become what they are.
        eventually(PATIENCE, "the tree stands", || {
            (!marked(mark).is_empty()).then_some(())
        })
        .unwrap();
        let wardens = wardens_of(&runner);
        runner.signal(Signal::SIGKILL).unwrap();
        time_to_silence(mark, &wardens)
    });
}

// EX-5
#[test]
fn a_program_killed_together_with_its_first_warden_leaves_nothing_either() {
    within_five_seconds(|mark| {
        let home = TempHome::new().unwrap();
        let runner = runner(&home, "foreground", &stubborn(mark));
        let begun = runner.next_line(PATIENCE).unwrap();
        assert_eq!(begun.as_deref(), Some("begun"));
        eventually(PATIENCE, "the tree stands", || {
            (marked(mark).len() >= 5).then_some(())
        })
        .unwrap();
        let mut wardens = wardens_of(&runner);
        wardens.sort_by_key(|warden| warden.start_time);
        let first = nix::unistd::Pid::from_raw(wardens[0].pid);
        runner.signal(Signal::SIGSTOP).unwrap();
        nix::sys::signal::kill(first, Signal::SIGKILL).unwrap();
        runner.signal(Signal::SIGKILL).unwrap();
        time_to_silence(mark, &[])
    });
}

// EX-18
#[tokio::test]
async fn what_ended_with_a_killed_program_is_told_once() {
    let home = TempHome::new().unwrap();
    let mark = own("crash-background");
    let runner = runner(&home, "background", &stubborn(&mark));
    let id = runner.next_line(PATIENCE).unwrap().unwrap();
    eventually(PATIENCE, "it runs and has said so", || {
        (said(&home, &id) == "begun\n").then_some(())
    })
    .unwrap();
    let after = processes(&home.path());
    let old = home.path().join("logs/proc_000000000000.log");
    let long_ago = std::time::UNIX_EPOCH + Duration::from_secs(1_000_000);
    let file = std::fs::File::create(&old).unwrap();
    file.set_modified(long_ago).unwrap();
    // Its program is alive, so it is none of our business.
    assert_eq!(
        after.recover().await.unwrap(),
        hermes_exec::Recovered::default()
    );
    assert!(!old.exists(), "the log of a process nobody knows is kept");
    assert!(home.path().join("logs").join(format!("{id}.log")).exists());
    runner.signal(Signal::SIGKILL).unwrap();
    time_to_silence(&mark, &[]);
    let (one, two) = (processes(&home.path()), processes(&home.path()));
    let (first, second) = tokio::join!(one.recover(), two.recover());
    let mut ended = first.unwrap().ended;
    ended.extend(second.unwrap().ended);
    assert_eq!(ended, std::slice::from_ref(&id));
    let events = one.events("one").await.unwrap();
    assert_eq!(events.len(), 1);
    let body: serde_json::Value = serde_json::from_str(&events[0].body).unwrap();
    assert_eq!(
        (
            &body["session_id"],
            &body["completion_reason"],
            &body["output"]
        ),
        (&id.into(), &"lost".into(), &"begun\n".into())
    );
    let store = listening(&home.path()).await;
    assert_eq!(hear(&store).await, events);
    assert!(hear(&store).await.is_empty());
    assert!(one.recover().await.unwrap().ended.is_empty());
    assert!(two.events("one").await.unwrap().is_empty());
}

// EX-18
#[tokio::test]
async fn what_survived_is_listed_and_can_be_ended() {
    let home = TempHome::new().unwrap();
    let mark = own("crash-survivor");
    let runner = runner(&home, "background", &stubborn(&mark));
    let id = runner.next_line(PATIENCE).unwrap().unwrap();
    eventually(PATIENCE, "all of it runs and what it said is kept", || {
        (marked(&mark).len() >= 5 && said(&home, &id) == "begun\n").then_some(())
    })
    .unwrap();
    // All at once, nobody able to do anything about it.
    let wardens = wardens_of(&runner);
    let tell = |process: &Process, signal| {
        nix::sys::signal::kill(nix::unistd::Pid::from_raw(process.pid), signal).unwrap();
    };
    runner.signal(Signal::SIGSTOP).unwrap();
    for warden in &wardens {
        tell(warden, Signal::SIGSTOP);
    }
    for warden in &wardens {
        tell(warden, Signal::SIGKILL);
    }
    runner.signal(Signal::SIGKILL).unwrap();
    let after = processes(&home.path());
    eventually(PATIENCE, "the program is gone", || {
        let gone = wardens.iter().all(|warden| !warden.alive());
        (gone && Process::of(runner.pid()).is_none()).then_some(())
    })
    .unwrap();
    let recovered = after.recover().await.unwrap();
    assert_eq!(recovered.detached, std::slice::from_ref(&id));
    let listed = after.list().await.unwrap();
    assert!(
        listed[0].detached && listed[0].output == "begun\n",
        "{listed:?}"
    );
    let killed = after.kill(&id, 100).await.unwrap();
    assert!(matches!(killed, Killed::Killed(_)), "{killed:?}");
    time_to_silence(&mark, &[]);
    assert!(after.events("one").await.unwrap().is_empty());
}

// EX-18
#[tokio::test]
async fn a_process_id_that_is_used_again_is_left_alone() {
    let home = TempHome::new().unwrap();
    let bystander = home.command("sleep").arg("999").spawn().unwrap();
    let process = Process::of(bystander.pid()).unwrap();
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let rows = store(&home.path());
    for (id, started, boot) in [
        ("proc_00000000000a", process.start_time - 1, boot.trim()),
        ("proc_00000000000b", process.start_time, "another boot"),
    ] {
        let row = ProcessRow {
            id: id.to_owned(),
            session: "one".to_owned(),
            command: "sleep 999".to_owned(),
            directory: "/".to_owned(),
            place: "host".to_owned(),
            owner: format!("{} 1 {boot}", bystander.pid()),
            process: None,
            log: String::new(),
            notify: true,
            started_at: 1.0,
        };
        rows.add_process(row).await.unwrap();
        let identity = ProcessIdentity {
            pid: bystander.pid(),
            started,
            boot: boot.to_owned(),
        };
        rows.identify_process(id, identity).await.unwrap();
    }
    let after = processes(&home.path());
    let recovered = after.recover().await.unwrap();
    assert_eq!(recovered.ended, ["proc_00000000000a", "proc_00000000000b"]);
    assert_eq!(after.events("one").await.unwrap().len(), 2);
    assert!(process.alive());
    bystander.kill().unwrap();
}
