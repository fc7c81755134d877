//! What is left when the program is killed in the middle of a turn.

use std::time::Duration;

use hermes_core::{CallId, Message, Part, Role, ToolCall, TurnEnd, WireProtocol};
use hermes_store::{NewRecord, NewSession};
use hermes_testkit::model_server::{Scenario, Step, text};
use serde_json::json;

use super::fixture::{Fixture, Scripted, apart};

fn call(id: &str, n: u32) -> Part {
    Part::ToolCall(ToolCall {
        id: CallId(id.to_owned()),
        name: "work".to_owned(),
        arguments: json!({ "n": n }),
    })
}

fn result(id: &str) -> Message {
    Message {
        role: Role::Tool,
        parts: vec![Part::ToolResult {
            call: CallId(id.to_owned()),
            name: "work".to_owned(),
            content: "worked".to_owned(),
            failed: false,
        }],
        raw: None,
    }
}

fn asking(parts: Vec<Part>) -> Message {
    Message {
        role: Role::Assistant,
        parts,
        raw: None,
    }
}

// AG-34: every row of a turn is a place where a kill can leave it.
#[tokio::test]
async fn a_turn_that_was_killed_at_any_row_is_gone_on_with_in_all_protocols() {
    let rows = [
        Message::text(Role::User, "go"),
        asking(vec![call("a", 1), call("b", 2)]),
        result("a"),
        result("b"),
        asking(vec![call("c", 3)]),
        result("c"),
        Message::text(Role::Assistant, "done"),
    ];
    for protocol in [
        WireProtocol::ChatCompletions,
        WireProtocol::Responses,
        WireProtocol::Anthropic,
        WireProtocol::Gemini,
        WireProtocol::Converse,
    ] {
        for survived in 1..=rows.len() {
            let scenario = Scenario::new().reply(Step::new(text("Going on.")).repeat());
            let mut fixture = Fixture::new(scenario).tool(Scripted::saying("work", "worked"));
            fixture.protocol = protocol;
            apart(|| {
                let session = NewSession::new(Fixture::id(), "cli");
                fixture.store.create_session(session).wait().unwrap();
                let kept: Vec<NewRecord> = rows[..survived].iter().map(Into::into).collect();
                fixture.store.append(&Fixture::id(), kept).wait().unwrap();
            });
            let done = fixture.ask("and now?").await;
            assert_eq!(
                done.why,
                TurnEnd::Done,
                "{protocol:?} after row {survived}: {done:?}"
            );
            assert_eq!(done.text, "Going on.");
            let kept = fixture.texts();
            for (index, row) in rows[..survived].iter().enumerate() {
                assert_eq!(
                    kept[index].1,
                    row.plain_text(),
                    "row {index} is still there"
                );
            }
            let lost = kept
                .iter()
                .filter(|(_, text)| text.contains("not known whether it took effect"))
                .count();
            let open = [0, 2, 1, 0, 1, 0, 0][survived - 1];
            assert_eq!(lost, open, "{protocol:?} after row {survived}: {kept:?}");
            let refused: Vec<_> = fixture
                .requests()
                .iter()
                .flat_map(|request| request.violations.clone())
                .collect();
            assert!(
                refused.is_empty(),
                "{protocol:?} after row {survived}: {refused:?}"
            );
            tokio::time::sleep(Duration::ZERO).await;
        }
    }
}
