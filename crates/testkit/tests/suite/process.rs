//! Process-tree checks.

use std::time::Duration;

use hermes_testkit::process::{
    Process, alive, assert_no_descendants_within, descendants, find_by_env_marker,
};
use hermes_testkit::{TempHome, eventually};

const LIMIT: Duration = Duration::from_secs(10);

#[test]
fn sees_children_and_grandchildren_and_their_end() {
    let home = TempHome::new().unwrap();
    let script = "sh -c 'sleep 100; true' & sleep 100; true";
    let shell = home
        .command("/bin/sh")
        .args(["-c", script])
        .spawn()
        .unwrap();
    let pid = shell.pid();
    // The inner shell, its sleep, and the outer sleep.
    let tree = eventually(LIMIT, "three descendants", || {
        let tree = descendants(pid);
        (tree.len() == 3).then_some(tree)
    })
    .unwrap();
    assert!(alive(pid));
    assert!(tree.iter().all(|process| process.alive()));
    shell.kill().unwrap();
    assert_no_descendants_within(pid, LIMIT);
    assert!(!alive(pid));
    eventually(LIMIT, "the tree is gone", || {
        tree.iter().all(|process| !process.alive()).then_some(())
    })
    .unwrap();
}

#[test]
fn finds_an_orphan_that_left_the_tree() {
    let home = TempHome::new().unwrap();
    let marker = home.path().display().to_string();
    let script = "setsid sleep 100 > /dev/null 2>&1 &";
    let command = home
        .command("/bin/sh")
        .args(["-c", script])
        .env("ORPHAN", &marker);
    command.run().unwrap().ok();
    let orphan = eventually(LIMIT, "one orphan", || {
        find_by_env_marker("ORPHAN", &marker).first().copied()
    })
    .unwrap();
    assert!(orphan.alive());
    let killed = home
        .command("/bin/kill")
        .args(["-9", &orphan.pid.to_string()]);
    killed.run().unwrap().ok();
    eventually(LIMIT, "the orphan is gone", || {
        (!orphan.alive()).then_some(())
    })
    .unwrap();
}

#[test]
fn a_reused_id_is_another_process() {
    let own = i32::try_from(std::process::id()).unwrap();
    let process = Process::of(own).unwrap();
    let earlier = Process {
        start_time: process.start_time - 1,
        ..process
    };
    assert!(process.alive());
    assert!(!earlier.alive());
}
