//! Messages in other words, for a memory that is asked about them.

use std::time::Duration;

use hermes_testkit::eventually;
use hermes_testkit::model_server::{Scenario, Step, text};
use hermes_testkit::pty::Terminal;
use serde_json::json;

use super::external::{KEY, home, honcho};

const LIMIT: Duration = Duration::from_secs(60);

// LN-38
#[test]
fn a_model_puts_messages_into_other_words_behind_the_answer() {
    let service = honcho();
    let chat = "POST /v3/workspaces/*/peers/*/chat";
    service
        .on("GET /v3/workspaces/*/sessions/*/context", json!({}))
        .on(chat, json!({"content": "Likes Lapsang."}));
    let words = Step::new(text("Which tea does the user like?"));
    let scenario = Scenario::new()
        .reply(words.when_system("put to a memory of this user").repeat())
        .reply(Step::new(text("Lapsang it is.")).repeat())
        .lenient();
    let (_server, program) = home(scenario, "honcho", "");
    let file = json!({
        "baseUrl": service.url(), "apiKey": KEY, "queryRewrite": true, "sessionStrategy": "global",
    });
    program.home.write("honcho.json", file.to_string()).unwrap();
    let screen = Terminal::spawn(&program.command(&["chat", "--plain"]), 120, 60).unwrap();
    screen.wait_for_text("Ctrl+D ends", LIMIT).unwrap();
    screen.send("hm, tea?\r").unwrap();
    screen.wait_for_text("Lapsang it is.", LIMIT).unwrap();
    let asked = || {
        let asked = service.to(chat).into_iter();
        let queries: Vec<String> = asked
            .map(|one| one.body["query"].as_str().unwrap().to_owned())
            .collect();
        (queries.len() == 2).then_some(queries)
    };
    let queries = eventually(LIMIT, "the next message is asked about", asked).unwrap();
    let ends = |at: usize, message: &str| queries[at].ends_with(&format!("The message: {message}"));
    assert!(
        ends(0, "hm, tea?"),
        "the first one waits for nobody: {queries:?}"
    );
    assert!(ends(1, "Which tea does the user like?"), "{queries:?}");
    screen.send("/exit\r").unwrap();
    assert_eq!(screen.wait_exit(LIMIT).unwrap().code, 0);
}
