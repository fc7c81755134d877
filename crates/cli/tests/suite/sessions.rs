//! `hermes sessions …` as a user runs it.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use insta::assert_snapshot;

use super::program::Program;

// CL-5, CL-24
#[test]
fn a_home_of_the_reference_lists_searches_and_shows() {
    let program = Program::after_the_reference();
    assert_snapshot!(program.stdout(&["sessions", "list"]));
    let hits = program
        .run(&["sessions", "search", "天気", "--json"])
        .ok()
        .json();
    let hit = &hits.as_array().unwrap()[0];
    let keys: Vec<_> = hit
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(
        keys,
        [
            "session_id",
            "message_id",
            "role",
            "snippet",
            "score",
            "title",
            "started_at"
        ]
    );
    assert_eq!(hit["snippet"], "今日の>>>天気<<<はどうですか");
    assert_snapshot!(program.stdout(&["sessions", "show", "Refactor"]));
    let state = std::fs::read(super::program::reference("state/v22.db")).unwrap();
    assert_eq!(
        std::fs::read(program.home.path().join("state.db")).unwrap(),
        state,
        "their file is as it was"
    );
}

// CL-24
#[test]
fn list_narrows_by_source_and_limit() {
    let program = Program::after_the_reference();
    let ids = |arguments: &[&str]| -> Vec<String> {
        let rows = program
            .run(&[&["sessions", "list", "--json"], arguments].concat())
            .ok()
            .json();
        rows.as_array()
            .unwrap()
            .iter()
            .map(|row| row["session_id"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(
        ids(&[]).len(),
        10,
        "tool sessions, delegates and earlier parts are hidden"
    );
    assert_eq!(
        ids(&["--source", "telegram"]),
        ["20250616_074640_7e1e6a71", "20250616_050000_7e1e6a70"]
    );
    assert_eq!(ids(&["--limit", "1"]), ["20250616_164000_100006"]);
}

// CL-24
#[test]
fn rename_delete_archive_and_prune() {
    let program = Program::after_the_reference();
    program
        .run(&["sessions", "rename", "20250615_150640", "Holiday", "plans"])
        .ok();
    let shown = program
        .run(&["sessions", "show", "Holiday plans", "--json"])
        .ok()
        .json();
    assert_eq!(shown["session_id"], "20250615_150640_a1b2c3");
    let output = program
        .run(&["sessions", "delete", "Holiday plans"])
        .code(2);
    assert!(
        output.stderr.contains("--yes"),
        "nobody can be asked: {}",
        output.stderr
    );
    program
        .run(&["sessions", "delete", "Holiday plans", "--yes"])
        .ok();
    program.run(&["sessions", "show", "Holiday plans"]).code(1);
    program.run(&["sessions", "prune", "--yes"]).code(2);
    let rehearsal = program
        .run(&[
            "sessions",
            "prune",
            "--older-than",
            "2025-06-16T00:00:00Z",
            "--dry-run",
        ])
        .ok();
    assert!(rehearsal.stdout.contains("nothing was changed"));
    let total = |program: &Program| {
        program.run(&["sessions", "stats", "--json"]).ok().json()["sessions"]
            .as_u64()
            .unwrap()
    };
    let before = total(&program);
    program
        .run(&["sessions", "prune", "--source", "cron", "-y"])
        .ok();
    assert_eq!(total(&program), before - 1);
    program
        .run(&["sessions", "archive", "--source", "discord", "-y"])
        .ok();
    assert_eq!(
        program
            .run(&["sessions", "list", "--source", "discord", "--json"])
            .ok()
            .json(),
        serde_json::json!([])
    );
    assert_eq!(total(&program), before - 1, "archived is not deleted");
}

// CL-24
#[test]
fn a_document_proves_itself_with_an_independent_tool() {
    let program = Program::after_the_reference();
    program
        .run(&[
            "sessions", "export", "out", "--format", "md", "--source", "cli",
        ])
        .ok();
    let folder = program.home.workspace().join("out");
    let mut verified = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "md") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let start = text
            .rfind('`')
            .and_then(|end| text[..end].rfind('`'))
            .unwrap()
            + 1;
        let hash = &text[start..start + 64];
        assert_eq!(
            sha256sum(text.replace(hash, "pending").as_bytes()),
            hash,
            "{}",
            path.display()
        );
        verified += 1;
    }
    assert!(verified > 3, "{verified} documents");
    let manifest = std::fs::read_to_string(folder.join("manifest.jsonl")).unwrap();
    assert_eq!(manifest.lines().count(), verified);
    program
        .run(&[
            "sessions", "export", "out", "--format", "md", "--source", "cli",
        ])
        .code(1);
    program
        .run(&["sessions", "export", "--format", "md"])
        .code(2);
}

fn sha256sum(bytes: &[u8]) -> String {
    let mut tool = Command::new("sha256sum")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    tool.stdin.take().unwrap().write_all(bytes).unwrap();
    let output = tool.wait_with_output().unwrap();
    String::from_utf8(output.stdout).unwrap()[..64].to_owned()
}

// LN-22, CL-24
#[test]
fn export_wipe_import_brings_everything_back() {
    let program = Program::after_the_reference();
    program
        .run(&["sessions", "export", "all.jsonl", "--all", "--with-media"])
        .ok();
    let wiped = Program::new();
    let file = program.home.workspace().join("all.jsonl");
    let mode = std::fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "conversations are private");
    wiped
        .run(&["sessions", "import", file.to_str().unwrap()])
        .ok();
    wiped
        .run(&["sessions", "export", "again.jsonl", "--all", "--with-media"])
        .ok();
    let text = |path: &std::path::Path| std::fs::read_to_string(path).unwrap();
    assert_eq!(
        without_ids(&text(&wiped.home.workspace().join("again.jsonl"))),
        without_ids(&text(&file))
    );
    let again = wiped
        .run(&["sessions", "import", file.to_str().unwrap(), "--json"])
        .ok()
        .json();
    assert_eq!(again["sessions"], 0, "a second import adds nothing");
}

/// Message ids are given anew on import; everything else must be the same.
fn without_ids(jsonl: &str) -> Vec<serde_json::Value> {
    let mut sessions: Vec<serde_json::Value> = jsonl
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    for session in &mut sessions {
        for message in session["messages"].as_array_mut().unwrap() {
            message.as_object_mut().unwrap().remove("id");
        }
    }
    sessions
}

#[test]
fn a_device_is_never_replaced() {
    let program = Program::after_the_reference();
    let pipe = program.home.workspace().join("pipe");
    program.shell(&format!("mkfifo {}", pipe.display())).ok();
    program
        .run(&["sessions", "export", "pipe", "--force"])
        .code(2);
    assert!(!std::fs::metadata(pipe).unwrap().is_file());
}

#[test]
fn nothing_is_uploaded() {
    let program = Program::after_the_reference();
    for flags in [
        &["--upload"][..],
        &["--public"],
        &["--format", "trace", "--no-redact"],
    ] {
        let output = program
            .run(&[&["sessions", "export"], flags].concat())
            .code(2);
        assert!(output.stderr.contains("hint: "), "{}", output.stderr);
        assert_eq!(output.stdout, "");
    }
}

#[test]
fn known_secrets_do_not_reach_the_database() {
    let program = Program::new();
    let secret = "canary-7f3e9b2d41c85a06";
    program
        .home
        .write_env(&format!("OPENAI_API_KEY={secret}\n"))
        .unwrap();
    let line = serde_json::json!({
        "id": "s", "source": "cli", "started_at": 1.0, "title": format!("about {secret}"),
        "messages": [{"role": "user", "content": format!("my key is {secret}"), "timestamp": 1.0}],
    });
    program
        .home
        .write_work("in.jsonl", format!("{line}\n"))
        .unwrap();
    program.run(&["sessions", "import", "in.jsonl"]).ok();
    let output = program.run(&["sessions", "show", "s"]).ok();
    assert!(
        output
            .stdout
            .contains("my key is [redacted:OPENAI_API_KEY]"),
        "{}",
        output.stdout
    );
    for name in ["hermes.db", "hermes.db-wal"] {
        let bytes = std::fs::read(program.home.path().join(name)).unwrap_or_default();
        assert!(
            !bytes
                .windows(secret.len())
                .any(|window| window == secret.as_bytes()),
            "{name}"
        );
    }
}

// LN-22
#[test]
fn what_is_deleted_after_an_export_can_be_brought_back() {
    let program = Program::after_the_reference();
    let before = program.run(&["sessions", "stats", "--json"]).ok().json();
    for flags in [&["--redact"][..], &["--only", "user-prompts"]] {
        let refused = [
            &[
                "sessions",
                "export",
                "all.jsonl",
                "--delete-after-verified",
                "-y",
            ],
            flags,
        ]
        .concat();
        program.run(&refused).code(2);
    }
    program
        .run(&[
            "sessions",
            "export",
            "all.jsonl",
            "--delete-after-verified",
            "-y",
        ])
        .ok();
    assert_eq!(
        program.run(&["sessions", "list", "--json"]).ok().json(),
        serde_json::json!([])
    );
    program.run(&["sessions", "optimize"]).ok();
    program.run(&["sessions", "import", "all.jsonl"]).ok();
    let after = program.run(&["sessions", "stats", "--json"]).ok().json();
    assert_eq!(
        (&after["sessions"], &after["messages"]),
        (&before["sessions"], &before["messages"])
    );
    assert_eq!(
        program
            .run(&["sessions", "search", "stripes", "--json"])
            .ok()
            .json()
            .as_array()
            .unwrap()
            .len(),
        4
    );
}

#[test]
fn stored_text_cannot_steer_the_terminal() {
    let program = Program::new();
    let evil = "\u{1b}]0;owned\u{7}";
    let line = serde_json::json!({
        "id": "s", "source": format!("cli{evil}"), "model": evil, "title": format!("t{evil}"), "started_at": 1.0,
        "messages": [{"role": "tool", "tool_name": evil, "content": format!("text {evil}"), "timestamp": 1.0}],
    });
    program
        .home
        .write_work("in.jsonl", format!("{line}\n"))
        .unwrap();
    program.run(&["sessions", "import", "in.jsonl"]).ok();
    for arguments in [
        &["sessions", "list"][..],
        &["sessions", "show", "s"],
        &["sessions", "search", "text"],
        &["sessions", "stats"],
        &["sessions", "show", evil],
    ] {
        let output = program.run(arguments);
        assert!(
            !output.stdout.contains('\u{1b}') && !output.stderr.contains('\u{1b}'),
            "{arguments:?}"
        );
    }
}

#[test]
fn text_cannot_be_turned_around_or_hidden() {
    let program = Program::new();
    let unseen = "\u{202e}\u{202a}\u{2066}\u{2069}\u{200b}\u{200e}\u{200f}\u{61c}\u{feff}";
    let kept = "👩\u{200d}💻 می\u{200c}خواهم";
    let line = serde_json::json!({
        "id": "s", "source": format!("cli{unseen}"), "title": format!("ti{unseen}tle {kept}"), "started_at": 1.0,
        "messages": [{"role": "user", "content": format!("te{unseen}xt {kept}"), "timestamp": 1.0}],
    });
    program
        .home
        .write_work("in.jsonl", format!("{line}\n"))
        .unwrap();
    program.run(&["sessions", "import", "in.jsonl"]).ok();
    for arguments in [
        &["sessions", "list"][..],
        &["sessions", "show", "s"],
        &["sessions", "search", "خواهم"],
        &["sessions", "stats"],
        &["sessions", "list", "--source", unseen],
        &["sessions", "archive", "--title", "ti", "--dry-run"],
        &["sessions", "show", unseen],
        &["insights", "--days", "100000"],
    ] {
        let output = program.run(arguments);
        let seen = output.stdout + &output.stderr;
        assert!(
            !seen.contains(|c| unseen.contains(c)),
            "{arguments:?}: {seen}"
        );
    }
    // Joiners are taken out of titles when they are stored, and only there.
    assert!(program.stdout(&["sessions", "list"]).contains("title 👩💻"));
    assert!(
        program
            .stdout(&["sessions", "show", "s"])
            .contains(&format!("text {kept}"))
    );
    let stored = program
        .run(&["sessions", "show", "s", "--json"])
        .ok()
        .json();
    assert_eq!(
        stored["messages"][0]["content"],
        line["messages"][0]["content"]
    );
}

#[test]
fn an_empty_list_says_what_there_is() {
    let program = Program::new();
    let list = |arguments: &[&str]| program.stdout(&[&["sessions", "list"], arguments].concat());
    assert_eq!(list(&["--source", "nope"]), "No conversations yet.\n");
    let line = r#"{"id":"s","source":"telegram","started_at":1.0,"messages":[]}"#;
    program.home.write_work("in.jsonl", line).unwrap();
    program.run(&["sessions", "import", "in.jsonl"]).ok();
    assert_eq!(
        list(&["--source", "nope"]),
        "No conversation from nope. There are some from telegram.\n"
    );
    assert_eq!(
        list(&["--workspace", "/x"]),
        "No conversation in /x. There are some from telegram.\n"
    );
    assert_eq!(list(&["--source", "nope", "--json"]), "[]\n");
}

#[test]
fn odd_files_are_imported_or_named() {
    let program = Program::new();
    let import = |text: &str| {
        program.home.write_work("in.jsonl", text).unwrap();
        program.run(&["sessions", "import", "in.jsonl"])
    };
    // Text that Python cut in the middle of a character, and two sessions that are each other's parents.
    import(
        r#"{"id":"a","title":"cut \ud83d","started_at":1.0,"end_reason":"compression","parent_session_id":"b","messages":[]}
{"id":"b","started_at":1.0,"end_reason":"compression","parent_session_id":"a","messages":[]}"#,
    )
    .ok();
    let listed = program.run(&["sessions", "list", "--json"]).ok().json();
    assert_eq!(listed[0]["session_id"], "a", "{listed}");
    assert_eq!(listed[0]["title"], "cut \u{fffd}");
    let refused = import(r#"{"id":"c","started_at":-5,"messages":[]}"#).code(1);
    assert!(
        refused
            .stderr
            .contains("in.jsonl: line 1: `started_at` is -5"),
        "{}",
        refused.stderr
    );
    let directory = program.run(&["sessions", "import", "."]).code(2);
    assert!(
        directory
            .stderr
            .starts_with("error: . is a directory\nhint: name one file"),
        "{}",
        directory.stderr
    );
}

#[test]
fn a_sound_database_is_repaired_without_a_trace() {
    let program = Program::after_the_reference();
    program.run(&["sessions", "list"]).ok();
    let names = || -> Vec<_> { program.home.tree().unwrap().into_keys().collect() };
    let before = names();
    assert_eq!(
        program.stdout(&["sessions", "repair"]),
        "the database is sound\n"
    );
    assert_eq!(names(), before);
}
