//! Nothing is written outside the home.

use super::program::Program;

// CL-38
#[test]
fn commands_write_below_the_home_only() {
    let program = Program::after_the_reference();
    let trace = program.home.workspace().join("trace");
    for command in [
        "sessions list",
        "sessions search word",
        "sessions stats",
        "sessions optimize",
        "sessions repair",
        "sessions import",
        "sessions export --format md --session-id Refactor",
        "config set display.skin mono",
        "config set OPENAI_API_KEY abc",
        "config unset display.skin",
        "config migrate",
        "config check",
        "backup",
        "backup --quick",
        "import --force $HERMES_HOME/backups/*.zip",
        "logs",
        "completion",
    ] {
        let line = format!(
            "strace -f -qq -e trace=file,openat -o {} $HERMES {command}",
            trace.display()
        );
        program.shell(&line).ok();
        let home = program.home.path().display().to_string();
        for call in std::fs::read_to_string(&trace).unwrap().lines() {
            let writes = [
                "O_WRONLY", "O_RDWR", "O_CREAT", "mkdir", "rename", "unlink", "symlink", "chmod",
            ];
            let succeeded = !call.contains("= -1");
            if succeeded && writes.iter().any(|word| call.contains(word)) {
                let allowed = call.contains(&home) || call.contains("/dev/");
                assert!(allowed, "{command}: {call}");
            }
        }
    }
}
