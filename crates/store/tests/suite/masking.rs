//! Known secrets do not reach the file of the database, whatever they look like.

use hermes_core::{CallId, Message, Op, Part, RawTurn, Role, ToolCall, WireProtocol};
use hermes_secrets::{RedactorHandle, Secret, SecretName};
use hermes_store::{ImportCaps, NewRecord};
use serde_json::{Value as Json, json};

use super::fixture::Fixture;

/// A password of digits alone: without quotes it is a number.
const DIGITS: u64 = 84_716_255_301;
const KEY: &str = "canary-key-1234567890";

fn fixture() -> Fixture {
    let secret = |name: &str, value: &str| {
        Secret::new(SecretName::new(name).unwrap(), value.to_owned(), []).unwrap()
    };
    let known = [
        secret("SUDO_PASSWORD", &DIGITS.to_string()),
        secret("API_KEY", KEY),
    ];
    Fixture::with_redactor(RedactorHandle::new(known))
}

/// A value with both secrets as texts, numbers and names.
fn telling() -> Json {
    json!({ "text": format!("the key is {KEY}"), "n": DIGITS, "deep": [{ KEY: [DIGITS, true, 2.5] }] })
}

/// Everything the files of the database hold, the log included.
fn files(fixture: &Fixture) -> String {
    let folder = fixture.path("hermes.db").parent().unwrap().to_owned();
    let files = std::fs::read_dir(folder).unwrap().map(Result::unwrap);
    files
        .filter(|file| file.file_name().to_string_lossy().starts_with("hermes.db"))
        .map(|file| String::from_utf8_lossy(&std::fs::read(file.path()).unwrap()).into_owned())
        .collect()
}

#[track_caller]
fn holds_neither(fixture: &Fixture) {
    let files = files(fixture);
    assert!(files.contains("[redacted:API_KEY]"));
    assert!(files.contains("[redacted:SUDO_PASSWORD]"));
    assert!(!files.contains(KEY), "a text is there");
    assert!(!files.contains(&DIGITS.to_string()), "a number is there");
}

// EX-62
#[test]
fn a_password_of_digits_beside_a_key_hides_neither_in_a_turn() {
    let fixture = fixture();
    let session = fixture.session("s");
    let message = Message {
        role: Role::Assistant,
        parts: vec![
            Part::Text {
                text: "a".to_owned(),
            },
            Part::Text {
                text: "b".to_owned(),
            },
            Part::ToolCall(ToolCall {
                id: CallId("one".to_owned()),
                name: "todo".to_owned(),
                arguments: telling(),
            }),
        ],
        raw: Some(RawTurn {
            protocol: WireProtocol::Anthropic,
            provider: "anthropic".to_owned(),
            model: "m".to_owned(),
            body: json!([{ "type": "tool_use", "input": telling() }]),
        }),
    };
    let mut record = NewRecord::from(&message);
    assert!(record.parts.is_some() && record.tool_calls.is_some() && record.raw.is_some());
    record.extra = Some(telling());
    fixture.store.append(&session, vec![record]).wait().unwrap();
    let notes = fixture.store.set_compaction_notes(&session, &telling());
    notes.wait().unwrap();
    holds_neither(&fixture);
    // What came is still a turn, with everything else in its place.
    let kept = fixture.store.history(&session).wait().unwrap();
    let kept = kept[0].to_message();
    let masked = json!({
        "text": "the key is [redacted:API_KEY]",
        "n": "[redacted:SUDO_PASSWORD]",
        "deep": [{ "[redacted:API_KEY]": ["[redacted:SUDO_PASSWORD]", true, 2.5] }],
    });
    assert_eq!(kept.tool_calls().next().unwrap().arguments, masked);
    assert_eq!(kept.raw.unwrap().body[0]["input"], masked);
}

// EX-62, AG-34
#[test]
fn what_waits_is_masked_and_can_still_be_said() {
    let fixture = fixture();
    let session = fixture.session("s");
    let op = |key: &str, digits: &str| Op::UserMessage {
        text: format!("it is {key} and {digits}"),
        media: Vec::new(),
    };
    let said = op(KEY, &DIGITS.to_string());
    fixture.store.enqueue(&session, &said).wait().unwrap();
    holds_neither(&fixture);
    let waiting = fixture.store.waiting(&session).wait().unwrap();
    let masked = op("[redacted:API_KEY]", "[redacted:SUDO_PASSWORD]");
    assert_eq!(waiting[0].op, masked);
}

// EX-62
#[test]
fn a_file_from_elsewhere_is_masked_on_the_way_in() {
    let fixture = fixture();
    let line = json!({
        "id": "s", "source": "cli", "started_at": 1.0, "model_config": telling(), "colour": telling(),
        "messages": [{ "role": "user", "content": "x", "timestamp": 1.0, "mood": telling() }],
    });
    let file = std::path::Path::new("sessions.jsonl");
    let caps = ImportCaps::default();
    let text = format!("{line}\n");
    let imported = fixture.store.import_jsonl(file, text.as_bytes(), &caps);
    assert_eq!(imported.unwrap().sessions, 1);
    holds_neither(&fixture);
}
