//! What a conversation is shown after it was shortened.

use std::time::Duration;

use hermes_testkit::model_server::{ModelServer, Scenario, Step, text, tool_call};
use hermes_testkit::pty::Terminal;

use super::add;
use crate::suite::chat::with_model;

const LIMIT: Duration = Duration::from_secs(60);

// LN-3
#[test]
fn after_a_compaction_the_prompt_shows_what_was_remembered_since() {
    let long = format!("Noted. {}", "so it goes. ".repeat(900));
    let scenario = Scenario::new()
        .reply(Step::new(tool_call("memory", add("Ana likes oak."))).when_user("remember"))
        .reply(Step::new(text("Goal: a shed.")).when_no_tools().repeat())
        .reply(Step::new(text(long)).repeat());
    let server = ModelServer::start(scenario).unwrap();
    let program = with_model(&server.base_url());
    let started = program.run(&["chat", "-Q", "-q", "remember the oak"]).ok();
    let session = started.stderr.trim().strip_prefix("session_id: ").unwrap();
    for part in 0..8 {
        let question = format!("part {part} of the shed");
        program.run(&["-z", &question, "--resume", session]).ok();
    }
    let prompts = || -> Vec<String> {
        let requests = server.requests().into_iter();
        let talks = requests.filter(|request| request.expect_json()["tools"].is_array());
        talks
            .map(|request| {
                let body = request.expect_json();
                body["messages"][0]["content"].as_str().unwrap().to_owned()
            })
            .collect()
    };
    let before = prompts();
    assert!(
        before
            .iter()
            .all(|prompt| !prompt.contains("Ana likes oak."))
    );
    let command = program.command(&["chat", "--plain", "--resume", session]);
    let screen = Terminal::spawn(&command, 120, 60).unwrap();
    screen.wait_for_text("Ctrl+D ends", LIMIT).unwrap();
    screen.send("/compress\r").unwrap();
    screen.wait_for_text("was shortened", LIMIT).unwrap();
    let seen = server.requests().len();
    screen.send("One more thing\r").unwrap();
    server.wait_for_requests(seen + 1, LIMIT).unwrap();
    screen.send("/exit\r").unwrap();
    screen.wait_exit(LIMIT).unwrap();
    let after = prompts();
    assert!(after.len() > before.len());
    let last = after.last().unwrap();
    assert!(last.contains("Ana likes oak."), "{last}");
    // From here on it is as frozen as before.
    program.run(&["-z", "and now?", "--resume", session]).ok();
    assert_eq!(prompts().last().unwrap(), last);
}
