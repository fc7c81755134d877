//! A long conversation, and a model of its own that summarises it.

use std::sync::Arc;

use hermes_core::{CallId, Event, ManualClock, Message, Part, Role, ToolCall};
use hermes_store::{NewSession, Record};
use hermes_testkit::model_server::{RecordedRequest, Scenario, Step};
use serde_json::json;

use crate::suite::fixture::{Fixture, apart};

pub(crate) const STEPS: &str =
    r#"{"todos":[{"id":"1","content":"paint the shed","status":"in_progress"}]}"#;
pub(crate) const SUMMARY: &str = "## Goal\nBuild a shed.\n\n## Completed actions\nMeasured the garden.\n\n\
     ## Remaining work\nPaint it.";

/// The model of the conversation, and the one that summarises.
pub(crate) const MAIN: &str = "scripted";
pub(crate) const SMALL: &str = "small";

/// What every question for a summary says, whoever is asked.
pub(crate) const SUMS_UP: &str = "You write the summary";

/// A small window, a clock that stands still, and a conversation of so many rounds of work.
pub(crate) fn long(scenario: Scenario, rounds: usize) -> (Fixture, Arc<ManualClock>) {
    // Before any time of the store, which has a clock of its own: no row is older than a call.
    let clock = Arc::new(ManualClock::new("2001-07-01T12:00:00Z".parse().unwrap()));
    let mut fixture = Fixture::new(scenario);
    fixture.window = 32_000;
    fixture.attempts = 1;
    fixture.helper = Some(SMALL);
    fixture.clock = clock.clone();
    apart(|| {
        let session = NewSession::new(Fixture::id(), "cli");
        fixture.store.create_session(session).wait().unwrap();
    });
    let mut messages = vec![
        Message::text(Role::User, "first question"),
        Message::text(Role::Assistant, "first answer"),
        Message::text(Role::User, "build a shed"),
    ];
    messages.extend(work(0..rounds));
    messages.push(Message::text(Role::Assistant, "the walls stand"));
    add(&fixture, &messages);
    (fixture, clock)
}

/// Adds messages to the conversation.
pub(crate) fn add(fixture: &Fixture, messages: &[Message]) {
    let rows = messages.iter().map(Into::into).collect();
    apart(|| fixture.store.append(&Fixture::id(), rows).wait().unwrap());
}

/// Rounds of work, with a list of steps in the second.
pub(crate) fn work(rounds: std::ops::Range<usize>) -> Vec<Message> {
    let mut messages = Vec::new();
    for round in rounds {
        let name = if round == 1 { "todo" } else { "terminal" };
        let content = if round == 1 {
            STEPS.to_owned()
        } else {
            format!("plank{round} {}", "wood ".repeat(1_200))
        };
        let call = CallId(format!("call_{round}"));
        messages.push(Message {
            role: Role::Assistant,
            parts: vec![Part::ToolCall(ToolCall {
                id: call.clone(),
                name: name.to_owned(),
                arguments: json!({"command": format!("saw {round}")}),
            })],
            raw: None,
        });
        messages.push(Message {
            role: Role::Tool,
            parts: vec![Part::ToolResult {
                call,
                name: name.to_owned(),
                content,
                failed: false,
            }],
            raw: None,
        });
    }
    messages
}

pub(crate) fn asked(fixture: &Fixture, model: &str) -> Vec<RecordedRequest> {
    let mut requests = fixture.requests();
    requests.retain(|request| request.expect_json()["model"] == model);
    requests
}

pub(crate) fn by(model: &str, reply: impl Into<Step>) -> Step {
    reply.into().when_model(model)
}

pub(crate) fn is_compacted(events: &[Event]) -> bool {
    events
        .iter()
        .any(|event| matches!(event, Event::Compacted { before, after } if after * 5 <= before * 4))
}

pub(crate) fn is_summary(row: &Record) -> bool {
    row.content
        .as_deref()
        .is_some_and(|text| text.starts_with("[Summary of the earlier conversation"))
}

pub(crate) fn texts(rows: &[Record]) -> Vec<String> {
    rows.iter()
        .map(|row| row.content.clone().unwrap_or_default())
        .collect()
}
