//! A reader that goes away early is no reason to complain.

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
