//! Messages as the protocol library reads them, without losing what it does not know.
//!
//! Tasks as of 2025-11-25 are such a thing: the library knows only those of a later revision, and drops what
//! it has no field for. What we need of it is moved to where the library keeps everything it finds.

use std::borrow::Cow;
use std::sync::LazyLock;

use hermes_core::without_halves;
use regex::bytes::Regex;
use rmcp::model::ServerJsonRpcMessage;
use serde::de::IgnoredAny;
use serde_json::{Map, Value as Json};

use super::overlong::instead;

/// Where `execution` of a tool is found in its `_meta`.
pub(crate) const EXECUTION: &str = "hermes/execution";
/// Where `tasks` of a server's capabilities is found among the experimental ones.
pub(crate) const TASKS: &str = "hermes/tasks";
/// Where a task is found in the answer to a question about it.
pub(crate) const TASK: &str = "hermes/task";

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Messages without one of these words are left alone, which is nearly all of them.
static WORDS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#""(?:execution|tasks|taskId)""#).ok());

/// Reads a message. Signs that are no text, as in one that was cut in the middle of a character, are replaced.
pub(super) fn parse(message: &[u8]) -> Result<ServerJsonRpcMessage, serde_json::Error> {
    let message = message.strip_prefix(BYTE_ORDER_MARK).unwrap_or(message);
    let read = match moved(message) {
        Some(message) => serde_json::from_value(message),
        None => serde_json::from_slice(message),
    };
    read.or_else(|error| {
        let text = String::from_utf8_lossy(message);
        let whole = without_halves(&text);
        if whole.as_bytes() == message {
            return Err(error);
        }
        serde_json::from_str(&prepared(whole.into_owned()))
    })
}

/// The text of a message for the library to read. In the place of an answer that it could not read stands one that
/// says so.
pub(super) fn prepared(message: String) -> String {
    let message = match without_halves(&message) {
        Cow::Owned(mended) => mended,
        Cow::Borrowed(_) => message,
    };
    if let Err(error) = serde_json::from_str::<IgnoredAny>(&message) {
        let instead = instead(message.as_bytes(), &error);
        let instead = instead.and_then(|answer| serde_json::to_string(&answer).ok());
        return instead.unwrap_or(message);
    }
    match moved(message.as_bytes()) {
        Some(message) => message.to_string(),
        None => message,
    }
}

/// The message with what would be lost in another place; nothing when nothing would be lost.
fn moved(message: &[u8]) -> Option<Json> {
    if !WORDS.as_ref()?.is_match(message) {
        return None;
    }
    let mut message: Json = serde_json::from_slice(message).ok()?;
    let result = message.get_mut("result")?.as_object_mut()?;
    if result.contains_key("taskId") {
        let task = Json::Object(std::mem::take(result));
        result.insert(TASK.to_owned(), task);
        return Some(message);
    }
    let mut found = false;
    if let Some(capabilities) = result.get_mut("capabilities") {
        found |= put_below(capabilities, "tasks", "experimental", TASKS);
    }
    let tools = result.get_mut("tools").and_then(Json::as_array_mut);
    for tool in tools.into_iter().flatten() {
        found |= put_below(tool, "execution", "_meta", EXECUTION);
    }
    found.then_some(message)
}

/// Moves an object from one key of its parent to a key of a sibling.
fn put_below(parent: &mut Json, from: &str, sibling: &str, name: &str) -> bool {
    let Some(parent) = parent.as_object_mut() else {
        return false;
    };
    let Some(object @ Json::Object(_)) = parent.remove(from) else {
        return false;
    };
    let sibling = parent
        .entry(sibling)
        .or_insert_with(|| Json::Object(Map::new()));
    if !sibling.is_object() {
        *sibling = Json::Object(Map::new());
    }
    if let Some(sibling) = sibling.as_object_mut() {
        sibling.insert(name.to_owned(), object);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn through(result: &Json) -> Json {
        let text = json!({ "jsonrpc": "2.0", "id": 1, "result": result }).to_string();
        let message = parse(text.as_bytes()).unwrap();
        let prepared: ServerJsonRpcMessage = serde_json::from_str(&prepared(text)).unwrap();
        assert_eq!(
            serde_json::to_value(&prepared).unwrap(),
            serde_json::to_value(&message).unwrap()
        );
        serde_json::to_value(message).unwrap()["result"].take()
    }

    // MCP-83
    #[test]
    fn half_a_character_does_not_cost_the_answer() {
        let said = |text: &str| {
            let answer = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"text":"{text}"}}}}"#);
            let prepared: Json = serde_json::from_str(&prepared(answer.clone())).unwrap();
            let read = serde_json::to_value(parse(answer.as_bytes()).unwrap()).unwrap();
            assert_eq!(read["result"], prepared["result"]);
            read["result"]["text"].as_str().unwrap().to_owned()
        };
        assert_eq!(said(r"cut \ud83c"), "cut \u{fffd}");
        assert_eq!(
            said(r"\udf89\ud83c\ud83c\udf89"),
            "\u{fffd}\u{fffd}\u{1f389}"
        );
        assert_eq!(said(r"a path \\ud83c"), r"a path \ud83c");
        let bytes = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"text\":\"caf\xe9\"}}";
        let read = serde_json::to_value(parse(bytes).unwrap()).unwrap();
        assert_eq!(read["result"]["text"], "caf\u{fffd}");
    }

    // MCP-88
    #[test]
    fn what_is_said_about_tasks_survives_the_library() {
        let capabilities =
            json!({ "tools": {}, "tasks": { "requests": { "tools": { "call": {} } } } });
        let read = through(&json!({
            "protocolVersion": "2025-11-25",
            "capabilities": capabilities,
            "serverInfo": { "name": "x", "version": "1" },
        }));
        let tasks = &read["capabilities"]["experimental"][TASKS];
        assert!(tasks["requests"]["tools"]["call"].is_object(), "{read}");
        let read = through(&json!({ "tools": [
            { "name": "a", "inputSchema": {}, "execution": { "taskSupport": "required" } },
            { "name": "b", "inputSchema": {}, "_meta": { "k": 1 }, "execution": "nonsense" },
        ] }));
        assert_eq!(
            read["tools"][0]["_meta"][EXECUTION]["taskSupport"],
            "required"
        );
        assert_eq!(read["tools"][1]["_meta"], json!({ "k": 1 }));
        for status in ["working", "completed", "strange"] {
            let task = json!({
                "taskId": "t", "status": status, "createdAt": "c", "lastUpdatedAt": "l",
                "ttl": null, "pollInterval": 70,
            });
            assert_eq!(through(&task), json!({ TASK: task }));
            let created = json!({ "task": task });
            assert_eq!(through(&created), created);
        }
        let said = json!({ "content": [{ "type": "text", "text": "\"taskId\" \"execution\"" }] });
        assert_eq!(through(&said)["content"], said["content"]);
    }
}
