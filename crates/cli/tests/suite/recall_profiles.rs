//! Conversations of other profiles: found and read without a trace.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use hermes_testkit::eventually;
use hermes_testkit::model_server::ModelServer;
use serde_json::{Value as Json, json};

use super::program::Program;
use super::recall_lab::{LIMIT, asking, each, past, seed, told};

/// Everything below a directory with its size and its time, and the directory itself.
fn listing(top: &Path) -> BTreeMap<PathBuf, (u64, SystemTime)> {
    let mut found = BTreeMap::new();
    let mut open = vec![top.to_owned()];
    while let Some(path) = open.pop() {
        let about = fs::symlink_metadata(&path).unwrap();
        if about.is_dir() {
            open.extend(
                fs::read_dir(&path)
                    .unwrap()
                    .map(|entry| entry.unwrap().path()),
            );
        }
        found.insert(path, (about.len(), about.modified().unwrap()));
    }
    found
}

fn work(program: &Program) -> PathBuf {
    program.home.path().join("profiles/work")
}

/// A home with a second profile that has one conversation.
fn with_profile(calls: &[Json]) -> (ModelServer, Program) {
    let (server, program) = asking(calls, "");
    program
        .run(&["profile", "create", "work", "--no-alias"])
        .ok();
    let sessions = [past(
        "20260105_090000_aaaaaa",
        "cli",
        4,
        &["the kowari file", "found it"],
    )];
    seed(&program, "work", &sessions);
    seed(
        &program,
        "default",
        &[past("mine", "cli", 4, &["my own quoll", "ok"])],
    );
    (server, program)
}

fn looks() -> Vec<Json> {
    vec![
        json!({"query": "kowari", "profile": "work"}),
        json!({"session_id": "work/20260105_090000_aaaaaa"}),
        json!({"session_id": "20260105_090000_aaaaaa"}),
        json!({"session_id": "20260105_090000_aaaaaa", "around_message_id": 1, "profile": "work"}),
        json!({"profile": "work"}),
        json!({"query": "quoll", "profile": "default"}),
    ]
}

#[track_caller]
fn all_found(told: &[Json]) {
    assert_eq!(each(&told[0], "session_id"), ["20260105_090000_aaaaaa"]);
    for (answer, mode) in told[..5]
        .iter()
        .zip(["discover", "read", "read", "scroll", "browse"])
    {
        assert_eq!(
            (&answer["mode"], &answer["profile"]),
            (&json!(mode), &json!("work")),
            "{answer}"
        );
    }
    assert_eq!(told[2]["messages"][0]["content"], "the kowari file");
    assert_eq!(each(&told[5], "session_id"), ["mine"]);
    assert_eq!(
        told[5].get("profile"),
        None,
        "the profile in use is nobody else's"
    );
}

// LN-40
#[test]
fn another_profile_is_searched_and_nothing_there_is_made_or_touched() {
    let (server, program) = with_profile(&looks());
    let before = listing(&work(&program));
    assert!(
        !before
            .keys()
            .any(|path| path.to_string_lossy().ends_with("-wal"))
    );
    let told = told(&server, &program);
    assert!(
        listing(&work(&program)) == before,
        "{:?}",
        listing(&work(&program)).keys()
    );
    all_found(&told);
}

// LN-40
#[test]
fn the_same_while_a_program_has_it_open() {
    let (server, program) = with_profile(&looks());
    // Another process that has written something and keeps the database open. It says when that is on disk.
    let line = "{ echo \"UPDATE sessions SET title = 'from the log';\"; echo .shell touch committed; sleep 600; } \
         | sqlite3 $HERMES_HOME/profiles/work/hermes.db";
    let shell = program.home.command("/bin/sh").args(["-c", line]);
    let _open = shell.timeout(LIMIT * 10).spawn().unwrap();
    let committed = program.home.workspace().join("committed");
    let done = || committed.exists().then_some(());
    eventually(LIMIT, "something in the log", done).unwrap();
    let log = fs::metadata(work(&program).join("hermes.db-wal")).unwrap();
    assert!(log.len() > 0);
    let before = listing(&work(&program));
    let told = told(&server, &program);
    assert!(
        listing(&work(&program)) == before,
        "{:?}",
        listing(&work(&program))
    );
    all_found(&told);
    assert_eq!(told[1]["session_meta"]["title"], "from the log");
}

// LN-40
#[test]
fn what_cannot_be_read_is_named_and_left_as_it_is() {
    let search = |profile: &str| json!({"query": "kowari", "profile": profile});
    let calls = [
        search("work"),
        search("empty"),
        search("nobody"),
        json!({"session_id": "x", "profile": "work"}),
    ];
    let (server, program) = with_profile(&calls);
    program
        .run(&["profile", "create", "empty", "--no-alias"])
        .ok();
    program
        .shell("sqlite3 $HERMES_HOME/profiles/work/hermes.db 'PRAGMA user_version = 1'")
        .ok();
    let profiles = program.home.path().join("profiles");
    let before = listing(&profiles);
    let told = told(&server, &program);
    assert!(
        listing(&profiles) == before,
        "{:?}",
        listing(&profiles).keys()
    );
    let words: Vec<&str> = told.iter().map(|answer| answer.as_str().unwrap()).collect();
    assert!(words[0].contains("has schema 1,"), "{words:?}");
    assert!(
        words[1].contains("profile empty has no conversations yet"),
        "{words:?}"
    );
    assert!(
        words[2].contains("there is no profile nobody; there are empty, work"),
        "{words:?}"
    );
    assert!(words[3].contains("has schema 1,"), "{words:?}");
}
