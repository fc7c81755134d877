//! Commands and settings that change what the screen shows.

use hermes_testkit::model_server::{ModelServer, Scenario, Step, text, tool_call};
use hermes_testkit::pty::Screen;
use serde_json::json;

use super::screen::{LIMIT, READY, leave, open, quiet};

/// The last row with something in it.
fn bottom(screen: &Screen) -> String {
    let rows = screen.rows();
    let row = rows.iter().rfind(|row| !row.is_empty());
    row.cloned().unwrap_or_default()
}

/// A time of day at the end of a row.
fn is_stamped(row: &str) -> bool {
    let end: Vec<char> = row.trim_end().chars().rev().take(5).collect();
    matches!(end.as_slice(), [a, b, ':', c, d] if [a, b, c, d].iter().all(|c| c.is_ascii_digit()))
}

// CL-21 CL-23
#[test]
fn the_bar_times_and_busy_messages_are_switched_by_commands() {
    let scenario = Scenario::new()
        .reply(text("First answer."))
        .reply(text("Second answer."))
        .reply(Step::new(text("words and more words")).hang_after(2));
    let server = ModelServer::start(scenario).unwrap();
    let program = quiet(&server, "");
    let terminal = open(&program, 100, 30);
    terminal
        .wait_for(|screen| bottom(screen).contains("scripted"), LIMIT)
        .unwrap();
    terminal.send("/statusbar\r").unwrap();
    terminal
        .wait_for(|screen| !screen.contains("scripted │"), LIMIT)
        .unwrap();
    terminal.send("/statusbar\r").unwrap();
    terminal
        .wait_for(|screen| bottom(screen).contains("scripted"), LIMIT)
        .unwrap();
    let stamped = |screen: &Screen, words: &str| {
        let rows = screen.rows();
        let row = rows.iter().rfind(|row| row.contains(words));
        row.is_some_and(|row| is_stamped(row))
    };
    terminal.send("one\r").unwrap();
    terminal.wait_for_text("First answer.", LIMIT).unwrap();
    let screen = terminal.wait_for_text(READY, LIMIT).unwrap();
    assert!(!stamped(&screen, "● one"), "{screen}");
    terminal.send("/timestamps on\r").unwrap();
    terminal
        .wait_for_text("times of messages are shown", LIMIT)
        .unwrap();
    terminal.send("two\r").unwrap();
    terminal.wait_for_text("Second answer.", LIMIT).unwrap();
    let screen = terminal.wait_for_text(READY, LIMIT).unwrap();
    assert!(stamped(&screen, "● two"), "{screen}");
    terminal.send("/timestamps off\r").unwrap();
    terminal
        .wait_for_text("times of messages are hidden", LIMIT)
        .unwrap();
    terminal.send("/busy nonsense\r").unwrap();
    terminal
        .wait_for_text("/busy interrupt, queue or steer", LIMIT)
        .unwrap();
    terminal.send("/busy queue\r").unwrap();
    terminal
        .wait_for_text("a message waits for the end; Esc stops", LIMIT)
        .unwrap();
    terminal.send("three\r").unwrap();
    terminal.wait_for_text("words and", LIMIT).unwrap();
    terminal.send("later\r").unwrap();
    let screen = terminal.wait_for_text("⋯ later", LIMIT).unwrap();
    assert!(!screen.contains("stopped"), "{screen}");
    terminal.send("\x03\x03").unwrap();
    assert_eq!(terminal.wait_exit(LIMIT).unwrap().code, 0);
}

// CL-31
#[test]
fn details_are_hidden_and_unfolded_by_a_command() {
    let call = tool_call("terminal", json!({"command": "echo printed-$((40 + 2))"}));
    let scenario = Scenario::new().reply(call).reply(text("It ran."));
    let server = ModelServer::start(scenario).unwrap();
    let program = quiet(
        &server,
        "approvals: {mode: 'off'}\ndisplay: {interface: tui}\n",
    );
    let terminal = open(&program, 100, 30);
    terminal.send("go\r").unwrap();
    terminal.wait_for_text("It ran.", LIMIT).unwrap();
    let screen = terminal.wait_for_text(READY, LIMIT).unwrap();
    assert!(screen.contains("echo printed-$((40 + 2))"), "{screen}");
    assert!(!screen.contains("printed-42"), "{screen}");
    terminal.send("/details tools expanded\r").unwrap();
    terminal.wait_for_text("printed-42", LIMIT).unwrap();
    terminal.send("/details tools hidden\r").unwrap();
    terminal
        .wait_for(|screen| !screen.contains("echo printed-"), LIMIT)
        .unwrap();
    terminal.send("/details nonsense\r").unwrap();
    terminal
        .wait_for_text("/details [thinking|tools", LIMIT)
        .unwrap();
    leave(&terminal);
}

// CL-20
#[test]
fn calls_are_shown_as_far_as_the_settings_say() {
    for (progress, calls) in [("all", 3), ("new", 2), ("off", 0)] {
        let run = |word: &str| tool_call("terminal", json!({"command": format!("echo {word}")}));
        let read = tool_call("read_file", json!({"path": "echo.txt"}));
        let scenario = Scenario::new()
            .reply(run("one"))
            .reply(run("two"))
            .reply(read)
            .reply(text("All done."));
        let server = ModelServer::start(scenario).unwrap();
        let settings =
            format!("approvals: {{mode: 'off'}}\ndisplay: {{tool_progress: '{progress}'}}\n");
        let program = quiet(&server, &settings);
        program.home.write_work("echo.txt", "words").unwrap();
        let terminal = open(&program, 100, 30);
        terminal.send("go\r").unwrap();
        terminal.wait_for_text("All done.", LIMIT).unwrap();
        let screen = terminal.wait_for_text(READY, LIMIT).unwrap();
        let rows = screen.rows();
        let shown = rows
            .iter()
            .filter(|row| row.contains("┊") && row.contains("echo"));
        assert_eq!(shown.count(), calls, "{progress}: {screen}");
        leave(&terminal);
    }
}
