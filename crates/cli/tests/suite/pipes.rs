//! Output that cannot be written: a reader that goes away is no reason to complain, a full disk is.

use std::time::Duration;

use hermes_testkit::model_server::{Scenario, Step, text};
use hermes_testkit::pty::Terminal;

use super::chat::served;
use super::program::Program;

// CL-34
#[test]
fn a_closed_pipe_never_prints_a_trace() {
    let program = Program::after_the_reference();
    program.run(&["sessions", "list"]).ok();
    for command in [
        "sessions list",
        "sessions list --json",
        "sessions search the",
        "sessions search the --json",
        "sessions show Refactor",
        "sessions stats",
        "sessions export",
        "sessions export --format html",
        "sessions prune --older-than 1d --dry-run",
        "config show --all",
        "config show --all --json",
        "config get display",
        "config check",
        "config path",
        "backup",
        "backup --quick",
        "logs",
        "logs --json",
        "logs list",
        "completion bash",
        "completion zsh",
        "completion fish",
        "version",
        "--help",
    ] {
        // The reader leaves after one line, and again before the first.
        for reader in ["head -n 1 >/dev/null", "true"] {
            let output = program.shell(&format!("($HERMES {command}; echo $? >&2) | {reader}"));
            let code = output.stderr.trim();
            assert!(
                ["0", "141"].contains(&code),
                "{command} | {reader}: {}",
                output.stderr
            );
        }
    }
}

// CL-34
#[test]
fn output_that_is_lost_is_said() {
    let program = Program::after_the_reference();
    program.run(&["sessions", "list"]).ok();
    for command in [
        "--help",
        "--version",
        "sessions --help",
        "",
        "version",
        "sessions list",
        "sessions list --json",
        "sessions export",
        "completion bash",
        "config path",
        "logs list",
    ] {
        let output = program
            .shell(&format!("$HERMES {command} >/dev/full"))
            .code(1);
        let lines: Vec<_> = output.stderr.lines().collect();
        assert_eq!(lines.len(), 1, "{command}: {}", output.stderr);
        assert!(
            lines[0].starts_with("error: the output could not be written: No space left"),
            "{command}: {}",
            output.stderr
        );
    }
}

// CL-3
#[test]
fn someone_who_waits_for_a_file_sees_that_there_is_progress() {
    let limit = Duration::from_secs(30);
    let slow = Step::new(text("It is done.")).delay(Duration::from_secs(2));
    let (server, program) = served(Scenario::new().reply(slow));
    let line = "exec \"$HERMES\" -z 'Take your time' > answer.txt";
    let command = program.home.command("/bin/sh").args(["-c", line]);
    let command = command.env("HERMES", env!("CARGO_BIN_EXE_hermes"));
    let terminal = Terminal::spawn(&command, 80, 10).unwrap();
    terminal.wait_for_text("thinking", limit).unwrap();
    assert_eq!(terminal.wait_exit(limit).unwrap().code, 0);
    // It was only for the time of waiting, and the answer is for the file.
    let left = terminal.screen().text();
    assert_eq!(left.trim(), "", "{left}");
    let answer = program.home.workspace().join("answer.txt");
    assert_eq!(std::fs::read_to_string(answer).unwrap(), "It is done.\n");
    server.assert_done();
}
