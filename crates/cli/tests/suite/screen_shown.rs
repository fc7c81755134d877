//! Settings that say what is shown of a turn, and how.

use std::time::Duration;

use hermes_testkit::model_server::{ModelServer, Scenario, Step, text, tool_call};
use hermes_testkit::pty::Screen;
use serde_json::json;

use super::screen::{LIMIT, READY, leave, open, quiet};

/// Says something, calls a tool and answers.
fn remarking() -> ModelServer {
    let call = tool_call("terminal", json!({"command": "echo printed-line"}));
    let scenario = Scenario::new()
        .reply(call.text("I look into it."))
        .reply(text("It was nothing."));
    ModelServer::start(scenario).unwrap()
}

#[test]
fn remarks_before_calls_are_shown_unless_they_are_not_wanted() {
    for (wanted, mode) in [(true, "cli"), (false, "cli"), (true, "tui"), (false, "tui")] {
        let server = remarking();
        let program = quiet(
            &server,
            &format!(
                "approvals: {{mode: 'off'}}\ndisplay: {{interface: {mode}, show_commentary: {wanted}}}\n"
            ),
        );
        let terminal = open(&program, 100, 40);
        terminal.send("what is it?\r").unwrap();
        terminal.wait_for_text("It was nothing.", LIMIT).unwrap();
        let screen = terminal.wait_for_text(READY, LIMIT).unwrap();
        assert_eq!(screen.contains("I look into it."), wanted, "{screen}");
        assert!(screen.contains("echo printed-line"), "{screen}");
        leave(&terminal);
    }
}

#[test]
fn an_answer_is_shown_when_it_is_complete_where_it_is_not_to_be_seen_growing() {
    for mode in ["cli", "tui"] {
        let answer = Step::new(text("Beginning of it and the end."))
            .chunk_chars(10)
            .pace(Duration::from_millis(300));
        let server = ModelServer::start(Scenario::new().reply(answer)).unwrap();
        let program = quiet(
            &server,
            &format!("display: {{interface: {mode}, streaming: false}}\n"),
        );
        let terminal = open(&program, 100, 40);
        terminal.send("go\r").unwrap();
        let whole = |screen: &Screen| {
            let rows = screen.rows();
            let begun = rows.iter().find(|row| row.contains("Beginning"));
            begun.is_some_and(|row| {
                assert!(row.contains("Beginning of it and the end."), "{screen}");
                true
            })
        };
        terminal.wait_for(whole, LIMIT).unwrap();
        terminal.wait_for_text(READY, LIMIT).unwrap();
        leave(&terminal);
    }
}

#[test]
fn a_turn_without_an_answer_is_explained_unless_that_is_not_wanted() {
    for wanted in [true, false] {
        let scenario = Scenario::new()
            .reply(Step::new(text("")).repeat())
            .lenient();
        let server = ModelServer::start(scenario).unwrap();
        let more = format!("display: {{turn_completion_explainer: {wanted}}}\n");
        let program = quiet(&server, &more);
        let terminal = open(&program, 100, 40);
        terminal.send("say something\r").unwrap();
        let said = match wanted {
            true => "the model said nothing",
            false => "· no answer",
        };
        terminal.wait_for_text(said, 2 * LIMIT).unwrap();
        let screen = terminal.wait_for_text(READY, LIMIT).unwrap();
        assert_eq!(screen.contains("ask in another way"), wanted, "{screen}");
        leave(&terminal);
    }
}

#[test]
fn what_moves_while_the_agent_works_can_be_chosen() {
    let endless = || Step::new(text("never said")).hang_after(0);
    let scenario = Scenario::new().reply(endless()).reply(endless()).lenient();
    let server = ModelServer::start(scenario).unwrap();
    let program = quiet(&server, "display: {tui_status_indicator: ascii}\n");
    let terminal = open(&program, 100, 40);
    let moves = |signs: &'static [&'static str]| {
        for sign in signs {
            let seen = |screen: &Screen| {
                let moving = |row: &&String| row.starts_with(sign) && row.contains('…');
                screen.rows().iter().filter(moving).count() == 1
            };
            terminal.wait_for(seen, LIMIT).unwrap();
        }
    };
    terminal.send("go\r").unwrap();
    moves(&["| ", "/ ", "- "]);
    terminal.send("/indicator unicode\r").unwrap();
    moves(&["⠹ ", "⠼ "]);
    terminal.send("/indicator nonsense\r").unwrap();
    terminal
        .wait_for_text("/indicator kaomoji, emoji, unicode or ascii", LIMIT)
        .unwrap();
    terminal.send("\x03\x03").unwrap();
    assert_eq!(terminal.wait_exit(LIMIT).unwrap().code, 0);
}

/// The last row with something in it.
fn bar(screen: &Screen) -> String {
    let rows = screen.rows();
    let row = rows.iter().rfind(|row| !row.is_empty());
    row.cloned().unwrap_or_default()
}

// CL-23
#[test]
fn the_bar_stands_still_where_nothing_happens_and_that_is_wanted() {
    let server = ModelServer::start(Scenario::new().reply(text("Hello."))).unwrap();
    let program = quiet(&server, "display: {cli_refresh_interval: 0}\n");
    let terminal = open(&program, 110, 30);
    terminal.send("hello\r").unwrap();
    terminal.wait_for_text("Hello.", LIMIT).unwrap();
    terminal.wait_for_text(READY, LIMIT).unwrap();
    // What is done behind the answer may still change something.
    std::thread::sleep(Duration::from_millis(500));
    let (before, received) = (bar(&terminal.screen()), terminal.received());
    std::thread::sleep(Duration::from_millis(2_500));
    let after = (bar(&terminal.screen()), terminal.received());
    assert_eq!(after, (before.clone(), received));
    // A key is something that happens.
    terminal.send("x").unwrap();
    terminal
        .wait_for(|screen| bar(screen) != before, LIMIT)
        .unwrap();
    terminal.send("\x03").unwrap();
    leave(&terminal);
}

#[test]
fn the_screen_is_drawn_anew_with_the_end_of_what_was_said() {
    for (settings, kept) in [("", 20), ("display: {persistent_output: false}\n", 0)] {
        let answer: String = (0..20)
            .map(|number| format!("- point {number}.\n"))
            .collect();
        let server = ModelServer::start(Scenario::new().reply(text(answer))).unwrap();
        let program = quiet(&server, settings);
        let terminal = open(&program, 100, 24);
        terminal.send("tell me\r").unwrap();
        terminal.wait_for_text("point 19.", LIMIT).unwrap();
        terminal.wait_for_text(READY, LIMIT).unwrap();
        let seen = terminal.received();
        terminal.send("\x0c").unwrap();
        let drawn = |screen: &Screen| screen.contains(READY);
        terminal.wait_past(Some(seen + 24), drawn, LIMIT).unwrap();
        let everything = terminal.everything().join("\n");
        assert_eq!(everything.matches(READY).count(), 1, "{everything}");
        let points = |text: &str| {
            (0..20)
                .filter(|n| text.contains(&format!("point {n}.")))
                .count()
        };
        let screen = terminal.screen();
        match kept {
            0 => assert_eq!(points(&screen.text()), 0, "{screen}"),
            _ => assert_eq!(points(&screen.text()), kept, "{screen}"),
        }
        leave(&terminal);
    }
}

#[test]
fn what_a_written_file_changes_is_shown_and_not_told_to_the_model() {
    let write = |content: &str| {
        tool_call(
            "write_file",
            json!({"path": "note.txt", "content": content}),
        )
    };
    let scenario = Scenario::new()
        .reply(write("first line\nsecond line\n"))
        .reply(write("first line\nanother line\n"))
        .reply(text("It is written."));
    let server = ModelServer::start(scenario).unwrap();
    let program = quiet(&server, "approvals: {mode: 'off'}\n");
    let terminal = open(&program, 100, 40);
    terminal.send("write it\r").unwrap();
    terminal.wait_for_text("It is written.", LIMIT).unwrap();
    let screen = terminal.wait_for_text(READY, LIMIT).unwrap();
    let shows = |sign: char, words: &str| {
        let rows = screen.rows();
        rows.iter()
            .any(|row| row.contains(words) && row.contains(sign))
    };
    assert!(shows('+', "first line"), "{screen}");
    assert!(shows('-', "second line"), "{screen}");
    assert!(shows('+', "another line"), "{screen}");
    let last = server.requests().last().unwrap().expect_json().to_string();
    assert!(last.contains("bytes_written"), "{last}");
    assert!(!last.contains("b/note.txt"), "{last}");
    assert!(!last.contains("+another line"), "{last}");
    leave(&terminal);
}
