//! Tools hear of what happens in their session.

use std::sync::{Arc, Mutex};

use futures_core::future::BoxFuture;
use hermes_core::{Effect, Notice, Tool, ToolContext, ToolOutcome, ToolResult, ToolSpec, TurnEnd};
use hermes_testkit::model_server::{Scenario, text, tool_call};
use serde_json::{Value as Json, json};

use super::compaction::long::{MAIN, SMALL, SUMMARY, by, long};
use super::fixture::{Fixture, say};

/// Takes down what it hears.
struct Listener {
    spec: ToolSpec,
    heard: Arc<Mutex<Vec<String>>>,
}

impl Listener {
    fn new(heard: &Arc<Mutex<Vec<String>>>) -> Self {
        Self {
            spec: ToolSpec {
                name: "listen".to_owned(),
                description: "Listens.".to_owned(),
                parameters: json!({"type": "object", "properties": {}}),
                effect: Effect::ReadOnly,
            },
            heard: heard.clone(),
        }
    }
}

impl Tool for Listener {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn noticed(&self, notice: Notice<'_>) {
        self.heard.lock().unwrap().push(format!("{notice:?}"));
    }

    fn call<'a>(&'a self, _: Json, context: &'a ToolContext) -> BoxFuture<'a, ToolOutcome> {
        Box::pin(async move {
            // A script calls other tools like this.
            let _ = context.host.call("look", json!({}), context).await;
            Ok(ToolResult {
                content: "heard".to_owned(),
                media: Vec::new(),
            })
        })
    }
}

// EX-38
#[tokio::test]
async fn every_tool_hears_of_calls_of_the_others() {
    let scenario = Scenario::new()
        .reply(tool_call("look", json!({})))
        .reply(tool_call("listen", json!({})))
        .reply(text("ok"));
    let heard = Arc::default();
    let fixture = Fixture::new(scenario)
        .tool(super::fixture::Scripted::saying("look", "a tree"))
        .tool(Listener::new(&heard));
    assert_eq!(fixture.ask("go").await.why, TurnEnd::Done);
    let all = ["Called(\"look\")", "Called(\"listen\")", "Called(\"look\")"];
    assert_eq!(*heard.lock().unwrap(), all);
}

// EX-38
#[tokio::test]
async fn tools_hear_of_a_compaction() {
    let scenario = Scenario::new()
        .reply(by(SMALL, text(SUMMARY)))
        .reply(by(MAIN, text("painted")).repeat());
    let (mut fixture, _) = long(scenario, 20);
    let heard: Arc<Mutex<Vec<String>>> = Arc::default();
    fixture.tools.push(Arc::new(Listener::new(&heard)));
    let session = fixture.open();
    let done = say(&session, "and now paint it green").await;
    assert_eq!(done.why, TurnEnd::Done, "{done:?}");
    assert_eq!(*heard.lock().unwrap(), ["Compacted"]);
}
