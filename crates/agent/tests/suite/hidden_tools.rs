//! Servers with more tools than a window has room for.

use std::sync::{Arc, Mutex};

use futures_core::future::BoxFuture;
use hermes_config::Automatic;
use hermes_core::{
    Effect, Event, Part, Tool, ToolContext, ToolOutcome, ToolResult, ToolSpec, TurnEnd,
    WireProtocol,
};
use hermes_testkit::model_server::{Scenario, text, tool_call};
use serde_json::{Value as Json, json};

use super::fixture::{Fixture, Scripted};

/// A tool of a server with a long description, which takes down its arguments.
struct Wordy {
    spec: ToolSpec,
    got: Arc<Mutex<Vec<Json>>>,
}

impl Tool for Wordy {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn server(&self) -> Option<&str> {
        Some("paint__and.brushes")
    }

    fn call<'a>(&'a self, arguments: Json, _: &'a ToolContext) -> BoxFuture<'a, ToolOutcome> {
        Box::pin(async move {
            self.got.lock().unwrap().push(arguments);
            Ok(ToolResult {
                content: format!("{} was here", self.spec.name),
                media: Vec::new(),
            })
        })
    }
}

/// A hundred tools, each for another colour of paint.
fn fixture(scenario: Scenario) -> (Fixture, Arc<Mutex<Vec<Json>>>) {
    let got: Arc<Mutex<Vec<Json>>> = Arc::default();
    let mut fixture = Fixture::new(scenario).tool(Scripted::saying("look", "a wall"));
    for number in 0..100 {
        fixture = fixture.tool(Wordy {
            spec: ToolSpec {
                name: format!("mcp__paint__colour_{number}"),
                description: format!("Paints the wall in tone{number}. {}", "Handle with care. ".repeat(40)),
                parameters: json!({"type": "object", "properties": {"layers": {"type": "integer"}}}),
                effect: Effect::Mutating,
            },
            got: Arc::clone(&got),
        });
    }
    (fixture, got)
}

fn offered(fixture: &Fixture) -> Vec<String> {
    let requests = fixture.requests();
    let request = requests[0].expect_json();
    let tools = request["tools"].as_array().unwrap();
    let names = tools
        .iter()
        .map(|tool| tool["function"]["name"].as_str().unwrap());
    names.map(str::to_owned).collect()
}

fn steps() -> Scenario {
    let arguments = json!({"name": "mcp__paint__colour_42", "arguments": {"layers": "2"}});
    Scenario::new()
        .reply(tool_call(
            "tool_search",
            json!({"query": "paint tone42", "limit": 2}),
        ))
        .reply(tool_call(
            "tool_describe",
            json!({"name": "mcp__paint__colour_42"}),
        ))
        .reply(tool_call("tool_call", arguments))
        .reply(text("painted"))
}

// AG-30
#[tokio::test]
async fn tools_that_would_fill_the_window_are_found_described_and_called() {
    let (fixture, got) = fixture(steps());
    let done = fixture.ask("paint it").await;
    assert_eq!((done.why, done.text.as_str()), (TurnEnd::Done, "painted"));
    assert_eq!(
        offered(&fixture),
        ["look", "tool_call", "tool_describe", "tool_search"]
    );
    // Servers have the names people gave them, which names of tools do not tell.
    let request = fixture.requests()[0].expect_json().to_string();
    assert!(
        request.contains("from: paint__and.brushes. Search"),
        "{request}"
    );
    // The tool gets its own arguments, mended by its own schema.
    assert_eq!(*got.lock().unwrap(), [json!({"layers": 2})]);
    let started: Vec<String> = done
        .events
        .iter()
        .filter_map(|event| match event {
            Event::ToolStarted { name, .. } => Some(name.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(started[2], "mcp__paint__colour_42", "people see what runs");
    let results: Vec<(String, String)> = fixture
        .rows()
        .iter()
        .flat_map(|row| row.to_message().parts)
        .filter_map(|part| match part {
            Part::ToolResult { name, content, .. } => Some((name, content)),
            _ => None,
        })
        .collect();
    assert!(
        results[0].1.contains("mcp__paint__colour_42"),
        "{results:?}"
    );
    assert!(results[1].1.contains("layers"), "{results:?}");
    assert_eq!(results[2].0, "tool_call", "the answer fits the call");
    assert!(results[2].1.contains("was here"), "{results:?}");
}

// AG-30
#[tokio::test]
async fn every_protocol_takes_the_answer_to_a_call_of_a_hidden_tool() {
    for protocol in [
        WireProtocol::Responses,
        WireProtocol::Anthropic,
        WireProtocol::Gemini,
        WireProtocol::Converse,
    ] {
        let (mut fixture, got) = fixture(steps());
        fixture.protocol = protocol;
        let done = fixture.ask("paint it").await;
        assert_eq!(done.why, TurnEnd::Done, "{protocol:?}");
        assert_eq!(got.lock().unwrap().len(), 1, "{protocol:?}");
    }
}

// AG-30
#[tokio::test]
async fn wrong_names_and_arguments_are_explained_and_nothing_runs() {
    let scenario = Scenario::new()
        .reply(tool_call(
            "tool_call",
            json!({"name": "mcp__paint__colour_420"}),
        ))
        .reply(tool_call(
            "tool_call",
            json!({"name": "tool_call", "arguments": {}}),
        ))
        .reply(tool_call("tool_call", json!({"arguments": {}})))
        .reply(tool_call("tool_search", json!({"query": "weather"})))
        .reply(text("sorry"));
    let (fixture, got) = fixture(scenario);
    assert_eq!(fixture.ask("paint it").await.why, TurnEnd::Done);
    assert!(got.lock().unwrap().is_empty());
    let requests = fixture.server.requests();
    let told = |request: usize| requests[request].expect_json()["messages"].to_string();
    assert!(
        told(1).contains("did you mean mcp__paint__colour_42"),
        "{}",
        told(1)
    );
    assert!(
        told(2).contains("there is no tool tool_call"),
        "{}",
        told(2)
    );
    assert!(told(3).contains("name is missing"), "{}", told(3));
    assert!(told(4).contains("nothing fits"), "{}", told(4));
}

// AG-30
#[tokio::test]
async fn tools_are_shown_where_there_is_room_or_the_user_wants_them() {
    let (mut roomy, _) = fixture(Scenario::new().reply(text("ok")));
    roomy.window = 2_000_000;
    roomy.ask("go").await;
    assert_eq!(offered(&roomy).len(), 101);
    let (mut wanted, _) = fixture(Scenario::new().reply(text("ok")));
    wanted.config.tools.tool_search.enabled = Automatic::Off;
    wanted.ask("go").await;
    assert_eq!(offered(&wanted).len(), 101);
}
