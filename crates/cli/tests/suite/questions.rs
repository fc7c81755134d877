//! Questions at the prompt: who answers them, and who does not.

use std::time::Duration;

use hermes_testkit::eventually;
use hermes_testkit::model_server::{ModelServer, Scenario, Step, text, tool_call};
use hermes_testkit::pty::Terminal;
use serde_json::{Value as Json, json};

use super::chat::with_model;
use super::program::Program;

const LIMIT: Duration = Duration::from_secs(60);

/// A model that thinks for a while, wants to delete something, and then says what it was told.
fn set_up() -> (ModelServer, Program, Terminal) {
    let command = json!({"command": "mkdir -p build && rm -rf build && echo gone"});
    let scenario = Scenario::new()
        .reply(
            Step::new(tool_call("terminal", command))
                .delay(Duration::from_secs(2))
                .when_user("go"),
        )
        .reply(Step::new(text("so be it")).when_tools_offered().repeat())
        .reply(Step::new(text("a title")).repeat());
    let server = ModelServer::start(scenario).unwrap();
    let program = with_model(&server.base_url());
    let config = program.home.read("config.yaml").unwrap();
    let config = format!("{config}approvals: {{mode: manual}}\n");
    program.home.write_config(&config).unwrap();
    let screen = Terminal::spawn(&program.command(&["chat", "--plain"]), 120, 60).unwrap();
    screen.wait_for_text("Ctrl+D ends.", LIMIT).unwrap();
    (server, program, screen)
}

// AG-8, EX-55
#[test]
fn what_was_typed_before_a_question_is_no_answer_to_it() {
    let (server, _program, screen) = set_up();
    screen.send("go\r").unwrap();
    let thinks = || (!server.requests().is_empty()).then_some(());
    eventually(LIMIT, "the model is asked", thinks).unwrap();
    // Typed while the model still thinks.
    screen.send("y\r").unwrap();
    screen.wait_for_text("May I do this?", LIMIT).unwrap();
    screen.send("n\r").unwrap();
    screen.wait_for_text("so be it", LIMIT).unwrap();
    leave(&screen);
    let asked: Vec<String> = server
        .requests()
        .iter()
        .map(|request| request.expect_json()["messages"].to_string())
        .collect();
    assert!(asked.iter().any(|messages| messages.contains("blocked")));
    let ran = |messages: &String| messages.contains(r#"\"output\":\"gone"#);
    assert!(!asked.iter().any(ran), "{asked:?}");
    // It was a message, and is one.
    let is_y = |messages: &&String| messages.contains(r#""content":"y""#);
    assert!(asked.iter().any(|messages| is_y(&messages)), "{asked:?}");
}

// AG-8, EX-56
#[test]
fn a_question_can_be_stopped() {
    let (_server, program, screen) = set_up();
    screen.send("go\r").unwrap();
    screen.wait_for_text("May I do this?", LIMIT).unwrap();
    screen.send("\u{3}").unwrap();
    let seen = screen.wait_for_text("[stopped]", LIMIT).unwrap();
    // Nobody let the time pass.
    assert!(!seen.contains("in time"), "{seen}");
    leave(&screen);
    let log = program.run(&["policy", "log", "--json"]).ok();
    let log: Json = serde_json::from_str(&log.stdout).unwrap();
    let last = &log["decisions"][0];
    assert_eq!(last["decided_by"], "stopped", "{log}");
    let reason = last["reason"].as_str().unwrap();
    assert!(reason.starts_with("The call was stopped"), "{reason}");
}

// AG-7, EX-32: what a script may take is counted without the time in which a person is asked for it.
#[test]
fn the_time_of_a_script_stands_still_while_a_person_is_asked() {
    // The words of the command stand elsewhere, so that the question comes from the call and not for the script.
    let code = "from hermes_tools import terminal\nprint(terminal(open('words').read())['output'])";
    let scenario = Scenario::new()
        .reply(tool_call("execute_code", json!({ "code": code })))
        .reply(Step::new(text("so be it")).when_tools_offered().repeat())
        .reply(Step::new(text("a title")).repeat());
    let server = ModelServer::start(scenario).unwrap();
    let program = with_model(&server.base_url());
    let config = program.home.read("config.yaml").unwrap();
    let config = format!("{config}approvals: {{mode: manual}}\ncode_execution: {{timeout: 8}}\n");
    program.home.write_config(&config).unwrap();
    let words = "mkdir -p build && rm -rf build && echo gone";
    program.home.write_work("words", words).unwrap();
    let screen = Terminal::spawn(&program.command(&["chat", "--plain"]), 120, 60).unwrap();
    screen.wait_for_text("Ctrl+D ends.", LIMIT).unwrap();
    screen.send("go\r").unwrap();
    screen.wait_for_text("May I do this? mkdir", LIMIT).unwrap();
    std::thread::sleep(Duration::from_secs(9));
    screen.send("y\r").unwrap();
    screen.wait_for_text("so be it", LIMIT).unwrap();
    leave(&screen);
    let requests = server.requests();
    let results = requests
        .iter()
        .map(|request| request.expect_json()["messages"].to_string());
    let ran = |messages: String| messages.contains(r#"\"output\":\"gone"#);
    assert!(
        results.into_iter().any(ran),
        "{:?}",
        requests.last().unwrap().expect_json()["messages"]
    );
}

fn leave(screen: &Terminal) {
    screen.send("/exit\r").unwrap();
    screen.wait_exit(LIMIT).unwrap();
}
