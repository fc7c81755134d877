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

// EX-57: a yes of the reviewing model is for that one command; the same one is shown to it again.
#[test]
fn what_a_model_approved_once_is_reviewed_again() {
    let call = || {
        tool_call(
            "terminal",
            json!({"command": "mkdir -p d && rm -rf d && echo gone"}),
        )
    };
    let scenario = Scenario::new()
        .reply(Step::new(call()).when_tools_offered())
        .reply(Step::new(call()).when_tools_offered())
        .reply(Step::new(text("done")).when_tools_offered())
        .reply(Step::new(text("APPROVE")).when_no_tools().repeat());
    let server = ModelServer::start(scenario.lenient()).unwrap();
    let program = with_model(&server.base_url());
    let settings = program.home.read("config.yaml").unwrap();
    let settings = format!("{settings}approvals:\n  mode: smart\n");
    program.home.write_config(&settings).unwrap();
    let screen = Terminal::spawn(&program.command(&["chat", "--plain"]), 120, 60).unwrap();
    screen.wait_for_text("Ctrl+D ends.", LIMIT).unwrap();
    screen.send("go\r").unwrap();
    screen.wait_for_text("done", LIMIT).unwrap();
    screen.send("/exit\r").unwrap();
    screen.wait_exit(LIMIT).unwrap();
    let requests = server.requests();
    let reviews = requests.iter().filter(|request| {
        let asked = request.expect_json().to_string();
        asked.contains("You judge shell commands") && asked.contains("rm -rf d")
    });
    assert_eq!(reviews.count(), 2);
    let log = program.run(&["policy", "log", "--json"]).ok();
    let log: Json = serde_json::from_str(&log.stdout).unwrap();
    let decisions = log["decisions"].as_array().unwrap();
    assert_eq!(decisions.len(), 2, "{log}");
    for decision in decisions {
        assert_eq!(decision["outcome"], "once", "{decision}");
        assert_eq!(decision["decided_by"], "the reviewing model", "{decision}");
    }
}

// EX-57: a model lets nothing pass that it was not shown, whatever a shell would take for a comment.
#[test]
fn a_reviewing_model_is_shown_all_of_a_script() {
    let code =
        "import os\nword = '\\' # '; os.makedirs('d'); os.system('rm -rf d'); print('gone')\n";
    let scenario = Scenario::new()
        .reply(Step::new(tool_call("execute_code", json!({ "code": code }))).when_tools_offered())
        .reply(Step::new(text("APPROVE")).when_no_tools().repeat())
        .reply(Step::new(text("done")).when_tools_offered());
    let server = ModelServer::start(scenario.lenient()).unwrap();
    let program = with_model(&server.base_url());
    let settings = program.home.read("config.yaml").unwrap();
    let settings = format!("{settings}approvals:\n  mode: smart\n");
    program.home.write_config(&settings).unwrap();
    let screen = Terminal::spawn(&program.command(&["chat", "--plain"]), 120, 60).unwrap();
    screen.wait_for_text("Ctrl+D ends.", LIMIT).unwrap();
    screen.send("go\r").unwrap();
    screen.wait_for_text("done", LIMIT).unwrap();
    screen.send("/exit\r").unwrap();
    screen.wait_exit(LIMIT).unwrap();
    let requests = server.requests();
    let mut bodies = requests.iter().map(|request| request.expect_json());
    let review = bodies.find(|body| body.to_string().contains("You judge shell commands"));
    let asked = review.unwrap()["messages"].to_string();
    assert!(asked.contains("run a Python script"), "{asked}");
    assert!(
        asked.contains("os.system('rm -rf d'); print('gone')"),
        "{asked}"
    );
    let result = answered(&server);
    assert_eq!(result["output"], "gone", "{result}");
}

fn scanner(body: &str, program: &Program) {
    program
        .home
        .write("scanner", format!("#!/bin/sh\n{body}\n"))
        .unwrap();
    let path = program.home.path().join("scanner");
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// A scanner that takes too long.
const HANGS: &str = "sleep 30";

// EX-59
#[test]
fn a_scanner_stops_a_command_and_its_failures_count_as_the_settings_say() {
    let settings = |fail_open: bool, seconds: u32| {
        format!(
            "security:\n  tirith_enabled: true\n  tirith_path: HOME/scanner\n  tirith_timeout: {seconds}\n  \
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
        (HANGS, true, true),
        (HANGS, false, false),
    ] {
        // Only the one that is waited for in vain has little time: a busy machine is no scanner that hangs.
        let seconds = if body == HANGS { 1 } else { 60 };
        let (server, program) = set_up("echo ran", "", &settings(fail_open, seconds));
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

/// What came of commands that a scanner looks at.
struct Judged {
    /// What the model is answered.
    results: Vec<Json>,
    /// What the user sees beside the answer.
    stderr: String,
    /// What the scanner wrote into `$0.runs`.
    runs: String,
}

fn judged(scanner_does: &str, fail_open: bool, commands: &[String]) -> Judged {
    let mut scenario = Scenario::new();
    for command in commands {
        scenario = scenario.reply(tool_call("terminal", json!({ "command": command })));
    }
    let server = ModelServer::start(scenario.reply(text("done"))).unwrap();
    let program = with_model(&server.base_url());
    let settings = program.home.read("config.yaml").unwrap();
    let path = program.home.path().join("scanner");
    // Long commands fill the window, and a summary would be asked for in between.
    let more = format!(
        "compression: {{enabled: false}}\nsecurity:\n  tirith_path: {}\n  tirith_fail_open: {fail_open}\n",
        path.display()
    );
    program
        .home
        .write_config(&format!("{settings}{more}"))
        .unwrap();
    scanner(scanner_does, &program);
    let output = program.run(&["-z", "go"]).ok();
    assert_eq!(output.stdout, "done\n");
    // A helper may have asked for something after the conversation.
    let requests = server.requests();
    let mut bodies = requests.iter().map(|one| one.expect_json());
    let told = bodies.rfind(|body| body["tools"].is_array());
    let messages = told.unwrap()["messages"].as_array().unwrap().iter();
    let results = messages.filter(|one| one["role"] == "tool").map(|one| {
        // A remark about repeated failures may follow.
        let content = one["content"].as_str().unwrap();
        let mut values = serde_json::Deserializer::from_str(content).into_iter::<Json>();
        values.next().unwrap().unwrap()
    });
    let results: Vec<Json> = results.collect();
    assert_eq!(results.len(), commands.len(), "{results:?}");
    Judged {
        results,
        stderr: output.stderr,
        runs: program.home.read("scanner.runs").unwrap_or_default(),
    }
}

// EX-59
#[test]
fn commands_that_the_scanner_cannot_be_handed_do_not_switch_it_off() {
    let long = format!("true {}", "x".repeat(200_000));
    let commands = [
        long.clone(),
        long.clone(),
        long.clone(),
        long,
        "echo ran".to_owned(),
    ];
    for fail_open in [true, false] {
        let results = judged("exit 1", fail_open, &commands).results;
        for (at, result) in results.iter().enumerate() {
            assert_eq!(result["status"], "blocked", "{fail_open}, {at}: {result}");
        }
        assert!(results[0].to_string().contains("cannot look at"));
        assert!(!results[4].to_string().contains("cannot look at"));
    }
}

// EX-59
#[test]
fn a_scanner_that_keeps_crashing_is_left_alone_and_the_user_is_told() {
    let commands = vec!["echo ran".to_owned(); 5];
    let crashing = "echo x >> \"$0.runs\"; kill -SEGV $$";
    for (fail_open, told) in [(true, "judged without it"), (false, "counts as suspicious")] {
        let judged = judged(crashing, fail_open, &commands);
        for result in &judged.results {
            assert_eq!(result["output"] == "ran", fail_open, "{result}");
        }
        assert_eq!(judged.stderr.matches(told).count(), 1, "{}", judged.stderr);
        assert_eq!(judged.runs, "x\nx\nx\n", "fail open {fail_open}");
    }
}
