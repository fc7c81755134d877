//! What a run leaves behind and what it takes: nothing outside the home, little time, little memory.

use std::time::{Duration, Instant};

use hermes_testkit::model_server::{ModelServer, Scenario, Step, text};

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

// AG-36
#[test]
fn a_question_reaches_the_model_at_once_and_nothing_else_is_asked() {
    let scenario = Scenario::new().reply(
        Step::new(text("late"))
            .delay(Duration::from_secs(20))
            .repeat(),
    );
    let server = ModelServer::start(scenario).unwrap();
    let program = Program::new();
    let config = format!(
        "model: {{provider: custom, base_url: '{}', default: scripted, context_length: 100000}}\n",
        server.base_url()
    );
    program.home.write_config(&config).unwrap();
    let mut waits = Vec::new();
    for round in 1..=7 {
        let started = Instant::now();
        let running = program.command(&["-z", "hello"]).spawn().unwrap();
        let seen = server
            .wait_for_requests(round, Duration::from_secs(10))
            .unwrap();
        waits.push(seen[round - 1].arrived_at - started);
        let status = std::fs::read_to_string(format!("/proc/{}/status", running.pid())).unwrap();
        let resident = status
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:"))
            .unwrap();
        let kib: u64 = resident
            .trim()
            .trim_end_matches(" kB")
            .trim()
            .parse()
            .unwrap();
        assert!(kib < 40 * 1024, "{kib} KiB while it waits");
        running.kill().unwrap();
    }
    waits.sort();
    assert!(waits[3] < Duration::from_millis(150), "{waits:?}");
    assert_eq!(server.requests().len(), 7, "one request for each question");
}
