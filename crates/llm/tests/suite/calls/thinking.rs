//! Thinking that a provider turns down, and what later requests hold of it.

use hermes_core::ModelRequest;
use hermes_llm::{Quirks, ReasoningReplay};
use serde_json::Value as Json;

use super::*;

/// A question, one call of a tool and its result, as this server answered it.
async fn one_round(lab: &Lab, course: &mut Course) -> ModelRequest {
    let (end, _) = lab.call(course, &question()).await;
    let mut history = vec![user("What is in a.txt?")];
    history.extend(kept(&answered(end)));
    request(history)
}

fn refused(message: &str) -> Step {
    error(400).message(message).into()
}

fn thoughtful() -> Step {
    tool_call("look", json!({"path": "a.txt"}))
        .reasoning("Look first.")
        .signature("seal")
        .into()
}

fn thinking_of(server: &ModelServer, request: usize) -> Option<Json> {
    let body = server.requests()[request].expect_json().clone();
    body.get("thinking").cloned()
}

// AG-20
#[tokio::test]
async fn a_loop_whose_seal_is_refused_goes_on_without_thinking() {
    let server = serve([
        thoughtful(),
        refused("messages.1.content.0: Invalid `signature` in `thinking` block"),
        text("It says hello.").into(),
        text("Gladly.").into(),
    ]);
    let lab = Lab::new();
    let mut course = course(&Route {
        model: "claude-sonnet-4-5".to_owned(),
        ..lab.route(WireProtocol::Anthropic, &server)
    });
    let mut asked = one_round(&lab, &mut course).await;
    let (end, _) = lab.call(&mut course, &asked).await;
    let said = answered(end);
    assert_eq!(said.text, "It says hello.");
    for message in [said.to_message(Vec::new()), user("Once more?")] {
        asked.messages.push(Arc::new(message));
    }
    let (end, _) = lab.call(&mut course, &asked).await;
    assert_eq!(answered(end).text, "Gladly.");
    server.assert_done();
    let thinks = [0, 1, 2, 3].map(|request| thinking_of(&server, request).is_some());
    assert_eq!(thinks, [true, true, false, true]);
}

// AG-20
#[tokio::test]
async fn a_provider_that_insists_on_thinking_gets_it_after_another_refused_its_own() {
    let refusing = serve([
        thoughtful(),
        refused("The encrypted content for item rs_1 could not be verified."),
        error(404)
            .message("The model `gpt-5.2` does not exist")
            .into(),
    ]);
    let known = Scenario::new().extra_keys(["reasoning_content"]);
    let insisting = ModelServer::start(known.reply(text("It says hello."))).unwrap();
    let lab = Lab::new();
    let first = lab.route(WireProtocol::Responses, &refusing);
    let second = Route {
        quirks: Arc::new(Quirks {
            replay: ReasoningReplay::Content,
            ..Quirks::default()
        }),
        ..route("other", CHAT, &insisting)
    };
    lab.keys("other", &insisting, &["sk-other"]);
    let mut course = chain([first, second]);
    let asked = one_round(&lab, &mut course).await;
    let (end, heard) = lab.call(&mut course, &asked).await;
    assert_eq!(
        (answered(end).text.as_str(), heard.changes()),
        ("It says hello.", 1)
    );
    refusing.assert_done();
    let body = insisting.requests()[0].expect_json().clone();
    let rows = body["messages"].as_array().unwrap();
    let spoken: Vec<&Json> = rows
        .iter()
        .filter(|row| row["role"] == "assistant")
        .map(|row| &row["reasoning_content"])
        .collect();
    assert_eq!(spoken, [&json!(" ")]);
}
