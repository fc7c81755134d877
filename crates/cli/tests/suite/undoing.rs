//! Going back and looking after things: checkpoints, what runs in the background, the doctor.

use std::time::Duration;

use hermes_testkit::eventually;
use hermes_testkit::model_server::{ModelServer, Scenario, Step, text, tool_call};
use hermes_testkit::process::find_by_env_marker;
use hermes_testkit::pty::Terminal;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value as Json, json};

use super::chat::with_model;
use super::program::Program;
use super::screen::{READY, leave, open, quiet};

const LIMIT: Duration = Duration::from_secs(60);

fn program(server: &ModelServer, more: &str) -> Program {
    let program = with_model(&server.base_url());
    let settings = program.home.read("config.yaml").unwrap();
    program
        .home
        .write_config(&format!("{settings}{more}"))
        .unwrap();
    program
}

fn json_of(program: &Program, arguments: &[&str]) -> Json {
    serde_json::from_str(&program.run(arguments).ok().stdout).unwrap()
}

// EX-16
#[test]
fn the_end_of_a_background_process_is_told_in_the_conversation_that_started_it() {
    let scenario = Scenario::new()
        .reply(tool_call(
            "terminal",
            json!({"command": "read line < go; echo built in vain; exit 3",
                   "background": true, "notify_on_complete": true}),
        ))
        .reply(text("It runs."))
        .reply(Step::new(text("It failed with three.")).when_tools_offered())
        .reply(Step::new(text("A title")).when_no_tools());
    let server = ModelServer::start(scenario.lenient()).unwrap();
    let program = program(&server, "");
    program.shell("mkfifo go").ok();
    let screen = Terminal::spawn(&program.command(&["chat", "--plain"]), 120, 60).unwrap();
    screen.wait_for_text("Ctrl+D ends.", LIMIT).unwrap();
    screen.send("build\r").unwrap();
    screen.wait_for_text("It runs.", LIMIT).unwrap();
    program.shell("echo now > go").ok();
    screen
        .wait_for_text("ended with exit code 3", LIMIT)
        .unwrap();
    screen
        .wait_for_text("It failed with three.", LIMIT)
        .unwrap();
    screen.send("/exit\r").unwrap();
    assert_eq!(screen.wait_exit(LIMIT).unwrap().code, 0);
    let told = server
        .requests()
        .iter()
        .any(|request| String::from_utf8_lossy(&request.body).contains("built in vain"));
    assert!(told);
}

// EX-16, EX-18
#[test]
fn what_was_lost_with_a_killed_program_is_told_to_who_comes_back_without_being_asked() {
    let scenario = Scenario::new()
        .reply(tool_call(
            "terminal",
            json!({"command": "sleep 61235", "background": true, "notify_on_complete": true}),
        ))
        .reply(text("It runs."))
        .reply(Step::new(text("Lost, I see.")).when_tools_offered())
        .reply(Step::new(text("A title")).when_no_tools());
    let server = ModelServer::start(scenario.lenient()).unwrap();
    let program = program(&server, "");
    let screen = Terminal::spawn(&program.command(&["chat", "--plain"]), 120, 60).unwrap();
    screen.wait_for_text("Ctrl+D ends.", LIMIT).unwrap();
    screen.send("build\r").unwrap();
    screen.wait_for_text("It runs.", LIMIT).unwrap();
    kill(Pid::from_raw(screen.pid()), Signal::SIGKILL).unwrap();
    screen.wait_exit(LIMIT).unwrap();
    let again = program.command(&["chat", "--plain", "--continue"]);
    let screen = Terminal::spawn(&again, 120, 60).unwrap();
    screen
        .wait_for_text("is gone, nobody saw how it ended", LIMIT)
        .unwrap();
    screen.wait_for_text("Lost, I see.", LIMIT).unwrap();
    screen.send("/exit\r").unwrap();
    assert_eq!(screen.wait_exit(LIMIT).unwrap().code, 0);
}

// EX-18
#[test]
fn what_was_lost_with_a_killed_program_is_told_to_a_single_question_as_well() {
    let scenario = Scenario::new()
        .reply(tool_call(
            "terminal",
            json!({"command": "sleep 61236", "background": true, "notify_on_complete": true}),
        ))
        .reply(text("It runs."))
        .reply(Step::new(text("Lost, I see.")).when_body("nobody saw how it ended"))
        .reply(Step::new(text("A title")).when_no_tools());
    let server = ModelServer::start(scenario.lenient()).unwrap();
    let program = program(&server, "");
    let screen = Terminal::spawn(&program.command(&["chat", "--plain"]), 120, 60).unwrap();
    screen.wait_for_text("Ctrl+D ends.", LIMIT).unwrap();
    screen.send("build\r").unwrap();
    screen.wait_for_text("It runs.", LIMIT).unwrap();
    kill(Pid::from_raw(screen.pid()), Signal::SIGKILL).unwrap();
    screen.wait_exit(LIMIT).unwrap();
    let again = program.command(&["-c", "-z", "look"]).timeout(LIMIT);
    assert_eq!(again.run().unwrap().ok().stdout, "Lost, I see.\n");
}

// EX-14
#[test]
fn stop_ends_what_runs_in_the_background_and_yolo_switches_asking() {
    let number = std::process::id().to_string();
    let mark = format!("HERMES_TEST_STOPPED={number}");
    let scenario = Scenario::new()
        .reply(tool_call(
            "terminal",
            json!({"command": format!("{mark} exec sleep 61234"), "background": true}),
        ))
        .reply(text("It runs."));
    let server = ModelServer::start(scenario.lenient()).unwrap();
    let program = program(&server, "");
    let screen = Terminal::spawn(&program.command(&["chat", "--plain"]), 120, 60).unwrap();
    screen.wait_for_text("Ctrl+D ends.", LIMIT).unwrap();
    screen.send("/stop\r").unwrap();
    screen
        .wait_for_text("Nothing runs in the background.", LIMIT)
        .unwrap();
    screen.send("run it\r").unwrap();
    screen.wait_for_text("It runs.", LIMIT).unwrap();
    let alive = || find_by_env_marker("HERMES_TEST_STOPPED", &number);
    eventually(LIMIT, "the process", || (!alive().is_empty()).then_some(())).unwrap();
    screen.send("/stop\r").unwrap();
    screen.wait_for_text("Ended one process.", LIMIT).unwrap();
    screen.send("/yolo\r").unwrap();
    screen
        .wait_for_text("run without asking now", LIMIT)
        .unwrap();
    screen.send("/yolo\r").unwrap();
    screen
        .wait_for_text("You are asked before risky commands again.", LIMIT)
        .unwrap();
    screen.send("/nonsense\r").unwrap();
    screen
        .wait_for_text("There is no /nonsense", LIMIT)
        .unwrap();
    screen.send("/help\r").unwrap();
    screen
        .wait_for_text("/rollback [n [file]|diff n]", LIMIT)
        .unwrap();
    screen.send("/exit\r").unwrap();
    assert_eq!(screen.wait_exit(LIMIT).unwrap().code, 0);
    assert_eq!(alive(), []);
}

// EX-50, EX-51
#[test]
fn files_go_back_to_a_checkpoint_from_the_conversation_and_from_the_shell() {
    let write = |content: &str| {
        tool_call(
            "write_file",
            json!({"path": "notes/plan.txt", "content": content}),
        )
    };
    let scenario = Scenario::new()
        .reply(write("second\n"))
        .reply(tool_call(
            "write_file",
            json!({"path": "notes/new.txt", "content": "made since\n"}),
        ))
        .reply(text("Written."));
    let server = ModelServer::start(scenario.lenient()).unwrap();
    let program = program(&server, "checkpoints:\n  enabled: true\n");
    program
        .shell("git init -q . && mkdir notes && echo first > notes/plan.txt")
        .ok();
    let read = |name: &str| program.shell(&format!("cat {name}")).stdout;
    let screen = Terminal::spawn(&program.command(&["chat", "--plain"]), 120, 60).unwrap();
    screen.wait_for_text("Ctrl+D ends.", LIMIT).unwrap();
    screen.send("write\r").unwrap();
    screen.wait_for_text("Written.", LIMIT).unwrap();
    assert_eq!(read("notes/plan.txt"), "second\n");
    screen.send("/rollback diff 1\r").unwrap();
    screen.wait_for_text("+second", LIMIT).unwrap();
    screen.send("/rollback 1\r").unwrap();
    screen
        .wait_for_text("1 files written, 1 removed", LIMIT)
        .unwrap();
    screen.wait_for_text("Taken back: write", LIMIT).unwrap();
    screen.send("/exit\r").unwrap();
    assert_eq!(screen.wait_exit(LIMIT).unwrap().code, 0);
    assert_eq!(read("notes/plan.txt"), "first\n");
    assert_ne!(program.shell("test -e notes/new.txt").code, Some(0));

    let listed = json_of(&program, &["checkpoints", "list", "--json"]);
    let checkpoints = listed["checkpoints"].as_array().unwrap();
    assert_eq!(checkpoints.len(), 2, "{listed}");
    assert_eq!(checkpoints[0]["reason"], "before a rollback");
    let status = json_of(&program, &["checkpoints", "status", "--json"]);
    assert_eq!(status["projects"][0]["checkpoints"], 2, "{status}");
    // The state before the rollback is one of them.
    let refused = program.run(&["checkpoints", "restore", "1"]);
    assert_eq!(refused.code, Some(2), "{}", refused.report());
    program.run(&["checkpoints", "restore", "1", "--yes"]).ok();
    assert_eq!(read("notes/new.txt"), "made since\n");
    let unknown = program.run(&["checkpoints", "diff", "77"]);
    assert!(
        unknown.stderr.contains("hermes checkpoints list"),
        "{}",
        unknown.report()
    );
    program.run(&["checkpoints", "clear", "--yes"]).ok();
    let status = json_of(&program, &["checkpoints", "status", "--json"]);
    assert_eq!(status["projects"], json!([]), "{status}");
}

// CL-14
#[test]
fn the_doctor_names_the_sandbox_and_what_is_wrong() {
    let server = ModelServer::start(Scenario::new()).unwrap();
    let program = program(&server, "");
    let report = json_of(&program, &["doctor", "--json"]);
    assert_eq!(report["ok"], true, "{report}");
    let text_of = |about: &str| {
        let findings = report["findings"].as_array().unwrap();
        let found = findings.iter().find(|one| one["about"] == about).unwrap();
        found["text"].as_str().unwrap().to_owned()
    };
    assert!(
        text_of("sandbox").starts_with("workspace-write"),
        "{report}"
    );
    assert_eq!(text_of("commands"), "run on this machine");
    assert!(text_of("model").contains("custom"), "{report}");

    program.home.write_config("model: [unclosed\n").unwrap();
    let broken = program.run(&["doctor"]);
    assert_eq!(broken.code, Some(1), "{}", broken.report());
    assert!(broken.stdout.contains("✗ settings"), "{}", broken.report());
}

// CL-21
#[test]
fn retry_asks_the_same_again_and_the_new_answer_stands_in_the_place_of_the_old() {
    let scenario = Scenario::new()
        .reply(text("First try."))
        .reply(text("Second try."));
    let server = ModelServer::start(scenario).unwrap();
    let program = quiet(&server, "");
    let terminal = open(&program, 100, 30);
    terminal.send("what is it?\r").unwrap();
    terminal.wait_for_text("First try.", LIMIT).unwrap();
    terminal.wait_for_text(READY, LIMIT).unwrap();
    terminal.send("/retry\r").unwrap();
    terminal.wait_for_text("Second try.", LIMIT).unwrap();
    terminal.wait_for_text(READY, LIMIT).unwrap();
    leave(&terminal);
    let sent: Vec<Json> = server
        .requests()
        .iter()
        .map(|request| request.expect_json()["messages"].clone())
        .collect();
    assert_eq!(sent.len(), 2);
    assert_eq!(
        sent[0], sent[1],
        "the question goes once, without an answer"
    );
    let listed = json_of(&program, &["sessions", "list", "--json"]);
    assert_eq!(listed.as_array().unwrap().len(), 1, "{listed}");
    let session = listed[0]["session_id"].as_str().unwrap().to_owned();
    let rows = |flags: &[&str]| {
        let arguments = [&["sessions", "show", &session, "--json"], flags].concat();
        let shown = json_of(&program, &arguments);
        let rows = shown["messages"].as_array().unwrap().iter();
        let said = |row: &Json| row["content"].as_str().unwrap_or_default().to_owned();
        rows.map(said).collect::<Vec<_>>()
    };
    assert_eq!(rows(&[]), ["what is it?", "Second try."]);
    let all = rows(&["--all"]);
    assert!(all.contains(&"First try.".to_owned()), "{all:?}");
}
