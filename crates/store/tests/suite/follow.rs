//! Following what is said from outside.

use hermes_core::{MessageId, Role};
use hermes_store::NewRecord;

use super::fixture::Fixture;

// MCP-79
#[test]
fn a_commit_of_another_process_is_noticed_once() {
    let fixture = Fixture::new();
    let session = fixture.session("20260101_090000_aaaaaa");
    let other = fixture.reopen();
    let mut watch = other.watch().unwrap();
    assert!(!watch.changed().unwrap());
    // The row is in the write-ahead log only; the file itself has not changed.
    fixture.say(&session, &["hello"]);
    assert!(watch.changed().unwrap());
    assert!(!watch.changed().unwrap());
}

// MCP-79
#[test]
fn only_what_was_newly_said_is_told() {
    let fixture = Fixture::new();
    let store = &fixture.store;
    let session = fixture.session("20260101_090000_aaaaaa");
    fixture.say(&session, &["before"]);
    let before = store.newest_message().wait().unwrap();
    let rows = ["question", "carried on"].map(|text| NewRecord {
        timestamp: Some(if text == "question" { 5.0 } else { 6.0 }),
        ..NewRecord::text(Role::User, text)
    });
    store.append(&session, rows.to_vec()).wait().unwrap();
    let tool = NewRecord::text(Role::Tool, "output");
    store.append(&session, vec![tool]).wait().unwrap();
    let texts = |after: MessageId| -> Vec<String> {
        let said = store.said_after(after, 10).wait().unwrap();
        said.into_iter().filter_map(|row| row.content).collect()
    };
    assert_eq!(texts(before), ["question", "carried on"]);

    let now = store.newest_message().wait().unwrap();
    let history = store.history(&session).wait().unwrap();
    let first = history.first().map(|row| row.id).unwrap();
    let summary = vec![NewRecord::text(Role::User, "summary")];
    assert!(
        store
            .compact(&session, vec![first], summary)
            .wait()
            .unwrap()
    );
    assert_eq!(texts(now), ["summary"], "moved rows are not said again");

    let (last, count) = store.last_said(&session, 2).wait().unwrap();
    let last: Vec<_> = last.into_iter().filter_map(|row| row.content).collect();
    assert_eq!((last.len(), count), (2, 3));
    assert_eq!(last, ["question", "carried on"]);
}

// CL-22
#[test]
fn the_last_rows_hold_calls_and_the_beginnings_of_results() {
    let fixture = Fixture::new();
    let store = &fixture.store;
    let session = fixture.session("20260101_090000_aaaaaa");
    let called = NewRecord {
        tool_calls: Some(serde_json::json!([{"id": "c", "type": "function",
            "function": {"name": "terminal", "arguments": "{}"}}])),
        reasoning: Some("thought ".repeat(10_000)),
        raw: Some(serde_json::json!({"only": "for the model"})),
        ..NewRecord::text(Role::Assistant, "")
    };
    let result = NewRecord {
        tool_call_id: Some("c".to_owned()),
        tool_name: Some("terminal".to_owned()),
        ..NewRecord::text(Role::Tool, "x".repeat(100_000))
    };
    let rows = vec![
        NewRecord::text(Role::User, "first"),
        NewRecord::text(Role::User, "go"),
        called,
        result,
        NewRecord::text(Role::Assistant, "y".repeat(50_000)),
    ];
    store.append(&session, rows).wait().unwrap();
    let last = store.last_rows(&session, 4).wait().unwrap();
    let length = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    let found: Vec<_> = last
        .iter()
        .map(|row| {
            (
                row.role.as_str(),
                length(&row.content),
                length(&row.reasoning),
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            ("user", 2, 0),
            ("assistant", 0, 2_048),
            ("tool", 2_048, 0),
            ("assistant", 50_000, 0)
        ]
    );
    assert!(last[1].tool_calls.is_some() && last[1].raw.is_none());
}
