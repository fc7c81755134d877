//! What a run leaves behind and what it takes: nothing outside the home, little time, little memory.

use std::net::TcpListener;
use std::path::Path;
use std::time::{Duration, Instant};

use hermes_testkit::model_server::{ModelServer, Scenario, Step, text, tool_call};
use hermes_testkit::pty::Terminal;
use serde_json::json;

use super::chat::with_model;
use super::program::Program;
use super::screen::READY;

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

// AG-31
#[test]
fn results_of_many_megabytes_take_up_neither_the_request_nor_the_memory() {
    let flood = || json!({"command": "head -c 60000000 /dev/zero | tr '\\0' x"});
    let three = tool_call("terminal", flood())
        .and_tool_call("terminal", flood())
        .and_tool_call("terminal", flood());
    let server = ModelServer::start(Scenario::new().reply(three).reply(text("seen"))).unwrap();
    let program = with_model(&server.base_url());
    let output = program.run(&["-z", "flood"]).ok();
    assert_eq!(output.stdout, "seen\n");
    let last = server.requests().pop().unwrap();
    assert!(
        last.body.len() < 500_000,
        "{} bytes are sent",
        last.body.len()
    );
    assert!(
        output.max_rss_kib < 120_000,
        "{} KiB for 180 MB of output",
        output.max_rss_kib
    );
    server.assert_done();
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
        let made = status
            .lines()
            .find_map(|line| line.strip_prefix("RssAnon:"))
            .unwrap();
        let kib: u64 = made.trim().trim_end_matches(" kB").trim().parse().unwrap();
        // What the program makes for itself. Its code is several times as large without optimisation; the budget of
        // the whole of what is shipped stands in `bench`.
        assert!(kib < 10 * 1024, "{kib} KiB while it waits");
        running.kill().unwrap();
    }
    waits.sort();
    assert!(waits[3] < Duration::from_millis(150), "{waits:?}");
    assert_eq!(server.requests().len(), 7, "one request for each question");
}

// AG-36 CL-1 PV-26
#[test]
fn a_server_that_is_away_holds_up_no_prompt() {
    // It takes connections and says nothing, like a machine that hangs.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let program = Program::new();
    let config = format!(
        "model: {{provider: custom, base_url: 'http://{address}/v1', default: scripted}}\n\
         fallback_providers: [{{provider: custom, base_url: 'http://{address}/v1', model: other}}]\n",
        address = silent.local_addr().unwrap()
    );
    program.home.write_config(&config).unwrap();
    let limit = Duration::from_secs(30);
    let mut waits = Vec::new();
    for _ in 0..7 {
        let started = Instant::now();
        let command = program.command(&["chat", "--plain"]);
        let terminal = Terminal::spawn(&command, 120, 40).unwrap();
        terminal.wait_for_text("Ctrl+D ends", limit).unwrap();
        waits.push(started.elapsed());
        terminal.send("\x04").unwrap();
        terminal.wait_exit(limit).unwrap();
    }
    waits.sort();
    assert!(waits[3] < Duration::from_millis(150), "{waits:?}");
}

/// Where a traced run connected to; sockets of the machine's own services do not count.
fn connected(trace: &Path) -> Vec<String> {
    let trace = std::fs::read_to_string(trace).unwrap();
    let far = |line: &&str| line.contains("AF_INET");
    trace.lines().filter(far).map(str::to_owned).collect()
}

// AG-36
#[test]
fn nobody_is_connected_to_before_the_first_call_and_nobody_but_the_model_in_it() {
    let server = ModelServer::start(Scenario::new().reply(Step::new(text("ok")).repeat())).unwrap();
    let program = Program::new();
    // Its window is not known: only the server can tell.
    let config = format!(
        "model: {{provider: custom, base_url: '{}', default: scripted}}\n",
        server.base_url()
    );
    program.home.write_config(&config).unwrap();
    let trace = program.home.workspace().join("trace");
    let traced = |arguments: &[&str]| {
        let strace = ["-f", "-qq", "-e", "trace=connect,sendto,sendmsg", "-o"];
        let command = program.home.command("strace").args(strace).arg(&trace);
        command.arg(env!("CARGO_BIN_EXE_hermes")).args(arguments)
    };
    traced(&["-z", "hello"]).run().unwrap().ok();
    let origin = server.origin();
    let port = origin.rsplit(':').next().unwrap();
    let calls = connected(&trace);
    assert!(!calls.is_empty(), "the model was asked");
    for call in &calls {
        let own = call.contains(&format!("htons({port})")) && call.contains("127.0.0.1");
        assert!(own, "{call}");
    }

    // At a prompt that waits, and in commands that only look around.
    let limit = Duration::from_secs(30);
    for (options, ready) in [
        ("--plain", "Ctrl+D ends"),
        ("--cli", READY),
        ("--tui", READY),
    ] {
        let command = traced(&["chat", options]).env("TERM", "xterm-256color");
        let terminal = Terminal::spawn(&command, 120, 40).unwrap();
        terminal.wait_for_text(ready, limit).unwrap();
        assert_eq!(connected(&trace), [""; 0], "{options}");
        // The first message is when the server is asked.
        let before = server.requests().len();
        terminal.send("hello\r").unwrap();
        server.wait_for_requests(before + 1, limit).unwrap();
        terminal.wait_for_text("ok", limit).unwrap();
        assert_ne!(connected(&trace), [""; 0], "{options}");
        terminal.send("\x04").unwrap();
        terminal.wait_exit(limit).unwrap();
    }
    for command in [["tools", "list"], ["model", "list"]] {
        traced(&command).run().unwrap();
        assert_eq!(connected(&trace), [""; 0], "{command:?}");
    }
}
