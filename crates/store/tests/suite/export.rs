//! Exports against what the reference wrote, and against what they must never contain.

use std::io::Write as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use hermes_core::{Media, MediaSource, Message, Part, Role, SessionId};
use hermes_secrets::{Redactor, RedactorHandle};
use hermes_store::{
    ExportOptions, Format, ImportCaps, Lineage, Masking, MediaForm, NewRecord, Rows, SessionFilter,
    Store, StoreError, document_name, verify_document,
};
use serde_json::{Value as Json, json};

use super::fixture::{Fixture, id};

pub(crate) fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/fixtures/reference/state")
        .join(name)
}

pub(crate) fn read_golden(name: &str) -> String {
    std::fs::read_to_string(golden(name)).unwrap()
}

pub(crate) fn options(format: Format) -> ExportOptions {
    ExportOptions::new(format, Redactor::new([]))
}

pub(crate) fn all_ids(store: &Store) -> Vec<SessionId> {
    let filter = SessionFilter {
        include_archived: true,
        ..SessionFilter::default()
    };
    store.session_ids(filter).wait().unwrap()
}

pub(crate) fn export_all(store: &Store, options: &ExportOptions) -> String {
    let mut out = Vec::new();
    store.export(&all_ids(store), options, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn export_one(store: &Store, session: &SessionId, options: &ExportOptions) -> String {
    let mut out = Vec::new();
    let session = std::slice::from_ref(session);
    store.export(session, options, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// A store that took over the reference's export.
fn golden_store() -> Fixture {
    let fixture = Fixture::new();
    let file = golden("expected/export.jsonl");
    let text = std::fs::read(&file).unwrap();
    let caps = ImportCaps::default();
    fixture.store.import_jsonl(&file, &*text, &caps).unwrap();
    fixture
}

/// Lines as JSON without what is ours to choose: the ids of messages, and for the one session that was
/// rewound its count, which in the reference still includes the rows that were taken back.
pub(crate) fn comparable(lines: &str) -> Vec<Json> {
    let mut lines: Vec<Json> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    for session in &mut lines {
        for message in session["messages"].as_array_mut().unwrap() {
            message.as_object_mut().unwrap().shift_remove("id");
        }
        if session["id"] == "20250616_021320_5ee5ee" {
            session["message_count"] = 4.into();
        }
    }
    lines
}

fn key_order(lines: &[Json]) -> Vec<Vec<String>> {
    let keys = |value: &Json| value.as_object().unwrap().keys().cloned().collect();
    lines
        .iter()
        .flat_map(|session| {
            let messages = session["messages"].as_array().unwrap();
            std::iter::once(keys(session)).chain(messages.iter().map(keys))
        })
        .collect()
}

#[track_caller]
fn check_against_golden(store: &Store) {
    let inline = ExportOptions {
        media: MediaForm::Inline,
        ..options(Format::Jsonl)
    };
    let ours = comparable(&export_all(store, &inline));
    let theirs = comparable(&read_golden("expected/export.jsonl"));
    for (ours, theirs) in ours.iter().zip(&theirs) {
        assert_eq!(ours, theirs);
    }
    assert_eq!(ours.len(), theirs.len());
    assert_eq!(key_order(&ours), key_order(&theirs));
}

#[test]
fn jsonl_of_an_imported_database_is_what_the_reference_exports() {
    let fixture = Fixture::new();
    fixture
        .store
        .import_reference(&golden("v22.db"), |_| ControlFlow::Continue(()))
        .unwrap();
    check_against_golden(&fixture.store);
}

#[test]
fn jsonl_of_an_imported_export_is_that_export() {
    check_against_golden(&golden_store().store);
}

#[test]
fn user_prompts_are_those_of_the_reference() {
    let fixture = golden_store();
    let inline = ExportOptions {
        media: MediaForm::Inline,
        ..options(Format::UserPrompts)
    };
    let without_ids = |text: &str| -> Vec<Json> {
        let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
        lines
            .map(|mut line: Json| {
                line.as_object_mut().unwrap().shift_remove("message_id");
                line
            })
            .collect()
    };
    assert_eq!(
        without_ids(&export_all(&fixture.store, &inline)),
        without_ids(&read_golden("expected/export_user_prompts.jsonl"))
    );
}

#[test]
fn document_names_are_those_of_the_reference() {
    let cases: Json = serde_json::from_str(&read_golden("expected/export_names.json")).unwrap();
    for case in cases.as_array().unwrap() {
        let name = document_name(
            case["id"].as_str().unwrap(),
            case["title"].as_str(),
            Format::Markdown,
        );
        assert_eq!(name, case["file"], "{case}");
    }
}

/// The check as a user would do it by hand.
fn sha256sum_agrees(text: &str) -> bool {
    let hash = text.trim_end().trim_end_matches('`');
    let hash = hash.rsplit('`').next().unwrap();
    let pending = text.replace(hash, "pending");
    let mut child = Command::new("sha256sum")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(pending.as_bytes()).unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    String::from_utf8(output.stdout).unwrap().starts_with(hash)
}

#[test]
fn cl_24_document_hash_verifies_with_an_independent_tool() {
    let fixture = golden_store();
    for session in all_ids(&fixture.store) {
        let document = fixture
            .store
            .document(&session, &options(Format::Markdown))
            .unwrap();
        assert!(sha256sum_agrees(&document.text), "{}", document.text);
        assert!(verify_document(&document.text));
        assert!(!verify_document(
            &document.text.replacen("hermes", "Hermes", 1)
        ));
    }
}

#[test]
fn documents_of_the_reference_verify_too() {
    let folder = golden("expected/md");
    let mut checked = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path
            .extension()
            .is_some_and(|end| end == "md" || end == "qmd")
        {
            let text = std::fs::read_to_string(&path).unwrap();
            assert!(verify_document(&text), "{}", path.display());
            checked += 1;
        }
    }
    assert_eq!(checked, 5);
}

/// The names in the front matter, in order.
fn front_matter(text: &str) -> Vec<(String, Json)> {
    let (head, _) = text
        .strip_prefix("---\n")
        .unwrap()
        .split_once("---\n")
        .unwrap();
    head.lines()
        .map(|line| {
            let (name, value) = line.split_once(": ").unwrap();
            (name.to_owned(), serde_json::from_str(value).unwrap())
        })
        .collect()
}

#[test]
fn a_document_of_the_whole_lineage_has_the_keys_of_the_reference() {
    let fixture = golden_store();
    let logical = ExportOptions {
        lineage: Lineage::Logical,
        ..options(Format::Quarto)
    };
    // Any session of the conversation leads to the same document.
    let document = fixture
        .store
        .document(&id("20250615_181000_0000ab"), &logical)
        .unwrap();
    let theirs = read_golden("expected/md/20250615_182640_0000ac-refactor-3.qmd");
    let keys = |text: &str| -> Vec<String> {
        front_matter(text)
            .into_iter()
            .map(|(name, _)| name)
            .collect()
    };
    assert_eq!(keys(&document.text), keys(&theirs));
    // Ours: when the conversation began and was last active, and our name.
    let ours = ["created_at", "updated_at", "exported_at", "exporter"];
    let rest = |text: &str| -> Vec<(String, Json)> {
        let fields = front_matter(text).into_iter();
        fields
            .filter(|(name, _)| !ours.contains(&&**name))
            .collect()
    };
    assert_eq!(rest(&document.text), rest(&theirs));
    assert_eq!(document.file_name, "20250615_182640_0000ac-refactor-3.qmd");
    assert_eq!(document.text.matches("\n### ").count(), 16);
    assert!(
        document
            .text
            .contains("\nexported_at: \"2026-07-01T12:00:00Z\"\nexporter: \"hermes\"\n")
    );
}

#[test]
fn the_lineage_is_written_once() {
    let fixture = golden_store();
    let logical = ExportOptions {
        lineage: Lineage::Logical,
        ..options(Format::Markdown)
    };
    let text = export_all(&fixture.store, &logical);
    assert_eq!(text.matches("\nlineage_session_ids: ").count(), 1);
    assert_eq!(text.matches("Long task part 0").count(), 1);
}

#[test]
fn manifest_entries_have_the_keys_of_the_reference() {
    let fixture = golden_store();
    let document = fixture
        .store
        .document(&id("20250615_150640_a1b2c3"), &options(Format::Markdown))
        .unwrap();
    let path = Path::new("out").join(&document.file_name);
    let line = document.entry(&path).line();
    let manifest = read_golden("expected/md/manifest.jsonl");
    let theirs: Json = serde_json::from_str(manifest.lines().next().unwrap()).unwrap();
    let mut ours: Json = serde_json::from_str(&line).unwrap();
    let keys =
        |value: &Json| -> Vec<String> { value.as_object().unwrap().keys().cloned().collect() };
    assert_eq!(keys(&ours), keys(&theirs));
    for ours_alone in ["sha256", "exported_at"] {
        ours[ours_alone] = theirs[ours_alone].clone();
    }
    assert_eq!(ours, theirs);
    assert!(line.ends_with("}\n"));
}

#[test]
fn a_fence_is_longer_than_any_run_of_backticks_inside() {
    let fixture = Fixture::new();
    let session = fixture.session("fence");
    let record = NewRecord {
        tool_calls: Some(json!([{ "id": "c", "function": { "name": "t", "arguments": "`````" } }])),
        ..NewRecord::text(Role::Assistant, "")
    };
    fixture.store.append(&session, vec![record]).wait().unwrap();
    let text = export_one(&fixture.store, &session, &options(Format::Markdown));
    assert!(text.contains("\n``````json\n[\n"), "{text}");
    assert!(text.contains("\n]\n``````\n"), "{text}");
}

fn picture_session(fixture: &Fixture) -> (SessionId, String) {
    let session = fixture.session("picture");
    let hash = fixture.store.blobs().put(b"\x89PNG fake").unwrap();
    let message = Message {
        role: Role::User,
        parts: vec![
            Part::Text {
                text: "look".to_owned(),
            },
            Part::Media(Media {
                mime: "image/png".to_owned(),
                source: MediaSource::Blob(hash.clone()),
                name: None,
            }),
        ],
        raw: None,
    };
    let record = NewRecord::from(&message);
    fixture.store.append(&session, vec![record]).wait().unwrap();
    (session, hash)
}

#[test]
fn media_are_hashes_unless_asked_for() {
    let fixture = Fixture::new();
    let (session, hash) = picture_session(&fixture);
    for format in [
        Format::Jsonl,
        Format::UserPrompts,
        Format::Markdown,
        Format::Html,
        Format::Trace,
    ] {
        let by_hash = export_one(&fixture.store, &session, &options(format));
        assert!(by_hash.contains(&hash), "{format:?}: {by_hash}");
        let inline = ExportOptions {
            media: MediaForm::Inline,
            ..options(format)
        };
        let inline = export_one(&fixture.store, &session, &inline);
        assert!(inline.contains("iVBORyBmYWtl"), "{format:?}: {inline}");
        assert!(!inline.contains(&hash), "{format:?}: {inline}");
    }
}

#[test]
fn html_escapes_everything_and_loads_nothing() {
    let fixture = Fixture::new();
    let session = fixture.session("attack");
    let attack = "\"'><script>alert(1)</script><img src=x onerror=alert(2)>";
    let record = NewRecord {
        tool_calls: Some(
            json!([{ "id": attack, "function": { "name": attack, "arguments": attack } }]),
        ),
        tool_name: Some(attack.to_owned()),
        reasoning: Some(attack.to_owned()),
        ..NewRecord::text(
            Role::Assistant,
            format!("{attack}\n```{attack}\n{attack}\n```"),
        )
    };
    let media = NewRecord {
        role: attack.to_owned(),
        parts: Some(json!([
            { "type": "media", "mime": attack, "name": attack, "source": { "url": attack } },
            { "type": "media", "mime": attack, "source": { "blob": attack } },
            { "type": "tool_result", "call": attack, "name": attack, "content": attack },
        ])),
        ..NewRecord::default()
    };
    let records = vec![record, media];
    fixture.store.append(&session, records).wait().unwrap();
    fixture.store.rename(&session, attack).wait().unwrap();
    let page = export_one(&fixture.store, &session, &options(Format::Html));
    let body = page.split_once("</head>").unwrap().1;
    for bad in ["<script", "<img", "\"'>", "http://", "https://"] {
        assert!(!body.contains(bad), "{bad} in {body}");
    }
    let allowed = [
        "main", "article", "header", "h1", "p", "section", "b", "time", "details", "summary",
        "code", "pre", "body", "html",
    ];
    for tag in body.split('<').skip(1) {
        let name: String = tag
            .trim_start_matches('/')
            .chars()
            .take_while(char::is_ascii_alphanumeric)
            .collect();
        assert!(allowed.contains(&&*name), "<{tag}");
    }
    assert!(page.contains("default-src 'none'"));
    assert!(page.contains("prefers-color-scheme: dark"));
}

#[test]
fn a_trace_links_its_messages_and_is_the_same_every_time() {
    let fixture = golden_store();
    let session = id("20250615_150640_a1b2c3");
    let text = export_one(&fixture.store, &session, &options(Format::Trace));
    assert_eq!(
        text,
        export_one(&fixture.store, &session, &options(Format::Trace))
    );
    let lines: Vec<Json> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 9);
    let mut parent = Json::Null;
    for line in &lines {
        assert_eq!(line["parentUuid"], parent);
        parent = line["uuid"].clone();
        let uuid = parent.as_str().unwrap();
        assert_eq!(uuid.len(), 36);
        assert_eq!(uuid.as_bytes()[14], b'5');
        assert!(matches!(uuid.as_bytes()[19], b'8' | b'9' | b'a' | b'b'));
    }
    let second = &lines[1];
    assert_eq!(second["type"], "assistant");
    assert_eq!(second["cwd"], "/srv/project");
    assert_eq!(second["sessionId"], "20250615_150640_a1b2c3");
    assert_eq!(second["timestamp"], "2025-06-15T15:07:00.500Z");
    assert_eq!(second["message"]["model"], "acme/large");
    assert_eq!(second["message"]["stop_reason"], "tool_use");
    assert_eq!(
        second["message"]["content"],
        json!([
            { "type": "thinking", "thinking": "need a listing" },
            { "type": "tool_use", "id": "call_1", "name": "terminal", "input": { "command": "ls -la" } },
        ])
    );
    assert_eq!(
        lines[0]["message"]["content"],
        "List the files in the project, please."
    );
    assert_eq!(lines[2]["type"], "user");
    assert_eq!(lines[2]["message"]["content"][0]["tool_use_id"], "call_1");
}

#[test]
fn secrets_are_masked_in_traces_always_and_elsewhere_when_asked() {
    let fixture = Fixture::with_redactor(RedactorHandle::default());
    let session = fixture.session("secret");
    let key = format!("ghp_{}", "A1b2C3d4E5f6".repeat(3));
    let record = NewRecord {
        tool_calls: Some(
            json!([{ "id": "c", "function": { "name": "t", "arguments": format!("{{\"k\":\"{key}\"}}") } }]),
        ),
        reasoning: Some(format!("the key is {key}")),
        extra: Some(json!({ "api_content": format!("again {key}") })),
        ..NewRecord::text(Role::Assistant, format!("use {key} for it"))
    };
    fixture.store.append(&session, vec![record]).wait().unwrap();
    fixture
        .store
        .append(
            &session,
            vec![NewRecord::text(Role::User, format!("I say {key}"))],
        )
        .wait()
        .unwrap();
    let every = [
        Format::Jsonl,
        Format::UserPrompts,
        Format::Markdown,
        Format::Quarto,
        Format::Html,
        Format::Trace,
    ];
    for format in every {
        let as_stored = export_one(&fixture.store, &session, &options(format));
        assert_eq!(
            as_stored.contains(&key),
            format != Format::Trace,
            "{format:?}"
        );
        let masked = ExportOptions {
            masking: Masking::Full,
            ..options(format)
        };
        let masked = export_one(&fixture.store, &session, &masked);
        assert!(!masked.contains(&key), "{format:?}: {masked}");
    }
}

#[test]
fn rows_that_were_taken_back_are_written_when_asked() {
    let fixture = Fixture::new();
    let session = fixture.session("rewound");
    let ids = fixture.say(&session, &["one", "two", "three"]);
    fixture.store.rewind(&session, ids[2]).wait().unwrap();
    let texts = |rows| {
        let options = ExportOptions {
            rows,
            ..options(Format::Jsonl)
        };
        let line: Json =
            serde_json::from_str(&export_one(&fixture.store, &session, &options)).unwrap();
        let messages = line["messages"].as_array().unwrap().clone();
        let flags = |row: &Json| json!([row["content"], row["active"], row["compacted"]]);
        messages.iter().map(flags).collect::<Json>()
    };
    assert_eq!(texts(Rows::Active), json!([["one", 1, 0], ["two", 1, 0]]));
    assert_eq!(
        texts(Rows::All),
        json!([["one", 1, 0], ["two", 1, 0], ["three", 0, 0]])
    );
}

#[test]
fn a_writer_that_fails_is_reported() {
    struct Full;
    impl std::io::Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let fixture = golden_store();
    let outcome =
        fixture
            .store
            .export(&all_ids(&fixture.store), &options(Format::Jsonl), &mut Full);
    assert!(matches!(outcome, Err(StoreError::Output(_))), "{outcome:?}");
}
