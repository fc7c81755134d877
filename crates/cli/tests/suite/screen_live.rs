//! Several conversations that work at once, and the way from one to another.

use std::time::Duration;

use hermes_testkit::model_server::{Answer, ModelServer, Scenario, Step, text, tool_call};
use hermes_testkit::pty::{Screen, Terminal};
use serde_json::{Value as Json, json};

use super::program::Program;
use super::screen::{LIMIT, READY, leave, quiet};

const BUSY: &str = "a message stops it";

/// A command that prints `step-1`, waits for the file `go` and prints `step-2`; the words are not in it.
fn waits() -> Answer {
    let command =
        "echo step-$((2 - 1)); while [ ! -e go ]; do sleep 0.1; done; echo step-$((1 + 1))";
    tool_call("terminal", json!({ "command": command }))
}

fn full(program: &Program) -> Terminal {
    let command = program.command(&["chat", "--tui"]);
    let command = command.env("TERM", "xterm-256color");
    let terminal = Terminal::spawn(&command, 120, 30).unwrap();
    terminal.wait_for_text(READY, LIMIT).unwrap();
    terminal
}

fn listed(program: &Program) -> Vec<Json> {
    let listed = program.run(&["sessions", "list", "--json"]).ok().stdout;
    serde_json::from_str(&listed).unwrap()
}

/// The id of the conversation in which this was said first.
fn id_of(program: &Program, preview: &str) -> String {
    let all = listed(program);
    let one = all.iter().find(|one| one.to_string().contains(preview));
    one.unwrap_or_else(|| panic!("{all:?}"))["session_id"]
        .as_str()
        .unwrap()
        .to_owned()
}

fn rows(program: &Program, id: &str) -> String {
    program.run(&["sessions", "show", id, "--json"]).ok().stdout
}

// CL-31
#[test]
fn a_turn_goes_on_in_a_conversation_that_was_left_and_is_live_again_on_return() {
    let scenario = Scenario::new()
        .reply(Step::new(waits()).when_user("alpha"))
        .reply(Step::new(text("Beta is answered.")).when_user("beta"))
        .reply(Step::new(text("Alpha is done.")).when_user("alpha"));
    let server = ModelServer::start(scenario).unwrap();
    let program = quiet(&server, "");
    let terminal = full(&program);
    terminal.send("alpha please\r").unwrap();
    terminal.wait_for_text("step-1", LIMIT).unwrap();
    terminal.send("/new now\r").unwrap();
    terminal
        .wait_for_text("Another conversation works on", LIMIT)
        .unwrap();
    // The one in front is idle; the list says which one is not.
    let screen = terminal.wait_for_text(READY, LIMIT).unwrap();
    assert!(!screen.contains("step-1"), "{screen}");
    terminal.wait_for_text("● alpha please", LIMIT).unwrap();
    terminal.send("beta please\r").unwrap();
    terminal.wait_for_text("Beta is answered.", LIMIT).unwrap();
    terminal.wait_for_text(READY, LIMIT).unwrap();
    terminal.send("/sessions\r").unwrap();
    terminal.wait_for_text("● works", LIMIT).unwrap();
    terminal.send("alpha\r").unwrap();
    // Its output is there again, and it still works.
    let back = |screen: &Screen| screen.contains("step-1") && screen.contains(BUSY);
    let screen = terminal.wait_for(back, LIMIT).unwrap();
    assert!(!screen.contains("Beta is answered."), "{screen}");
    program.home.write_work("go", "").unwrap();
    terminal.wait_for_text("Alpha is done.", LIMIT).unwrap();
    terminal.wait_for_text(READY, LIMIT).unwrap();
    // It is said once, and the list marks nothing any more.
    let once = |screen: &Screen| screen.text().matches("● alpha please").count() == 1;
    terminal.wait_for(once, LIMIT).unwrap();
    leave(&terminal);
    // Neither knows of the other.
    let (alpha, beta) = (
        id_of(&program, "alpha please"),
        id_of(&program, "beta please"),
    );
    let (alpha, beta) = (rows(&program, &alpha), rows(&program, &beta));
    assert!(alpha.contains("Alpha is done."), "{alpha}");
    assert!(
        !alpha.contains("beta") && !beta.contains("alpha"),
        "{alpha}\n{beta}"
    );
    assert!(beta.contains("Beta is answered."), "{beta}");
    let last = server.requests().last().unwrap().expect_json().to_string();
    assert!(last.contains("step-2"), "the command ended: {last}");
    for request in server.requests() {
        let body = request.expect_json().to_string();
        assert!(!(body.contains("alpha please") && body.contains("beta please")));
    }
}

// CL-31 CL-19
#[test]
fn a_conversation_that_was_left_still_asks_and_its_end_is_told_without_touching_the_other() {
    let scenario = Scenario::new()
        .reply(Step::new(waits()).when_user("alpha"))
        .reply(
            Step::new(text("Beta goes on and on"))
                .hang_after(2)
                .when_user("beta"),
        )
        .reply(
            Step::new(tool_call(
                "terminal",
                json!({"command": "mkdir gone; rm -r gone"}),
            ))
            .when_user("alpha"),
        )
        .reply(Step::new(text("Alpha is done.")).when_user("alpha"));
    let server = ModelServer::start(scenario).unwrap();
    let program = quiet(&server, "approvals: {mode: manual}\n");
    let terminal = full(&program);
    terminal.send("alpha please\r").unwrap();
    terminal.wait_for_text("step-1", LIMIT).unwrap();
    terminal.send("/new now\r").unwrap();
    terminal
        .wait_for_text("Another conversation works on", LIMIT)
        .unwrap();
    terminal.send("beta please\r").unwrap();
    terminal.wait_for_text("Beta goes", LIMIT).unwrap();
    program.home.write_work("go", "").unwrap();
    // The one behind asks; the answer reaches it, not the one in front.
    let screen = terminal.wait_for_text("rm -r gone", LIMIT).unwrap();
    assert!(
        screen.contains("asked by another conversation, “alpha please”"),
        "{screen}"
    );
    std::thread::sleep(Duration::from_millis(400));
    terminal.send("1").unwrap();
    let screen = terminal
        .wait_for_text("“alpha please” is done", LIMIT)
        .unwrap();
    assert!(!screen.contains("Alpha is done."), "{screen}");
    assert!(
        screen.contains("Beta goes") && screen.contains(BUSY),
        "{screen}"
    );
    let mark = |screen: &Screen| !screen.contains("● alpha please");
    terminal.wait_for(mark, LIMIT).unwrap();
    // Stopping stops the one in front.
    terminal.send("\x1b").unwrap();
    terminal.wait_for_text("stopped", LIMIT).unwrap();
    terminal.wait_for_text(READY, LIMIT).unwrap();
    let alpha = id_of(&program, "alpha please");
    terminal.send(&format!("/resume {alpha}\r")).unwrap();
    terminal.wait_for_text("Alpha is done.", LIMIT).unwrap();
    leave(&terminal);
    let alpha = rows(&program, &alpha);
    assert!(!alpha.contains("beta"), "{alpha}");
}

// CL-31
#[test]
fn the_latest_conversation_comes_up_by_itself_where_that_is_wanted() {
    let server = ModelServer::start(Scenario::new().reply(text("First answer."))).unwrap();
    let program = quiet(&server, "display: {tui_auto_resume_recent: true}\n");
    let start = |variable: Option<&str>, mode: &str| {
        let mut command = program.command(&["chat", mode]);
        command = command.env("TERM", "xterm-256color");
        if let Some(value) = variable {
            command = command.env("HERMES_TUI_RESUME", value);
        }
        let terminal = Terminal::spawn(&command, 120, 30).unwrap();
        terminal.wait_for_text(READY, LIMIT).unwrap();
        terminal
    };
    // There is none yet: that is no reason to fail.
    let terminal = start(None, "--tui");
    terminal.send("first question\r").unwrap();
    terminal.wait_for_text("First answer.", LIMIT).unwrap();
    terminal.wait_for_text(READY, LIMIT).unwrap();
    leave(&terminal);
    let terminal = start(None, "--tui");
    terminal.wait_for_text("First answer.", LIMIT).unwrap();
    leave(&terminal);
    // The variable goes before the setting, and may name one; the line below the history is not concerned.
    let first = id_of(&program, "first question");
    for (variable, mode, there) in [
        (Some("0"), "--tui", false),
        (Some("1"), "--tui", true),
        (Some(first.as_str()), "--tui", true),
        (Some("1"), "--cli", false),
    ] {
        let terminal = start(variable, mode);
        let screen = terminal.screen();
        assert_eq!(
            screen.contains("First answer."),
            there,
            "{variable:?}: {screen}"
        );
        leave(&terminal);
    }
}

// CL-31 CL-21
#[test]
fn a_conversation_that_was_left_shows_the_call_for_a_skill_it_works_on() {
    let scenario = Scenario::new()
        .reply(Step::new(waits()).when_user("alpha"))
        .reply(Step::new(text("Alpha is done.")).when_user("alpha"));
    let server = ModelServer::start(scenario).unwrap();
    let program = quiet(&server, "");
    super::skills::skill(&program, "bake", "Bakes", "", "Heat the oven.");
    let command = program.command(&["chat"]).env("TERM", "xterm-256color");
    let terminal = Terminal::spawn(&command, 110, 40).unwrap();
    terminal.wait_for_text(READY, LIMIT).unwrap();
    terminal.send("/bake alpha please\r").unwrap();
    terminal.wait_for_text("step-1", LIMIT).unwrap();
    terminal.send("/new now\r").unwrap();
    terminal
        .wait_for_text("Another conversation works on", LIMIT)
        .unwrap();
    let id = id_of(&program, "alpha please");
    terminal.send("/clear now\r").unwrap();
    terminal
        .wait_for(|screen| !screen.contains("step-1"), LIMIT)
        .unwrap();
    terminal.send(&format!("/resume {id}\r")).unwrap();
    let back = |screen: &Screen| screen.contains("step-1") && screen.contains(BUSY);
    let screen = terminal.wait_for(back, LIMIT).unwrap();
    assert_eq!(
        screen.text().matches("● alpha please").count(),
        1,
        "{screen}"
    );
    program.home.write_work("go", "").unwrap();
    terminal.wait_for_text("Alpha is done.", LIMIT).unwrap();
    terminal.wait_for_text(READY, LIMIT).unwrap();
    leave(&terminal);
}
