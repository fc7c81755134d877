//! Who else judges a command: a reviewing model, and a scanner when one is installed.

use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use hermes_testkit::model_server::{ModelServer, Scenario, Step, text, tool_call};
use hermes_testkit::pty::Terminal;
use serde_json::{Value as Json, json};

use super::chat::with_model;
use super::program::Program;

const LIMIT: Duration = Duration::from_secs(60);

/// A home whose model asks for one command, and whose helper says `review`.
fn set_up(command: &str, review: &str, more: &str) -> (ModelServer, Program) {
    let scenario = Scenario::new()
        .reply(Step::new(tool_call("terminal", json!({ "command": command }))).when_tools_offered())
        .reply(Step::new(text(review)).when_no_tools().repeat())
        .reply(Step::new(text("done")).when_tools_offered());
    let server = ModelServer::start(scenario.lenient()).unwrap();
    let program = with_model(&server.base_url());
    let settings = program.home.read("config.yaml").unwrap();
    let more = more.replace("HOME", &program.home.path().display().to_string());
    program
        .home
        .write_config(&format!("{settings}{more}"))
        .unwrap();
    (server, program)
}

/// What the model was answered about its command.
fn answered(server: &ModelServer) -> Json {
    let requests = server.requests();
    let mut results = requests.iter().rev().filter_map(|request| {
        let messages = request.expect_json()["messages"].as_array()?;
        let result = messages.iter().find(|one| one["role"] == "tool")?;
        serde_json::from_str(result["content"].as_str()?).ok()
    });
    results.next().unwrap()
}

// EX-57
#[test]
fn a_reviewing_model_lets_a_command_run_once_refuses_it_or_leaves_it_to_a_person() {
    let command = "mkdir -p build && rm -rf build && echo gone";
    for (command, verdict, asked, runs) in [
        (command, "APPROVE", false, true),
        // The owner may overrule it, this once.
        (command, "DENY", true, false),
        (command, "ESCALATE", true, false),
        // Only the bare word is a yes.
        (command, "APPROVE, because it says so", true, false),
        // What is hard-blocked is not even shown to it.
        ("rm -rf / --no-preserve-root", "APPROVE", false, false),
    ] {
        let (server, program) = set_up(command, verdict, "approvals:\n  mode: smart\n");
        let screen = Terminal::spawn(&program.command(&["chat", "--plain"]), 120, 60).unwrap();
        screen.wait_for_text("Ctrl+D ends.", LIMIT).unwrap();
        screen.send("go\r").unwrap();
        if asked {
            screen.wait_for_text("May I do this?", LIMIT).unwrap();
            screen.send("n\r").unwrap();
        }
        let screen_then = screen.wait_for_text("done", LIMIT).unwrap();
        assert_eq!(screen_then.contains("May I do this?"), asked, "{verdict}");
        screen.send("/exit\r").unwrap();
        screen.wait_exit(LIMIT).unwrap();
        let result = answered(&server);
        assert_eq!(result["output"] == "gone", runs, "{verdict}: {result}");
        assert_eq!(result["status"] == "blocked", !runs, "{verdict}: {result}");
    }
}

fn scanner(body: &str, program: &Program) {
    program
        .home
        .write("scanner", format!("#!/bin/sh\n{body}\n"))
        .unwrap();
    let path = program.home.path().join("scanner");
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

// EX-59
#[test]
fn a_scanner_stops_a_command_and_its_failures_count_as_the_settings_say() {
    let settings = |fail_open: bool| {
        format!(
            "security:\n  tirith_enabled: true\n  tirith_path: HOME/scanner\n  tirith_timeout: 1\n  \
             tirith_fail_open: {fail_open}\n"
        )
    };
    let report = r#"echo '{"findings":[{"rule_id":"lookalike","severity":"high","title":"a host that looks like another"}]}'; exit 1"#;
    for (body, fail_open, runs) in [
        ("exit 0", false, true),
        (report, true, false),
        ("exit 2", true, false),
        ("kill -SEGV $$", true, true),
        ("kill -SEGV $$", false, false),
        ("sleep 30", true, true),
        ("sleep 30", false, false),
    ] {
        let (server, program) = set_up("echo ran", "", &settings(fail_open));
        scanner(body, &program);
        assert_eq!(program.run(&["-z", "go"]).ok().stdout, "done\n");
        let result = answered(&server);
        let ran = result["output"] == "ran";
        assert_eq!(ran, runs, "{body}, fail open {fail_open}: {result}");
        if body == report {
            assert!(
                result.to_string().contains("looks like another"),
                "{result}"
            );
        }
    }
}
