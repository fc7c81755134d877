//! Shortening a conversation at the terminal.

use std::time::Duration;

use hermes_testkit::model_server::{ModelServer, Scenario, Step, text};
use hermes_testkit::pty::Terminal;
use serde_json::Value as Json;

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

// AG-43 CL-21
#[test]
fn compress_previews_without_a_change_and_keeps_the_exchanges_that_are_named() {
    let limit = Duration::from_secs(30);
    let settings = "auxiliary: {title_generation: {enabled: false}}\n";
    let (server, _program, terminal) = long_talk(settings);
    let calls = || {
        let all = server.requests().into_iter();
        all.filter(|request| request.method == "POST").count()
    };
    terminal.wait_for_text("Ctrl+D ends", limit).unwrap();
    let before = calls();
    terminal.send("/compress --preview\r").unwrap();
    terminal
        .wait_for_text("A summary would stand for", limit)
        .unwrap();
    terminal.send("/compress here and there\r").unwrap();
    terminal
        .wait_for_text("and there is no number of exchanges", limit)
        .unwrap();
    assert!(!terminal.screen().contains("was shortened"));
    assert_eq!(calls(), before, "nobody was asked for a summary");
    terminal.send("/compress here 2\r").unwrap();
    terminal.wait_for_text("was shortened", limit).unwrap();
    terminal.send("One more thing\r").unwrap();
    terminal.wait_for_text("so it goes", limit).unwrap();
    terminal.send("/exit\r").unwrap();
    assert_eq!(terminal.wait_exit(limit).unwrap().code, 0);
    let requests = server.requests();
    let mut sent = requests
        .iter()
        .filter(|request| request.method == "POST")
        .map(|request| request.expect_json());
    let asks = |body: &&Json| {
        let last = body["messages"].as_array().and_then(|all| all.last());
        last.is_some_and(|last| last["content"] == "One more thing")
    };
    let last = sent.find(asks).unwrap();
    let messages = last["messages"].as_array().unwrap();
    let asked = |part: u32| {
        let words = format!("part {part} of the shed");
        // The first of them stands behind the summary in one message: the two are one turn of the user.
        let is_last = |message: &Json| {
            let content = message["content"].as_str().unwrap_or_default();
            message["role"] == "user" && content.ends_with(&words)
        };
        messages.iter().any(is_last)
    };
    assert!(asked(6) && asked(7), "{last}");
    assert!(!asked(4) && !asked(5), "{last}");
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
