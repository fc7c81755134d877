//! What runs beside the conversation, and what the bar says of it.

use std::time::Duration;

use hermes_testkit::model_server::{ModelServer, Scenario, Step, text, tool_call};
use hermes_testkit::pty::Terminal;
use serde_json::json;

use super::screen::{LIMIT, READY, leave, open, quiet};

// CL-37 CL-23
#[test]
fn a_background_prompt_is_counted_shown_and_knows_nothing_of_the_conversation() {
    let slow = Step::new(text("A long story that never ends")).hang_after(2);
    let scenario = Scenario::new()
        .reply(Step::new(text("Hello yourself.")).when_user("hello"))
        .reply(
            Step::new(text("There are **seven**."))
                .when_user("count")
                .delay(Duration::from_secs(2)),
        )
        .reply(slow.when_user("story"));
    let server = ModelServer::start(scenario).unwrap();
    let program = quiet(&server, "display: {show_cost: true}\n");
    let terminal = open(&program, 110, 40);
    terminal.send("hello\r").unwrap();
    terminal.wait_for_text("Hello yourself.", LIMIT).unwrap();
    terminal.wait_for_text(READY, LIMIT).unwrap();
    terminal.send("/btw count the files\r").unwrap();
    terminal.wait_for_text("works on it", LIMIT).unwrap();
    terminal.wait_for_text("▶ 1", LIMIT).unwrap();
    terminal.wait_for_text("There are seven.", LIMIT).unwrap();
    let screen = terminal.screen().text();
    assert!(screen.contains(": count the files"), "{screen}");
    let request = server.requests().last().unwrap().expect_json().to_string();
    assert!(!request.contains("hello"), "{request}");
    terminal
        .wait_for(|screen| !screen.contains("▶ 1"), LIMIT)
        .unwrap();
    terminal.send("/background tell a story\r").unwrap();
    terminal.wait_for_text("▶ 1", LIMIT).unwrap();
    terminal.send("/agents\r").unwrap();
    terminal.wait_for_text("waits for you", LIMIT).unwrap();
    terminal.send("/stop\r").unwrap();
    terminal.wait_for_text("Ended one prompt.", LIMIT).unwrap();
    terminal
        .wait_for_text("tell a story: stopped", LIMIT)
        .unwrap();
    // No prices are known of this model.
    terminal.wait_for_text("n/a", LIMIT).unwrap();
    leave(&terminal);
    let listed = program.run(&["sessions", "list"]).ok().stdout;
    assert!(listed.contains("bg_"), "{listed}");
}

// CL-19 CL-37
#[test]
fn a_question_of_a_background_prompt_waits_behind_the_turn_in_front() {
    let scenario = Scenario::new()
        .reply(
            Step::new(tool_call(
                "terminal",
                json!({"command": "mkdir gone; rm -r gone"}),
            ))
            .when_user("clean up"),
        )
        .reply(
            Step::new(text("Front is done."))
                .when_user("hello")
                .delay(Duration::from_secs(4)),
        )
        .reply(Step::new(text("All clean.")).when_user("clean up"));
    let server = ModelServer::start(scenario.lenient()).unwrap();
    let program = quiet(&server, "approvals: {mode: manual}\n");
    let terminal = open(&program, 100, 40);
    terminal.send("hello\r").unwrap();
    terminal.wait_for_text("Esc only stops", LIMIT).unwrap();
    terminal.send("/background clean up\r").unwrap();
    terminal.wait_for_text("Allow once", LIMIT).unwrap();
    terminal.wait_for_text("Front is done.", LIMIT).unwrap();
    // The end of the turn in front does not take the question away.
    let screen = terminal.wait_for_text("Allow once", LIMIT).unwrap();
    assert!(screen.contains("rm -r gone"), "{}", screen.text());
    std::thread::sleep(Duration::from_millis(400));
    terminal.send("1").unwrap();
    terminal.wait_for_text("All clean.", LIMIT).unwrap();
    leave(&terminal);
}

#[test]
fn the_prompt_tells_the_end_of_a_background_prompt() {
    let scenario = Scenario::new().reply(Step::new(text("Seven.")).when_user("count"));
    let server = ModelServer::start(scenario).unwrap();
    let program = quiet(&server, "");
    let terminal = Terminal::spawn(&program.command(&["chat", "--plain"]), 120, 40).unwrap();
    terminal.wait_for_text("Ctrl+D ends.", LIMIT).unwrap();
    terminal.send("/bg count\r").unwrap();
    terminal.wait_for_text(": count", LIMIT).unwrap();
    terminal.wait_for_text("Seven.", LIMIT).unwrap();
    terminal.send("\x04").unwrap();
    assert_eq!(terminal.wait_exit(LIMIT).unwrap().code, 0);
}

// CL-18
#[test]
fn what_a_message_does_while_busy_is_said_once() {
    let scenario = Scenario::new()
        .reply(Step::new(text("words and more words")).hang_after(2))
        .reply(text("Now this."));
    let server = ModelServer::start(scenario).unwrap();
    let program = quiet(&server, "");
    let terminal = open(&program, 100, 30);
    terminal.send("begin\r").unwrap();
    terminal.wait_for_text("words and", LIMIT).unwrap();
    terminal.send("do that instead\r").unwrap();
    terminal.wait_for_text("or /busy queue", LIMIT).unwrap();
    assert!(terminal.screen().contains("stops the agent"));
    terminal.wait_for_text("Now this.", LIMIT).unwrap();
    terminal.wait_for_text(READY, LIMIT).unwrap();
    leave(&terminal);
    let config = program.home.read("config.yaml").unwrap();
    assert!(config.contains("busy_input: true"), "{config}");
}
