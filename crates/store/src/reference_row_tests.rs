use hermes_core::{MessageId, SessionId};
use serde_json::{Map, Value as Json, json};

use super::*;

fn nowhere() -> Blobs {
    Blobs::new("/nonexistent/blobs".into())
}

fn columns(value: &Json) -> Map<String, Json> {
    value.as_object().cloned().unwrap_or_default()
}

/// The row as it is stored, and as it is written out again.
fn there_and_back(row: &Json) -> (NewRecord, Json) {
    let row = ReferenceRow::from_columns(columns(row));
    let converted = row.convert(&nowhere()).unwrap();
    let NewRecord {
        role,
        content,
        parts,
        tool_call_id,
        tool_calls,
        tool_name,
        timestamp,
        token_count,
        finish_reason,
        reasoning,
        raw,
        platform_message_id,
        extra,
    } = converted.record.clone();
    let record = Record {
        id: MessageId(1),
        session: SessionId::try_from("s".to_owned()).unwrap(),
        role,
        content,
        parts,
        tool_call_id,
        tool_calls,
        tool_name,
        timestamp: timestamp.unwrap(),
        token_count,
        finish_reason,
        reasoning,
        raw,
        platform_message_id,
        visibility: converted.visibility,
        extra,
    };
    let back = record.to_reference(&nowhere(), MediaForm::Hash).unwrap();
    (converted.record, Json::Object(back))
}

/// Every column that was given must come back as it was.
#[track_caller]
fn check(row: Json) -> NewRecord {
    let (record, back) = there_and_back(&row);
    for (name, value) in columns(&row) {
        assert_eq!(back[&name], value, "{name}");
    }
    record
}

#[test]
fn thinking_that_was_only_sent_is_shown_and_comes_back_alone() {
    let row = json!({
        "role": "assistant", "content": "", "timestamp": 1.5,
        "reasoning": null, "reasoning_content": "sent",
    });
    assert_eq!(check(row).reasoning.as_deref(), Some("sent"));
}

#[test]
fn columns_without_a_place_are_kept() {
    let row = json!({
        "role": "assistant", "content": "x", "timestamp": 1.5, "active": 0, "compacted": 1,
        "reasoning_details": "[1]", "codex_message_items": "[2]", "effect_disposition": "none",
        "api_content": "y", "observed": 1,
    });
    let extra = check(row).extra.unwrap();
    let expected = json!({
        "reasoning_details": "[1]", "codex_message_items": "[2]", "effect_disposition": "none",
        "api_content": "y", "observed": 1,
    });
    assert_eq!(extra, expected);
}

#[test]
fn a_tool_result_with_a_picture_stays_a_result() {
    let url = "https://pictures.example.test/a.png";
    let row = json!({
        "role": "tool", "tool_call_id": "c1", "tool_name": "look", "timestamp": 1.5,
        "content": [
            { "type": "text", "text": "a cat" },
            { "type": "image_url", "image_url": { "url": url } },
        ],
    });
    let expected = json!([
        { "type": "tool_result", "call": "c1", "name": "look", "content": "a cat", "failed": false },
        { "type": "media", "mime": "image/*", "source": { "url": url } },
    ]);
    let record = check(row);
    assert_eq!(record.parts, Some(expected));
    assert_eq!(record.extra, None);
}

#[test]
fn list_content_keeps_the_thinking_and_the_calls_of_its_row() {
    let row = json!({
        "role": "assistant", "timestamp": 1.5, "reasoning": "hm",
        "content": [{ "type": "output_text", "text": "a" }, { "type": "odd", "x": 1 }],
        "tool_calls": [{ "id": "c", "type": "function", "function": { "name": "t", "arguments": "{}" } }],
    });
    let record = check(row);
    let expected = json!([
        { "type": "reasoning", "text": "hm" },
        { "type": "text", "text": "a" },
        { "type": "text", "text": "{\"type\":\"odd\",\"x\":1}" },
        { "type": "tool_call", "id": "c", "name": "t", "arguments": {} },
    ]);
    assert_eq!(record.parts, Some(expected));
    assert_eq!(
        record.content.as_deref(),
        Some("a\n{\"type\":\"odd\",\"x\":1}")
    );
}

#[test]
fn text_that_only_claims_to_be_encoded_is_text() {
    let row = json!({ "role": "user", "content": "\0json:{oops", "timestamp": 1.5 });
    let (record, _) = there_and_back(&row);
    assert_eq!(record.content.as_deref(), Some("{oops"));
}

#[test]
fn what_a_child_is_follows_from_its_marker_then_from_its_parents_end() {
    let relation = |session: Json, reason| {
        let session = ReferenceSession::from_columns(columns(&session)).unwrap();
        session.relation(reason)
    };
    let plain = json!({ "id": "c", "source": "cli" });
    let marked =
        json!({ "id": "c", "source": "cli", "model_config": "{\"_branched_from\": \"p\"}" });
    let agent = json!({ "id": "c", "source": "subagent" });
    use crate::record::Relation::{Branch, Compaction, Delegate};
    assert_eq!(
        relation(plain.clone(), Some("compression")),
        Some(Compaction)
    );
    assert_eq!(relation(plain.clone(), Some("branched")), Some(Branch));
    assert_eq!(relation(plain, Some("cli_close")), None);
    assert_eq!(relation(marked, Some("compression")), Some(Branch));
    assert_eq!(relation(agent, Some("cli_close")), Some(Delegate));
}
