//! What is said to a server.

use std::path::Path;

use serde_json::{Value as Json, json};

/// The one request of ours.
pub(super) const INITIALIZE: u64 = 1;
/// The protocol's number for a request that nobody answers.
const UNKNOWN_METHOD: i64 = -32_601;

/// The first words.
pub(super) fn initialize(root: &Path) -> Json {
    let root = uri(root);
    json!({
        "jsonrpc": "2.0", "id": INITIALIZE, "method": "initialize",
        "params": {
            // It is not our child, and ends with its input.
            "processId": null,
            "clientInfo": {"name": "hermes"},
            "rootUri": root,
            "workspaceFolders": [{"uri": root, "name": "project"}],
            "capabilities": {
                "textDocument": {
                    "publishDiagnostics": {"versionSupport": true},
                    "synchronization": {"didSave": true},
                },
                "workspace": {"configuration": true, "workspaceFolders": true},
            },
        },
    })
}

pub(super) fn initialized() -> Json {
    notice("initialized", json!({}))
}

pub(super) fn opened(uri: &str, language: &str, text: &str) -> Json {
    let document = json!({"uri": uri, "languageId": language, "version": 1, "text": text});
    notice("textDocument/didOpen", json!({"textDocument": document}))
}

/// The whole text is sent: every server takes that.
pub(super) fn changed(uri: &str, version: i64, text: &str) -> Json {
    let params = json!({
        "textDocument": {"uri": uri, "version": version},
        "contentChanges": [{"text": text}],
    });
    notice("textDocument/didChange", params)
}

pub(super) fn saved(uri: &str) -> Json {
    notice(
        "textDocument/didSave",
        json!({"textDocument": {"uri": uri}}),
    )
}

pub(super) fn closed(uri: &str) -> Json {
    notice(
        "textDocument/didClose",
        json!({"textDocument": {"uri": uri}}),
    )
}

fn notice(method: &str, params: Json) -> Json {
    json!({"jsonrpc": "2.0", "method": method, "params": params})
}

/// The answer to a request of the server's.
pub(super) fn answer(method: &str, id: &Json, params: &Json) -> Json {
    match method {
        // It has to do with what it would do without settings.
        "workspace/configuration" => {
            let asked = params.get("items").and_then(Json::as_array);
            let nothing = vec![Json::Null; asked.map_or(1, Vec::len)];
            json!({"jsonrpc": "2.0", "id": id, "result": nothing})
        }
        "window/workDoneProgress/create"
        | "client/registerCapability"
        | "client/unregisterCapability" => {
            json!({"jsonrpc": "2.0", "id": id, "result": null})
        }
        _ => {
            let error = json!({"code": UNKNOWN_METHOD, "message": "not offered"});
            json!({"jsonrpc": "2.0", "id": id, "error": error})
        }
    }
}

/// The address of a file.
pub(super) fn uri(path: &Path) -> String {
    use std::os::unix::ffi::OsStrExt as _;
    let mut text = "file://".to_owned();
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
                text.push(char::from(*byte));
            }
            other => text.push_str(&format!("%{other:02X}")),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_hold_what_names_may_hold() {
        assert_eq!(uri(Path::new("/a b/ä#.rs")), "file:///a%20b/%C3%A4%23.rs");
    }

    #[test]
    fn every_request_is_answered() {
        let asked = json!({"items": [{}, {}]});
        let answered = answer("workspace/configuration", &json!(7), &asked);
        assert_eq!(answered["result"], json!([null, null]));
        let other = answer("window/showDocument", &json!("a"), &Json::Null);
        assert_eq!(other["error"]["code"], UNKNOWN_METHOD);
        assert_eq!(other["id"], "a");
    }
}
