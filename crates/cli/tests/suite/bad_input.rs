//! Whatever is wrong outside the program: one clear line, a hint, exit code 1 or 2, nothing changed.

use std::os::unix::fs::PermissionsExt;

use hermes_testkit::Output;

use super::program::Program;

/// One line that names the file and says what is wrong, one that says what to do, no trace of a crash.
#[track_caller]
fn check(output: &Output, mentions: &[&str]) {
    let code = output.code.unwrap_or(-1);
    assert!(code == 1 || code == 2, "exit {code}: {}", output.stderr);
    let lines: Vec<_> = output.stderr.lines().collect();
    assert!(
        lines.iter().any(|line| line.starts_with("error: ")),
        "{}",
        output.stderr
    );
    assert!(
        lines.iter().any(|line| line.starts_with("hint: ")),
        "{}",
        output.stderr
    );
    assert!(lines.len() <= 3, "{}", output.stderr);
    for word in mentions {
        assert!(
            output.stderr.contains(word),
            "no {word} in {}",
            output.stderr
        );
    }
    assert!(!output.stderr.contains("panicked"), "{}", output.stderr);
}

#[test]
fn a_damaged_database_is_named_and_can_be_repaired() {
    let program = Program::after_the_reference();
    program.run(&["sessions", "stats"]).ok();
    program.run(&["sessions", "optimize"]).ok();
    let path = program.home.path().join("hermes.db");
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[4096..middle].fill(0xa5);
    std::fs::write(&path, &bytes).unwrap();
    check(
        &program.run(&["sessions", "stats"]),
        &["hermes.db", "damaged", "repair"],
    );
    let output = program.run(&["sessions", "repair", "--json"]).ok();
    let kept = output.json()["damaged_file"]
        .as_str()
        .map(ToOwned::to_owned)
        .unwrap();
    assert!(
        std::path::Path::new(&kept).exists(),
        "the damaged file is kept"
    );
    let tree = program.home.tree().unwrap();
    let copies = tree.keys().filter(|name| name.starts_with("hermes.db."));
    assert_eq!(copies.count(), 1, "{:?}", tree.keys());
    program.run(&["sessions", "repair", "--check-only"]).ok();
    program.run(&["sessions", "list"]).ok();
}

#[test]
fn a_file_that_is_no_database_or_not_ours_is_left_alone() {
    let program = Program::new();
    let letter = "Dear database, this is only a letter.\n".repeat(200);
    program.home.write("hermes.db", &letter).unwrap();
    check(
        &program.run(&["sessions", "list"]),
        &["hermes.db", "not a database"],
    );
    assert_eq!(program.home.read("hermes.db").unwrap(), letter);
    let theirs = std::fs::read(super::program::reference("state/v22.db")).unwrap();
    program.home.write("hermes.db", &theirs).unwrap();
    check(
        &program.run(&["sessions", "list"]),
        &["hermes.db", "another program"],
    );
    assert_eq!(
        std::fs::read(program.home.path().join("hermes.db")).unwrap(),
        theirs
    );
}

#[test]
fn a_broken_state_db_does_not_hold_up_our_own_conversations() {
    let program = Program::new();
    program
        .home
        .write("state.db", "garbage ".repeat(500))
        .unwrap();
    let output = program.run(&["sessions", "list"]).ok();
    assert!(
        output.stderr.contains("warning: ") && output.stderr.contains("state.db"),
        "{}",
        output.stderr
    );
    check(&program.run(&["sessions", "import"]), &["state.db"]);
}

#[test]
fn a_full_disk_is_said_and_the_file_stays_as_it_was() {
    let program = Program::new();
    let full = program.home.workspace().join("small");
    std::fs::create_dir(&full).unwrap();
    // A file system of its own, so small that the second write does not fit.
    let line = format!(
        "mount -t tmpfs -o size=64k tmpfs {0} && export HERMES_HOME={0} && \
         printf 'display: {{skin: mono}}\\n' > {0}/config.yaml && \
         (head -c 200000 /dev/zero > {0}/filler || true) 2>/dev/null; \
         $HERMES config set display.skin ares; echo code $?; cat {0}/config.yaml; \
         $HERMES sessions list; echo code $?",
        full.display()
    );
    let shell = program
        .home
        .command("unshare")
        .args(["-rm", "/bin/sh", "-c", &line]);
    let output = shell
        .env("HERMES", env!("CARGO_BIN_EXE_hermes"))
        .run()
        .unwrap()
        .ok();
    assert_eq!(
        output.stdout, "code 1\ndisplay: {skin: mono}\ncode 1\n",
        "{}",
        output.stderr
    );
    assert_eq!(
        output.stderr.matches("error: no space left").count(),
        2,
        "{}",
        output.stderr
    );
    assert_eq!(
        output.stderr.matches("hint: ").count(),
        2,
        "{}",
        output.stderr
    );
}

#[test]
fn a_home_that_cannot_be_written_is_said() {
    let program = Program::new();
    let sealed = program.home.workspace().join("sealed");
    std::fs::create_dir(&sealed).unwrap();
    let line = format!(
        "mount -t tmpfs tmpfs {0} && mkdir {0}/h && printf 'display: {{skin: mono}}\\n' > {0}/h/config.yaml && \
         mount -o remount,ro {0} && export HERMES_HOME={0}/h; \
         $HERMES config get display.skin; $HERMES config set display.skin ares; echo code $?; \
         $HERMES sessions list; echo code $?",
        sealed.display()
    );
    let shell = program
        .home
        .command("unshare")
        .args(["-rm", "/bin/sh", "-c", &line]);
    let output = shell
        .env("HERMES", env!("CARGO_BIN_EXE_hermes"))
        .run()
        .unwrap()
        .ok();
    assert_eq!(output.stdout, "mono\ncode 1\ncode 1\n", "{}", output.stderr);
    assert_eq!(
        output.stderr.matches("hint: ").count(),
        2,
        "{}",
        output.stderr
    );
    assert!(!output.stderr.contains("panicked"));
}

#[test]
fn an_unreadable_env_file_is_said() {
    let program = Program::new();
    // A directory cannot be read as a file, whoever asks.
    std::fs::create_dir(program.home.path().join(".env")).unwrap();
    check(&program.run(&["config", "get", "display.skin"]), &[".env"]);
    check(
        &program.run(&["config", "set", "OPENAI_API_KEY", "x"]),
        &[".env"],
    );
}

// CL-8
#[test]
fn a_malformed_env_line_is_named_with_its_number() {
    let program = Program::new();
    program
        .home
        .write_env("GOOD_TOKEN=abc\nthis is no assignment\n")
        .unwrap();
    let output = program.run(&["config", "check"]).code(1);
    assert!(
        output.stdout.contains(".env:2: not an assignment"),
        "{}",
        output.stdout
    );
    let output = program.run(&["config", "get", "display.skin"]).ok();
    assert!(output.stderr.contains(".env:2:"), "{}", output.stderr);
}

#[test]
fn a_missing_profile_is_never_made_up() {
    let program = Program::new();
    let before = program.home.tree_hash().unwrap();
    check(
        &program.run(&["-p", "nosuch", "sessions", "list"]),
        &["nosuch", "profile create"],
    );
    assert_eq!(program.home.tree_hash().unwrap(), before);
}

#[test]
fn a_file_to_import_that_makes_no_sense_changes_nothing() {
    let program = Program::new();
    program
        .home
        .write_work(
            "bad.jsonl",
            "{\"id\": \"a\", \"source\": \"cli\", \"messages\": []}\nnot json\n",
        )
        .unwrap();
    let output = program.run(&["sessions", "import", "bad.jsonl"]);
    assert_eq!(output.code, Some(1));
    assert!(
        output.stderr.contains("bad.jsonl") && output.stderr.contains('2'),
        "{}",
        output.stderr
    );
    assert_eq!(
        program.run(&["sessions", "list", "--json"]).ok().json(),
        serde_json::json!([])
    );
    check(
        &program.run(&["sessions", "import", "absent.jsonl"]),
        &["absent.jsonl"],
    );
}

#[test]
fn secrets_are_masked_in_errors() {
    let program = Program::new();
    let secret = "canary-7f3e9b2d41c85a06";
    program
        .home
        .write_env(&format!("OPENAI_API_KEY={secret}\n"))
        .unwrap();
    let output = program.run(&["sessions", "show", secret]).code(1);
    assert!(!output.stderr.contains(secret), "{}", output.stderr);
    let permissions = std::fs::metadata(program.home.path().join(".env"))
        .unwrap()
        .permissions();
    assert_eq!(permissions.mode() & 0o777, 0o600);
}

#[test]
fn a_pipe_in_place_of_a_file_is_said_and_not_waited_for() {
    let program = Program::new();
    for name in ["config.yaml", ".env"] {
        let path = program.home.path().join(name);
        program.shell(&format!("mkfifo {}", path.display())).ok();
        check(&program.run(&["config", "check"]), &[name, "plain file"]);
        std::fs::remove_file(path).unwrap();
    }
}

#[test]
fn a_conversation_does_not_begin_somewhere_else_when_its_directory_is_gone() {
    let program = Program::new();
    let line = "mkdir gone && cd gone && rmdir ../gone && exec \"$HERMES\" -z hello";
    check(
        &program.shell(line),
        &[
            "the directory this was started in is gone",
            "hint: change to one",
        ],
    );
}
