//! `kill -9` while messages and remarks wait for their turn.

use std::time::Duration;

use hermes_testkit::model_server::{Gate, ModelServer, Scenario, Step, text, tool_call};
use hermes_testkit::pty::Terminal;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;

use super::killed::rows;
use super::program::Program;
use super::screen::{LIMIT, READY, leave, quiet};

/// What is written where a message waits, on the screen and at the prompt.
const KEPT_AT_PROMPT: &str = "[that is said once this is answered]";

fn start(program: &Program, options: &[&str]) -> Terminal {
    let command = program.command(options).env("TERM", "xterm-256color");
    Terminal::spawn(&command, 100, 40).unwrap()
}

fn killed(terminal: Terminal) {
    kill(Pid::from_raw(terminal.pid()), Signal::SIGKILL).unwrap();
    terminal.wait_exit(LIMIT).unwrap();
}

fn session(program: &Program) -> String {
    let listed = program.run(&["sessions", "list", "--json"]).ok().json();
    listed[0]["session_id"].as_str().unwrap().to_owned()
}

/// What the user said in a conversation, oldest first.
fn said(program: &Program) -> Vec<String> {
    let rows = rows(program, &session(program)).into_iter();
    rows.filter_map(|row| Some(row.strip_prefix("\"user\" ")?.trim_matches('"').to_owned()))
        .collect()
}

/// How many requests ended with this. What stands before it without an answer may stand in the same message.
fn asked(server: &ModelServer, last: &str) -> usize {
    let requests = server.requests().into_iter();
    let ends = requests.filter(|request| {
        let body = request.expect_json();
        let messages = body["messages"].as_array();
        let said = messages.and_then(|messages| messages.last());
        let said = said.map(|said| said["content"].to_string());
        said.is_some_and(|said| said.trim_end_matches(['"', '}', ']']).ends_with(last))
    });
    ends.count()
}

fn count(rows: &[String], wanted: &str) -> usize {
    rows.iter().filter(|row| row.contains(wanted)).count()
}

/// A conversation whose first answer never comes, and messages that are answered when they are said.
fn in_a_row(held: &Gate) -> Scenario {
    let never = Gate::new();
    Scenario::new()
        .reply(Step::new(text("never heard")).when_call(1).held(&never))
        .reply(Step::new(text("Never mind.")).when_last("never mind"))
        .reply(Step::new(text("Beta done.")).when_last("beta two"))
        .reply(
            Step::new(text("Alpha done."))
                .when_last("alpha one")
                .held(held),
        )
}

// AG-34, CL-18
#[test]
fn messages_that_wait_on_the_screen_are_said_once_and_in_order_after_a_kill() {
    let held = Gate::new();
    let server = ModelServer::start(in_a_row(&held)).unwrap();
    let program = quiet(&server, "");
    let terminal = start(&program, &["chat"]);
    terminal.wait_for_text(READY, LIMIT).unwrap();
    terminal.send("begin\r").unwrap();
    server.wait_for_requests(1, LIMIT).unwrap();
    for message in ["alpha one", "beta two"] {
        terminal.send(&format!("/queue {message}\r")).unwrap();
        let waits = format!("⋯ {message}");
        terminal.wait_for_text(&waits, LIMIT).unwrap();
    }
    killed(terminal);
    assert_eq!(said(&program), ["begin"]);
    let terminal = start(&program, &["chat", "--continue"]);
    terminal
        .wait_for_text("2 messages waited here", LIMIT)
        .unwrap();
    // The first is said, and the other one waits for its answer as it did before.
    terminal.wait_for_text("● alpha one", LIMIT).unwrap();
    terminal.wait_for_text("⋯ beta two", LIMIT).unwrap();
    held.open();
    terminal.wait_for_text("Alpha done.", LIMIT).unwrap();
    terminal.wait_for_text("Beta done.", LIMIT).unwrap();
    terminal.wait_for_text(READY, LIMIT).unwrap();
    leave(&terminal);
    assert_eq!(said(&program), ["begin", "alpha one", "beta two"]);
    assert_eq!(asked(&server, "alpha one"), 1);
    assert_eq!(asked(&server, "beta two"), 1);
    // There is nothing left to say.
    let terminal = start(&program, &["chat", "--continue"]);
    let shown = terminal.wait_for_text(READY, LIMIT).unwrap();
    assert!(!shown.contains("waited here"), "{shown}");
    leave(&terminal);
}

// AG-34, CL-18
#[test]
fn messages_that_wait_at_the_prompt_are_said_once_and_in_order_after_a_kill() {
    let held = Gate::new();
    let server = ModelServer::start(in_a_row(&held)).unwrap();
    let program = quiet(&server, "");
    let terminal = start(&program, &["chat", "--plain"]);
    terminal.wait_for_text("Ctrl+D ends.", LIMIT).unwrap();
    terminal.send("begin\r").unwrap();
    server.wait_for_requests(1, LIMIT).unwrap();
    // One is queued by name. The other is a line like any; the remark behind it tells that it was read.
    terminal.send("/queue alpha one\r").unwrap();
    terminal.wait_for_text(KEPT_AT_PROMPT, LIMIT).unwrap();
    terminal.send("beta two\r/steer never mind\r").unwrap();
    terminal
        .wait_for_text("before its next step]", LIMIT)
        .unwrap();
    killed(terminal);
    assert_eq!(said(&program), ["begin"]);
    let id = session(&program);
    let terminal = start(&program, &["chat", "--plain", "--resume", &id]);
    for waits in ["⋯ alpha one", "⋯ beta two", "⋯ never mind"] {
        terminal.wait_for_text(waits, LIMIT).unwrap();
    }
    terminal.wait_for_text("> alpha one", LIMIT).unwrap();
    // A kill while the first is answered: it is part of the conversation, the others still wait.
    server.wait_for_requests(2, LIMIT).unwrap();
    killed(terminal);
    assert_eq!(said(&program), ["begin", "alpha one"]);
    let terminal = start(&program, &["chat", "--plain", "--resume", &id]);
    terminal.wait_for_text("Beta done.", LIMIT).unwrap();
    terminal.wait_for_text("> never mind", LIMIT).unwrap();
    terminal.wait_for_text("Never mind.", LIMIT).unwrap();
    killed(terminal);
    let all = ["begin", "alpha one", "beta two", "never mind"];
    assert_eq!(said(&program), all);
    assert_eq!(asked(&server, "alpha one"), 1);
    assert_eq!(asked(&server, "beta two"), 1);
}

// AG-34: wherever the kill comes between the end of one turn and the answer of the next.
#[test]
fn a_kill_between_two_turns_neither_loses_nor_doubles_what_waits() {
    for trial in 0..6u64 {
        let first = Gate::new();
        let scenario = Scenario::new()
            .reply(Step::new(text("First done.")).when_call(1).held(&first))
            .reply(Step::new(text("That is all.")).when_last("and now"))
            .reply(
                Step::new(text("Alpha done."))
                    .when_last("alpha one")
                    .repeat(),
            );
        let server = ModelServer::start(scenario).unwrap();
        let program = quiet(&server, "");
        let terminal = start(&program, &["chat", "--plain"]);
        terminal.wait_for_text("Ctrl+D ends.", LIMIT).unwrap();
        terminal.send("begin\r").unwrap();
        server.wait_for_requests(1, LIMIT).unwrap();
        terminal.send("/queue alpha one\r").unwrap();
        terminal.wait_for_text(KEPT_AT_PROMPT, LIMIT).unwrap();
        first.open();
        // Kills land before, in and behind the step that takes it.
        std::thread::sleep(Duration::from_millis(4 * trial));
        killed(terminal);
        let terminal = start(&program, &["chat", "--plain", "--continue"]);
        terminal.wait_for_text("Ctrl+D ends.", LIMIT).unwrap();
        terminal.send("and now?\r").unwrap();
        terminal.wait_for_text("That is all.", LIMIT).unwrap();
        leave(&terminal);
        let said = said(&program);
        assert_eq!(count(&said, "alpha one"), 1, "{trial}: {said:?}");
        assert!(asked(&server, "alpha one") <= 1, "{trial}: {said:?}");
        let last = server.requests().last().unwrap().expect_json().to_string();
        assert_eq!(last.matches("alpha one").count(), 1, "{trial}: {last}");
    }
}

// AG-34: a remark that no call of the model saw is a message; one that was seen is no news.
#[test]
fn a_remark_survives_a_kill_and_one_that_was_heard_is_not_made_again() {
    let (first, never) = (Gate::new(), Gate::new());
    let scenario = Scenario::new()
        .reply(
            Step::new(text("never heard"))
                .when_last("begin")
                .held(&never),
        )
        .reply(
            Step::new(tool_call("todo", json!({})))
                .when_last("\"mind the gap")
                .held(&first),
        )
        .reply(
            Step::new(text("never heard"))
                .when_body("and the step")
                .held(&never),
        );
    let server = ModelServer::start(scenario).unwrap();
    let program = quiet(&server, "");
    let terminal = start(&program, &["chat"]);
    terminal.wait_for_text(READY, LIMIT).unwrap();
    terminal.send("begin\r").unwrap();
    server.wait_for_requests(1, LIMIT).unwrap();
    terminal.send("/steer mind the gap\r").unwrap();
    terminal.wait_for_text("● mind the gap", LIMIT).unwrap();
    killed(terminal);
    assert_eq!(said(&program), ["begin"]);
    let terminal = start(&program, &["chat", "--continue"]);
    terminal
        .wait_for_text("One message waited here", LIMIT)
        .unwrap();
    server.wait_for_requests(2, LIMIT).unwrap();
    assert_eq!(said(&program), ["begin", "mind the gap"]);
    terminal.send("/steer and the step\r").unwrap();
    terminal.wait_for_text("● and the step", LIMIT).unwrap();
    first.open();
    server.wait_for_requests(3, LIMIT).unwrap();
    killed(terminal);
    let before = said(&program);
    assert_eq!(count(&before, "and the step"), 1, "{before:?}");
    let terminal = start(&program, &["chat", "--continue"]);
    let shown = terminal.wait_for_text(READY, LIMIT).unwrap();
    assert!(!shown.contains("waited here"), "{shown}");
    leave(&terminal);
    assert_eq!(said(&program), before);
}

// AG-34: who leaves is told, and a single question in between says nothing else.
#[test]
fn what_waits_when_the_program_is_left_is_said_when_it_is_gone_on_with() {
    let scenario = Scenario::new()
        .reply(
            Step::new(text("never heard"))
                .when_last("begin")
                .held(&Gate::new()),
        )
        .reply(Step::new(text("Just so.")).when_last("and now"))
        .reply(Step::new(text("Alpha done.")).when_last("alpha one"));
    let server = ModelServer::start(scenario).unwrap();
    let program = quiet(&server, "");
    let terminal = start(&program, &["chat"]);
    terminal.wait_for_text(READY, LIMIT).unwrap();
    terminal.send("begin\r").unwrap();
    server.wait_for_requests(1, LIMIT).unwrap();
    terminal.send("/queue alpha one\r").unwrap();
    terminal.wait_for_text("⋯ alpha one", LIMIT).unwrap();
    leave(&terminal);
    let told = terminal.everything().join("\n");
    assert!(told.contains("One message was not said yet"), "{told}");
    let id = session(&program);
    let answer = program.run(&["-z", "and now?", "--resume", &id]).ok();
    assert_eq!(answer.stdout, "Just so.\n");
    assert_eq!(said(&program), ["begin", "and now?"]);
    let terminal = start(&program, &["chat", "--continue"]);
    terminal.wait_for_text("Alpha done.", LIMIT).unwrap();
    leave(&terminal);
    assert_eq!(said(&program), ["begin", "and now?", "alpha one"]);
    let told = terminal.everything().join("\n");
    assert!(!told.contains("not said yet"), "{told}");
}
