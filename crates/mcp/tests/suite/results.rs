//! What the model gets of a server's answers.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hermes_core::MediaSource;
use hermes_mcp::{Answers, Asked, Rendered, Shelf, ShelfFolders, Trouble};
use hermes_secrets::{RedactorHandle, Secret, SecretName};
use hermes_store::Blobs;
use serde_json::{Value as Json, json};
use tempfile::TempDir;

const PNG: &[u8] = b"\x89PNG\r\n\x1a\nthe rest of a picture";

struct Lab {
    home: TempDir,
    blobs: Blobs,
    answers: Answers,
}

fn lab() -> Lab {
    let home = tempfile::tempdir().unwrap();
    let blobs = Blobs::new(home.path().join("blobs"));
    let shelf = Shelf::new(ShelfFolders::of_home(home.path()), Some(blobs.clone()));
    let name = SecretName::new("TOKEN").unwrap();
    let secret = Secret::new(name, "hunter2-hunter2".to_owned(), []).unwrap();
    let reader = Some("mcp__s__read_resource".to_owned());
    let redactor = RedactorHandle::new([secret]);
    Lab {
        answers: Answers::new("s".to_owned(), reader, Arc::new(shelf), redactor),
        home,
        blobs,
    }
}

impl Lab {
    fn tool(&self, answer: Json) -> (Json, Rendered) {
        let rendered = self.answers.render_now(Asked::Tool, &answer);
        (serde_json::from_str(&rendered.content).unwrap(), rendered)
    }

    fn shown(&self, asked: Asked, answer: Json) -> Json {
        serde_json::from_str(&self.answers.render_now(asked, &answer).content).unwrap()
    }
}

fn only_file(folder: &Path) -> (String, Vec<u8>) {
    let mut entries = fs::read_dir(folder).unwrap();
    let path = entries.next().unwrap().unwrap().path();
    assert!(entries.next().is_none());
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o600
    );
    assert_eq!(
        fs::metadata(folder).unwrap().permissions().mode() & 0o777,
        0o700
    );
    let name = path.file_name().unwrap().to_str().unwrap().to_owned();
    (name, fs::read(path).unwrap())
}

// MCP-57
#[test]
fn texts_and_structures_have_their_shapes() {
    let lab = lab();
    let text = |text: &str| json!({ "type": "text", "text": text });
    let (shown, rendered) = lab.tool(json!({ "content": [text("a"), text("b")] }));
    assert_eq!(shown, json!({ "result": "a\nb" }));
    assert!(!rendered.failed);
    let (shown, _) = lab.tool(json!({ "content": [text("a")], "structuredContent": { "x": 1 } }));
    assert_eq!(
        shown,
        json!({ "result": "a", "structuredContent": { "x": 1 } })
    );
    let (shown, _) = lab.tool(json!({ "content": [], "structuredContent": { "x": 1 } }));
    assert_eq!(shown, json!({ "result": { "x": 1 } }));
    assert_eq!(lab.tool(json!({})).0, json!({ "result": "" }));
    let odd = json!({ "content": [{ "type": "hologram" }, text("kept"), 7, { "type": "text" }] });
    assert_eq!(lab.tool(odd).0, json!({ "result": "kept" }));
}

// MCP-57
#[test]
fn a_picture_is_kept_and_shown() {
    let lab = lab();
    let data = STANDARD.encode(PNG);
    // What the bytes are counts, not what they are called.
    let image = json!({ "type": "image", "data": data, "mimeType": "image/jpeg" });
    let (shown, rendered) = lab.tool(json!({ "content": [image] }));
    let (name, bytes) = only_file(&lab.home.path().join("cache/images"));
    assert!(
        name.starts_with("img_") && name.ends_with(".png") && name.len() == 20,
        "{name}"
    );
    assert_eq!(bytes, PNG);
    let line = format!(
        "MEDIA:{}",
        lab.home.path().join("cache/images").join(&name).display()
    );
    assert_eq!(shown, json!({ "result": line }));
    let [media] = rendered.media.as_slice() else {
        panic!("{rendered:?}");
    };
    assert_eq!(media.mime, "image/png");
    let MediaSource::Blob(hash) = &media.source else {
        panic!("{media:?}");
    };
    assert_eq!(lab.blobs.get(hash).unwrap(), PNG);
}

// MCP-57
#[test]
fn bad_blocks_cost_only_themselves() {
    let lab = lab();
    let image = |data: &str| json!({ "type": "image", "data": data, "mimeType": "image/png" });
    let huge = "A".repeat(70 * 1024 * 1024);
    let (shown, rendered) = lab.tool(json!({ "content": [
        image("%%%"), image(""), image(&STANDARD.encode("<html>")), image(&huge), { "type": "text", "text": "t" },
    ] }));
    let text = shown["result"].as_str().unwrap();
    assert_eq!(text.lines().count(), 5, "{text}");
    assert!(text.contains("not valid") && text.contains("50 MiB") && text.ends_with("\nt"));
    assert!(rendered.media.is_empty());
    assert!(!lab.home.path().join("cache/images").exists());
}

// MCP-57
#[test]
fn sounds_resources_and_links_have_their_notes() {
    let lab = lab();
    let (shown, _) = lab.tool(json!({ "content": [
        { "type": "audio", "data": STANDARD.encode("beep"), "mimeType": "audio/wav" },
        { "type": "resource", "resource": { "uri": "x://a", "text": "inside" } },
        { "type": "resource", "resource": { "uri": "x://h/..%2fevil%1b.bin?t=1", "blob": STANDARD.encode("bytes"),
            "mimeType": "application/octet-stream" } },
        { "type": "resource_link", "uri": "x://l", "name": "the list", "mimeType": "text/plain" },
    ] }));
    let lines: Vec<&str> = shown["result"].as_str().unwrap().lines().collect();
    let (name, _) = only_file(&lab.home.path().join("cache/audio"));
    assert!(
        name.starts_with("audio_") && name.ends_with(".wav"),
        "{name}"
    );
    assert!(lines[0].starts_with("MEDIA:") && lines[0].ends_with(&name));
    assert_eq!(lines[1], "inside");
    let (name, bytes) = only_file(&lab.home.path().join("cache/documents"));
    assert!(
        name.starts_with("doc_") && name.ends_with("_evil.bin"),
        "{name}"
    );
    assert_eq!(bytes, b"bytes");
    assert!(lines[2].contains(&name) && lines[2].contains("application/octet-stream, 5 bytes"));
    assert_eq!(
        lines[3],
        "[resource x://l, the list, text/plain; read it with mcp__s__read_resource]"
    );
}

// MCP-57: a name is as long as file systems take it, in every script.
#[test]
fn a_resource_with_a_long_name_is_kept() {
    for letter in ["a", "ä", "報", "🦀"] {
        let lab = lab();
        let uri = format!("x://h/{}.pdf", letter.repeat(300));
        let blob = STANDARD.encode("bytes");
        let resource = json!({ "type": "resource", "resource": { "uri": uri, "blob": blob } });
        let (shown, _) = lab.tool(json!({ "content": [resource] }));
        let (name, bytes) = only_file(&lab.home.path().join("cache/documents"));
        assert!(name.ends_with(&format!("{letter}.pdf")), "{name}");
        assert_eq!(bytes, b"bytes");
        assert!(shown["result"].as_str().unwrap().contains(&name), "{shown}");
    }
}

// MCP-57 MCP-61
#[test]
fn a_tool_that_fails_says_so_without_secrets() {
    let lab = lab();
    let text = "refused hunter2-hunter2 at https://h.example.test/x?key=abc";
    let (shown, rendered) = lab.tool(json!({ "isError": true, "content": [
        { "type": "text", "text": text },
        { "type": "resource", "resource": { "uri": "x://a", "text": "and inside" } },
    ] }));
    assert!(rendered.failed);
    let error = shown["error"].as_str().unwrap();
    assert!(
        error.contains("https://h.example.test/x?…") && error.ends_with("and inside"),
        "{error}"
    );
    assert!(
        !error.contains("hunter2") && !error.contains("key=abc"),
        "{error}"
    );
    let (shown, _) = lab.tool(json!({ "isError": true, "content": [] }));
    assert!(!shown["error"].as_str().unwrap().is_empty());
}

// MCP-57
#[test]
fn lists_resources_and_prompts_have_their_shapes() {
    let lab = lab();
    let listed = json!({ "resources": [
        { "uri": "x://a", "name": "a", "title": "T", "size": 3, "mimeType": "text/plain", "description": null },
    ] });
    let expected =
        json!({ "resources": [{ "uri": "x://a", "name": "a", "mimeType": "text/plain" }] });
    assert_eq!(lab.shown(Asked::Resources, listed), expected);
    let contents = json!({ "contents": [{ "uri": "x://a", "text": "one" }, { "uri": "x://b", "text": "two" }] });
    assert_eq!(
        lab.shown(Asked::Resource, contents),
        json!({ "result": "one\ntwo" })
    );
    let prompts = json!({ "prompts": [
        { "name": "p", "arguments": [{ "name": "x", "required": true, "title": "T" }] }, { "name": "q", "arguments": [] },
    ] });
    let expected = json!({ "prompts": [
        { "name": "p", "arguments": [{ "name": "x", "required": true }] }, { "name": "q" },
    ] });
    assert_eq!(lab.shown(Asked::Prompts, prompts), expected);
    let filled = json!({ "description": "d", "messages": [
        { "role": "user", "content": { "type": "text", "text": "hello" } },
        { "role": "assistant", "content": [{ "type": "text", "text": "a" }, { "type": "text", "text": "b" }] },
    ] });
    let expected = json!({ "description": "d", "messages": [
        { "role": "user", "content": "hello" }, { "role": "assistant", "content": "a\nb" },
    ] });
    assert_eq!(lab.shown(Asked::Prompt, filled), expected);
}

// MCP-57 MCP-61
#[test]
fn troubles_say_what_the_model_should_do() {
    let lab = lab();
    let shown = |trouble: Trouble| -> Json {
        serde_json::from_str(&lab.answers.trouble(&trouble)).unwrap()
    };
    let says = |json: &Json, text: &str| json["error"].as_str().unwrap().contains(text);
    let failed = shown(Trouble::Failed {
        kind: "Timeout".to_owned(),
        text: "hunter2-hunter2 at http://h/?token=x".to_owned(),
    });
    assert!(says(&failed, "MCP call failed: Timeout: "), "{failed}");
    assert!(
        !says(&failed, "hunter2") && !says(&failed, "token=x"),
        "{failed}"
    );
    let open = shown(Trouble::Unreachable {
        failures: 3,
        retry_in: Duration::from_millis(200),
    });
    assert!(says(&open, "unreachable") && says(&open, "~1s"), "{open}");
    let coming = shown(Trouble::Reconnecting {
        why: Some("the connection was lost".to_owned()),
        wait: Duration::from_secs(5),
    });
    assert!(
        says(&coming, "reconnect") && says(&coming, "(the connection was lost)"),
        "{coming}"
    );
    let down = shown(Trouble::Down {
        why: Some("it could not be connected".to_owned()),
        retry_in: Duration::from_secs(290),
    });
    for part in ["reconnect", "(it could not be connected)", "~290s"] {
        assert!(says(&down, part), "{down}");
    }
    let reauth = shown(Trouble::NeedsReauth {
        why: "expired".to_owned(),
        how: "run `hermes mcp login s`".to_owned(),
    });
    assert!(says(&reauth, "hermes mcp login s"), "{reauth}");
    assert_eq!(
        (&reauth["needs_reauth"], &reauth["server"]),
        (&json!(true), &json!("s"))
    );
    let unknown = shown(Trouble::OutcomeUnknown {
        kind: "ConnectionLost".to_owned(),
        text: "cut".to_owned(),
    });
    assert!(
        says(&unknown, "MCP call failed: ConnectionLost: cut"),
        "{unknown}"
    );
    assert_eq!(
        (&unknown["outcome_unknown"], &unknown["server"]),
        (&json!(true), &json!("s"))
    );
    assert!(says(&shown(Trouble::Interrupted), "interrupted"));
    assert!(says(&shown(Trouble::NotConnected), "not connected"));
}
