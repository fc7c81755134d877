//! A home that can be read and not written: reading works, writing is refused in one line.

use hermes_testkit::Output;

use super::program::Program;

/// Runs a shell line while the home is mounted read-only, which holds for every user.
fn sealed(program: &Program, line: &str) -> Output {
    let home = program.home.path();
    let line = format!(
        "mount --bind {0} {0} && mount -o remount,bind,ro {0} && {{ {line}; }}",
        home.display()
    );
    let shell = program
        .home
        .command("unshare")
        .args(["-rm", "/bin/sh", "-c", &line]);
    shell
        .env("HERMES", env!("CARGO_BIN_EXE_hermes"))
        .run()
        .unwrap()
}

#[test]
fn conversations_are_read_where_nothing_can_be_written() {
    let program = Program::after_the_reference();
    program.run(&["sessions", "list"]).ok();
    for command in [
        "sessions list",
        "sessions list --json",
        "sessions show Refactor",
        "sessions search the",
        "sessions stats",
        "sessions export",
        "sessions prune --source cron --dry-run",
    ] {
        let expected = program.shell(&format!("$HERMES {command}")).ok();
        let before = program.home.tree_hash().unwrap();
        let found = sealed(&program, &format!("$HERMES {command}")).ok();
        assert_eq!(found.stdout, expected.stdout, "{command}");
        assert_eq!(found.stderr, "", "{command}");
        assert_eq!(program.home.tree_hash().unwrap(), before, "{command}");
    }
}

#[test]
fn what_would_change_such_a_home_is_refused_in_one_line() {
    let program = Program::after_the_reference();
    program.run(&["sessions", "list"]).ok();
    program
        .home
        .write_work("in.jsonl", r#"{"id":"new","started_at":1.0,"messages":[]}"#)
        .unwrap();
    for command in [
        "sessions rename Refactor Other",
        "sessions delete Refactor --yes",
        "sessions prune --source cron --yes",
        "sessions archive --source cron --yes",
        "sessions optimize",
        "sessions repair",
        "sessions import in.jsonl",
    ] {
        let refused = sealed(&program, &format!("$HERMES {command}")).code(1);
        let lines: Vec<_> = refused.stderr.lines().collect();
        let database = program.home.path().join("hermes.db");
        let expected = format!("error: {} cannot be written", database.display());
        assert_eq!(lines.len(), 2, "{command}: {}", refused.stderr);
        assert_eq!(lines[0], expected, "{command}");
        assert!(lines[1].starts_with("hint: "), "{command}: {}", lines[1]);
    }
}

#[test]
fn a_new_database_is_not_made_there() {
    let program = Program::new();
    let refused = sealed(&program, "$HERMES sessions list").code(1);
    assert!(
        refused
            .stderr
            .contains("hermes.db cannot be written\nhint: "),
        "{}",
        refused.stderr
    );
}

#[test]
fn what_is_still_in_the_log_is_read_too() {
    let program = Program::after_the_reference();
    program.run(&["sessions", "list"]).ok();
    // A copy of the files while a program has them open, as after a crash.
    let line = "cd $HERMES_HOME && mkdir copy && printf '%s\\n' 'PRAGMA wal_autocheckpoint=0;' \
         \"UPDATE sessions SET title = 'from the log' WHERE id = '20250615_150640_a1b2c3';\" \
         '.shell cp hermes.db* copy' | sqlite3 hermes.db && rm hermes.db* && mv copy/* . && rmdir copy";
    program.shell(line).ok();
    assert!(program.home.path().join("hermes.db-wal").exists());
    let found = sealed(&program, "$HERMES sessions show 20250615_150640").ok();
    assert!(found.stdout.starts_with("from the log"), "{}", found.stdout);
    // Without the shared memory the log cannot be read here, and an older state is not passed off as all.
    std::fs::remove_file(program.home.path().join("hermes.db-shm")).unwrap();
    let refused = sealed(&program, "$HERMES sessions list").code(1);
    assert!(refused.stderr.contains("hermes.db"), "{}", refused.stderr);
}
