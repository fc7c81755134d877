//! Output that cannot be written: a reader that goes away is no reason to complain, a full disk is.

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
