//! Sessions from export files: nothing lost, nothing doubled, nothing half done.

use std::path::Path;

use hermes_core::{CallId, Message, Part, Role, SessionId, ToolCall};
use hermes_secrets::{RedactorHandle, Secret, SecretName};
use hermes_store::{
    ExportOptions, Format, ImportCaps, ImportLimit, Imported, MediaForm, NewRecord, Relation, Rows,
    StoreError,
};
use serde_json::{Value as Json, json};

use super::export::{export_all, options, read_golden};
use super::fixture::{Fixture, id};

fn import(fixture: &Fixture, text: &str) -> Result<Imported, StoreError> {
    import_with(fixture, text, &ImportCaps::default())
}

fn import_with(fixture: &Fixture, text: &str, caps: &ImportCaps) -> Result<Imported, StoreError> {
    let file = Path::new("sessions.jsonl");
    fixture.store.import_jsonl(file, text.as_bytes(), caps)
}

fn everything() -> ExportOptions {
    ExportOptions {
        rows: Rows::All,
        media: MediaForm::Inline,
        ..options(Format::Jsonl)
    }
}

/// A file of sessions with one message each.
fn file(sessions: &[(&str, Json)]) -> String {
    let line = |(name, more): &(&str, Json)| {
        let mut session = json!({
            "id": name, "source": "cli", "started_at": 1000.5,
            "messages": [{ "role": "user", "content": format!("hello from {name}"), "timestamp": 1001.5 }],
        });
        let fields = session.as_object_mut().unwrap();
        fields.extend(more.as_object().unwrap().clone());
        format!("{session}\n")
    };
    sessions.iter().map(line).collect()
}

/// The ids of messages are given anew in the order of the file; everything else must stay.
fn without_message_ids(text: &str) -> Vec<Json> {
    text.lines()
        .map(|line| {
            let mut session: Json = serde_json::from_str(line).unwrap();
            for message in session["messages"].as_array_mut().unwrap() {
                message.as_object_mut().unwrap().shift_remove("id");
            }
            session
        })
        .collect()
}

fn talk(fixture: &Fixture) -> SessionId {
    let session = fixture.session("own");
    let calls = Message {
        role: Role::Assistant,
        parts: vec![
            Part::Reasoning {
                text: "hm".to_owned(),
            },
            Part::Text {
                text: "first".to_owned(),
            },
            Part::ToolCall(ToolCall {
                id: CallId("c1".to_owned()),
                name: "terminal".to_owned(),
                arguments: json!({ "command": "ls" }),
            }),
            Part::Text {
                text: "then".to_owned(),
            },
        ],
        raw: None,
    };
    let hash = fixture.store.blobs().put(b"\x89PNG fake").unwrap();
    let failed = NewRecord {
        parts: Some(json!([
            { "type": "tool_result", "call": "c1", "name": "terminal", "content": "no", "failed": true },
            { "type": "media", "mime": "image/png", "source": { "blob": hash } },
        ])),
        tool_call_id: Some("c1".to_owned()),
        tool_name: Some("terminal".to_owned()),
        raw: Some(json!({ "protocol": "responses", "model": "m", "body": [1] })),
        ..NewRecord::text(Role::Tool, "no")
    };
    let records = vec![NewRecord::from(&calls), failed];
    fixture.say(&session, &["question", "answer", "second thought"]);
    let ids = fixture.store.append(&session, records).wait().unwrap();
    fixture.store.rename(&session, "Own talk").wait().unwrap();
    fixture
        .store
        .branch(&session, ids[0], id("own-branch"))
        .wait()
        .unwrap();
    session
}

#[test]
fn ln_22_export_wipe_import_export_is_equal() {
    let first = Fixture::new();
    import(&first, &read_golden("expected/export.jsonl")).unwrap();
    talk(&first);
    let once = export_all(&first.store, &everything());

    let second = Fixture::new();
    let imported = import(&second, &once).unwrap();
    assert_eq!((imported.sessions, imported.skipped.len()), (17, 0));
    let twice = export_all(&second.store, &everything());
    assert_eq!(without_message_ids(&twice), without_message_ids(&once));

    // Ids follow the order of the file, which the second file already has.
    let third = Fixture::new();
    import(&third, &twice).unwrap();
    assert_eq!(export_all(&third.store, &everything()), twice);
}

#[test]
fn rows_come_back_as_they_were() {
    let first = Fixture::new();
    let session = talk(&first);
    let second = Fixture::new();
    import(&second, &export_all(&first.store, &everything())).unwrap();
    let rows = |fixture: &Fixture, session: &SessionId| {
        let mut rows = fixture.store.all_records(session).wait().unwrap();
        for row in &mut rows {
            row.id = hermes_core::MessageId(0);
        }
        rows
    };
    for session in [session, id("own-branch")] {
        assert_eq!(rows(&first, &session), rows(&second, &session));
        let of = |fixture: &Fixture| fixture.store.session(&session).wait().unwrap();
        assert_eq!(of(&first), of(&second));
    }
    assert_eq!(second.found("question").len(), 2);
    assert_eq!(second.store.optimize().wait().unwrap().blobs_removed, 0);
    let hash = first.store.blobs().put(b"\x89PNG fake").unwrap();
    assert!(second.store.blobs().contains(&hash));
}

#[test]
fn the_same_file_twice_changes_nothing() {
    let fixture = Fixture::new();
    let text = read_golden("expected/export.jsonl");
    import(&fixture, &text).unwrap();
    let before = export_all(&fixture.store, &everything());
    let again = import(&fixture, &text).unwrap();
    assert_eq!(
        again,
        Imported {
            unchanged: 15,
            ..Imported::default()
        }
    );
    assert_eq!(export_all(&fixture.store, &everything()), before);
}

#[test]
fn an_id_that_is_taken_is_skipped_and_reported() {
    let fixture = Fixture::new();
    let session = fixture.session("a");
    fixture.say(&session, &["mine"]);
    let imported = import(&fixture, &file(&[("b", json!({})), ("a", json!({}))])).unwrap();
    let skipped: Vec<_> = imported
        .skipped
        .iter()
        .map(|skipped| (skipped.session.as_str(), skipped.line))
        .collect();
    assert_eq!((imported.sessions, skipped), (1, vec![("a", 2)]));
    assert_eq!(fixture.texts(&session), ["mine"]);
}

#[track_caller]
fn check_limit(caps: ImportCaps, text: &str, expected: ImportLimit) {
    let fixture = Fixture::new();
    match import_with(&fixture, text, &caps) {
        Err(StoreError::TooMuch { limit, .. }) => assert_eq!(limit, expected),
        other => panic!("{other:?}"),
    }
    assert_eq!(export_all(&fixture.store, &everything()), "");
}

#[test]
fn a_file_over_a_limit_is_not_taken_at_all() {
    let caps = ImportCaps::default();
    let two = file(&[("a", json!({})), ("b", json!({}))]);
    let bytes = two.lines().map(str::len).sum::<usize>();
    let long = two.lines().map(str::len).max().unwrap();
    let many = json!({ "messages": vec![json!({ "role": "user", "content": "x" }); 3] });
    let many = format!("{two}{}", file(&[("c", many)]));
    check_limit(
        ImportCaps {
            sessions: 1,
            ..caps
        },
        &two,
        ImportLimit::Sessions(1),
    );
    check_limit(
        ImportCaps {
            messages: 4,
            ..caps
        },
        &many,
        ImportLimit::Messages(4),
    );
    check_limit(
        ImportCaps {
            session_messages: 2,
            ..caps
        },
        &many,
        ImportLimit::SessionMessages(2),
    );
    check_limit(
        ImportCaps {
            session_bytes: long - 1,
            ..caps
        },
        &two,
        ImportLimit::SessionBytes(long - 1),
    );
    check_limit(
        ImportCaps {
            bytes: bytes - 1,
            ..caps
        },
        &two,
        ImportLimit::Bytes(bytes - 1),
    );
    let exact = ImportCaps {
        sessions: 2,
        messages: 2,
        session_messages: 1,
        session_bytes: long,
        bytes,
    };
    let imported = import_with(&Fixture::new(), &two, &exact).unwrap();
    assert_eq!((imported.sessions, imported.messages), (2, 2));
}

#[test]
fn the_limits_are_those_of_the_reference() {
    let expected = ImportCaps {
        sessions: 500,
        session_messages: 10_000,
        messages: 50_000,
        session_bytes: 5 * 1024 * 1024,
        bytes: 25 * 1024 * 1024,
    };
    assert_eq!(ImportCaps::default(), expected);
}

#[track_caller]
fn check_bad(line: &str, expected: &str) {
    let fixture = Fixture::new();
    let text = format!("{}\n{line}\n", file(&[("good", json!({}))]));
    let error = import(&fixture, &text).unwrap_err();
    assert!(matches!(error, StoreError::BadImport { .. }), "{error:?}");
    assert_eq!(error.to_string(), format!("sessions.jsonl: {expected}"));
    assert_eq!(export_all(&fixture.store, &everything()), "");
}

#[test]
fn a_bad_line_is_named_and_nothing_is_taken() {
    // The second line is empty, which is no fault.
    check_bad("{\"id\": ", "line 3: column 6: EOF while parsing a value");
    check_bad(
        "[]",
        "line 3: column 0: invalid type: sequence, expected a map",
    );
    check_bad(
        "{\"id\": \"x\", \"messages\": 1}",
        "line 3: `messages` is not a list",
    );
    check_bad(
        "{\"id\": \"x\", \"messages\": [1]}",
        "line 3: a message is not an object",
    );
    check_bad(
        "{\"id\": \"x\", \"messages\": [{\"content\": \"\"}]}",
        "line 3: row ? of messages cannot be read: it has no role",
    );
    check_bad(
        "{\"id\": \"../x\"}",
        "line 3: row ../x of sessions cannot be read: `../x` cannot be an id: ids have 1 to 200 characters, \
         no control characters and no slashes",
    );
}

#[test]
fn parents_are_kept_when_they_exist() {
    let fixture = Fixture::new();
    fixture.session("here");
    let text = file(&[
        ("child", json!({ "parent_session_id": "root" })),
        (
            "root",
            json!({ "end_reason": "compression", "ended_at": 1002.0 }),
        ),
        (
            "branch",
            json!({ "parent_session_id": "here", "model_config": "{\"a\": 1, \"_branched_from\": \"here\"}" }),
        ),
        (
            "delegate",
            json!({ "parent_session_id": "gone", "model_config": "{\"_delegate_from\": \"gone\"}" }),
        ),
        ("orphan", json!({ "parent_session_id": "gone" })),
    ]);
    import(&fixture, &text).unwrap();
    let of = |name: &str| {
        let session = fixture.store.session(&id(name)).wait().unwrap().unwrap();
        (
            session.parent.map(String::from),
            session.relation,
            session.model_config,
        )
    };
    let parent = |name: &str| Some(name.to_owned());
    assert_eq!(
        of("child"),
        (parent("root"), Some(Relation::Compaction), None)
    );
    assert_eq!(
        of("branch"),
        (
            parent("here"),
            Some(Relation::Branch),
            Some(json!({ "a": 1 }))
        )
    );
    assert_eq!(of("delegate"), (None, Some(Relation::Delegate), None));
    assert_eq!(of("orphan"), (None, None, None));
}

#[test]
fn a_title_that_is_taken_gets_a_number() {
    let fixture = Fixture::new();
    let session = fixture.session("mine");
    fixture.store.rename(&session, "Plans").wait().unwrap();
    let long = "x".repeat(120);
    let text = file(&[
        ("a", json!({ "title": "Plans" })),
        ("b", json!({ "title": "Plans" })),
        ("c", json!({ "title": long })),
        ("d", json!({ "title": long })),
    ]);
    import(&fixture, &text).unwrap();
    let title = |name: &str| {
        fixture
            .store
            .session(&id(name))
            .wait()
            .unwrap()
            .unwrap()
            .title
    };
    assert_eq!(title("a").as_deref(), Some("Plans #2"));
    assert_eq!(title("b").as_deref(), Some("Plans #3"));
    assert_eq!(title("c"), Some("x".repeat(100)));
    assert!(title("d").unwrap().chars().count() <= 100);
}

#[test]
fn unknown_keys_and_odd_values_come_back() {
    let fixture = Fixture::new();
    let message = json!({
        "role": "user", "content": { "odd": true }, "timestamp": 1001.5, "token_count": "many",
        "mood": { "level": 3 }, "observed": 1, "tool_calls": "not json", "nothing": null,
    });
    let text = file(&[(
        "a",
        json!({ "colour": "blue", "user_id": 7, "messages": [message] }),
    )]);
    import(&fixture, &text).unwrap();
    let line: Json = serde_json::from_str(&export_all(&fixture.store, &everything())).unwrap();
    assert_eq!(line["colour"], "blue");
    assert_eq!(line["user_id"], 7);
    let row = &line["messages"][0];
    for (name, value) in message.as_object().unwrap() {
        assert_eq!(&row[name], value, "{name}");
    }
    assert_eq!(fixture.texts(&id("a")), ["{\"odd\":true}"]);
}

#[test]
fn encoded_content_and_its_media_become_parts_and_blobs() {
    let fixture = Fixture::new();
    let list = json!([
        { "type": "text", "text": "see" },
        { "type": "input_image", "image_url": "data:image/png;base64,iVBORyBmYWtl" },
        { "type": "image_url", "image_url": { "url": "https://pictures.example.test/a.png", "detail": "low" } },
        { "type": "input_audio", "input_audio": { "data": "UklGRg==", "format": "wav" } },
    ]);
    let encoded = format!("\0json:{list}");
    let message = json!({ "role": "user", "content": encoded, "timestamp": 1001.5 });
    import(&fixture, &file(&[("a", json!({ "messages": [message] }))])).unwrap();
    let rows = fixture.store.history(&id("a")).wait().unwrap();
    assert_eq!(rows[0].content.as_deref(), Some("see"));
    let parts = rows[0].parts.clone().unwrap();
    let hash = parts[1]["source"]["blob"].as_str().unwrap();
    assert_eq!(fixture.store.blobs().get(hash).unwrap(), b"\x89PNG fake");
    assert_eq!(parts[1]["mime"], "image/png");
    assert_eq!(
        parts[2]["source"]["url"],
        "https://pictures.example.test/a.png"
    );
    let sound = parts[3]["source"]["blob"].as_str().unwrap();
    assert_eq!(fixture.store.blobs().get(sound).unwrap(), b"RIFF");
    assert_eq!(fixture.store.optimize().wait().unwrap().blobs_removed, 0);
    let stored = serde_json::to_string(&rows[0].extra).unwrap();
    assert!(!stored.contains("iVBOR"), "{stored}");

    let line: Json = serde_json::from_str(&export_all(&fixture.store, &everything())).unwrap();
    assert_eq!(line["messages"][0]["content"], list);
}

#[test]
fn known_secrets_are_masked_on_the_way_in() {
    let name = SecretName::new("PASSPHRASE").unwrap();
    let secret = Secret::new(name, "correct horse battery staple".to_owned(), []).unwrap();
    let fixture = Fixture::with_redactor(RedactorHandle::new([secret]));
    let text = "it is correct horse battery staple";
    let message = json!({ "role": "user", "content": text, "timestamp": 1.0, "api_content": text });
    let session = json!({ "messages": [message], "system_prompt": text, "colour": text });
    import(&fixture, &file(&[("a", session)])).unwrap();
    let out = export_all(&fixture.store, &everything());
    assert!(!out.contains("correct horse"), "{out}");
}

#[test]
fn a_byte_order_mark_and_windows_line_ends_are_no_fault() {
    let fixture = Fixture::new();
    let text = file(&[("a", json!({})), ("b", json!({}))]).replace('\n', "\r\n");
    let imported = import(&fixture, &format!("\u{feff}{text}")).unwrap();
    assert_eq!(imported.sessions, 2);
}

#[test]
fn half_characters_are_replaced_and_whole_ones_kept() {
    let fixture = Fixture::new();
    let line = r#"{"id":"s","started_at":1,"title":"cut \ud83d","messages":[{"role":"user","content":"\ud83d\ude00 \udc00 \\ud800","timestamp":1}]}"#;
    assert_eq!(import(&fixture, line).unwrap().sessions, 1);
    assert_eq!(fixture.texts(&id("s")), ["😀 \u{fffd} \\ud800"]);
    let session = fixture.store.session(&id("s")).wait().unwrap().unwrap();
    assert_eq!(session.title.as_deref(), Some("cut \u{fffd}"));
}

#[test]
fn times_outside_the_calendar_are_refused_by_line() {
    let fixture = Fixture::new();
    let message =
        |time: f64| json!({"messages": [{"role": "user", "content": "x", "timestamp": time}]});
    for (more, said) in [
        (json!({"started_at": -1.0}), "line 2: `started_at` is -1,"),
        (json!({"ended_at": 1e300}), "line 2: `ended_at` is 1000"),
        (
            json!({"last_active": 1_700_000_000_000_i64}),
            "line 2: `last_active` is 1700000000000,",
        ),
        (message(-0.5), "line 2: `timestamp` is -0.5,"),
    ] {
        let refused = import(&fixture, &file(&[("a", json!({})), ("b", more)]));
        let said_so = refused.unwrap_err().to_string();
        assert!(said_so.contains(said), "{said_so}");
    }
    assert_eq!(fixture.store.stats().wait().unwrap().sessions, 0);
    let edges = json!({"started_at": 0, "ended_at": 253_402_300_799_i64});
    assert_eq!(
        import(&fixture, &file(&[("a", edges)])).unwrap().sessions,
        1
    );
}

#[test]
fn sessions_that_are_each_others_parents_are_untied() {
    let fixture = Fixture::new();
    let child =
        |parent: &str, relation: &str| json!({"parent_session_id": parent, "relation": relation});
    let text = file(&[
        ("a", child("c", "compaction")),
        ("b", child("a", "compaction")),
        ("c", child("b", "compaction")),
        ("own", child("own", "delegate")),
        ("e", child("f", "delegate")),
        ("f", child("e", "delegate")),
    ]);
    assert_eq!(import(&fixture, &text).unwrap().sessions, 6);
    let session = |name: &str| fixture.store.session(&id(name)).wait().unwrap().unwrap();
    assert_eq!(session("b").parent, Some(id("a")));
    assert_eq!(session("a").parent, Some(id("c")));
    for cut in ["c", "own", "f"] {
        let cut = session(cut);
        assert_eq!((cut.parent, cut.relation), (None, None), "{}", cut.id);
    }
    let listing = hermes_store::Listing {
        limit: 10,
        ..Default::default()
    };
    let listed = fixture.store.list(listing).wait().unwrap();
    let mut shown: Vec<_> = listed.iter().map(|row| row.session.id.as_str()).collect();
    shown.sort_unstable();
    assert_eq!(
        shown,
        ["b", "f", "own"],
        "the end of the chain, and e is part of f"
    );
}
