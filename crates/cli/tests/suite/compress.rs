//! Shortening a conversation at the terminal.

use std::time::Duration;

use hermes_testkit::model_server::{ModelServer, Scenario, Step, text};
use hermes_testkit::pty::Terminal;

use super::chat::with_model;
use super::program::Program;

/// A conversation that is long enough to be shortened, at a terminal.
fn long_talk(settings: &str) -> (ModelServer, Program, Terminal) {
    let summary = "Goal: a shed. Done: the walls.";
    let scenario = Scenario::new()
        .reply(Step::new(text(summary)).when_no_tools().repeat())
        .reply(Step::new(text(format!("Noted. {}", "so it goes. ".repeat(900)))).repeat());
    let server = ModelServer::start(scenario).unwrap();
    let program = with_model(&server.base_url());
    let config = format!("{}{settings}", program.home.read("config.yaml").unwrap());
    program.home.write_config(&config).unwrap();
    // The first one says which session is meant from here on.
    let started = program.run(&["chat", "-Q", "-q", "the shed"]).ok();
    let session = started.stderr.trim().strip_prefix("session_id: ").unwrap();
    for part in 0..8 {
        let question = format!("part {part} of the shed");
        program.run(&["-z", &question, "--resume", session]).ok();
    }
    let command = program.command(&["chat", "--plain", "--resume", session]);
    let terminal = Terminal::spawn(&command, 120, 60).unwrap();
    (server, program, terminal)
}

// AG-43
#[test]
fn compress_shortens_the_conversation_and_dwells_on_what_is_named() {
    let limit = Duration::from_secs(30);
    let (server, _program, terminal) = long_talk("");
    terminal.wait_for_text("Ctrl+D ends", limit).unwrap();
    terminal.send("/compress the green roof\r").unwrap();
    terminal.wait_for_text("was shortened", limit).unwrap();
    let asked = server
        .requests()
        .into_iter()
        .find(|request| String::from_utf8_lossy(&request.body).contains("the green roof"));
    assert!(asked.is_some(), "the focus reaches the summary");
    terminal.send("/exit\r").unwrap();
    assert_eq!(terminal.wait_exit(limit).unwrap().code, 0);
}

// AG-43
#[test]
fn a_conversation_that_goes_on_in_another_session_is_gone_on_with_there() {
    let limit = Duration::from_secs(30);
    let (_server, program, terminal) = long_talk("compression: {in_place: false}\n");
    terminal.wait_for_text("Ctrl+D ends", limit).unwrap();
    terminal.send("/compress\r").unwrap();
    terminal
        .wait_for_text("the conversation goes on as", limit)
        .unwrap();
    let word_after = |mark: &str| {
        let page = terminal.screen().text();
        let (_, rest) = page.rsplit_once(mark).unwrap();
        rest.split_whitespace().next().unwrap().to_owned()
    };
    // The answer is long: what stands on the screen now will be gone.
    let changed = word_after("goes on as");
    terminal.send("One more thing\r").unwrap();
    terminal.wait_for_text("so it goes", limit).unwrap();
    terminal.send("/exit\r").unwrap();
    terminal
        .wait_for_text("hermes chat --resume", limit)
        .unwrap();
    let resume = word_after("chat --resume");
    assert_eq!(changed, resume);
    assert_eq!(terminal.wait_exit(limit).unwrap().code, 0);
    let shown = program.run(&["sessions", "show", &resume]).ok().stdout;
    assert!(shown.contains("One more thing"), "{shown}");
}
