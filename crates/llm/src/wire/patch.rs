//! Keeping a provider's own form of a turn in step with calls that were mended or left out.
//!
//! The raw turn is what goes back to the provider. When the engine corrected a call's arguments or
//! dropped a doubled call, the provider must see what was really run, and its signed thinking unchanged.

use std::collections::HashMap;

use hermes_core::{RawTurn, ToolCall, WireProtocol};
use serde_json::{Map, Value as Json};

/// Makes the calls of a raw turn equal to `calls`: same arguments, same names, no others.
pub fn patch_calls(raw: &mut RawTurn, calls: &[ToolCall]) {
    let wanted: HashMap<&str, &ToolCall> = calls
        .iter()
        .map(|call| (call.id.0.as_str(), call))
        .collect();
    match raw.protocol {
        WireProtocol::ChatCompletions => {
            if let Some(list) = raw.body.get_mut("tool_calls").and_then(Json::as_array_mut) {
                list.retain_mut(|call| chat(call, &wanted));
            }
        }
        WireProtocol::Responses => retain(&mut raw.body, |item| responses(item, &wanted)),
        WireProtocol::Anthropic => retain(&mut raw.body, |block| anthropic(block, &wanted)),
        WireProtocol::Converse => retain(&mut raw.body, |block| converse(block, &wanted)),
        // Gemini gives calls no ids of its own: they are told apart by their order.
        WireProtocol::Gemini => gemini(&mut raw.body, calls),
    }
}

fn retain(body: &mut Json, keep: impl FnMut(&mut Json) -> bool) {
    if let Some(list) = body.as_array_mut() {
        list.retain_mut(keep);
    }
}

/// Replaces a value only when it means something else, so that untouched turns keep their bytes.
fn update(object: &mut Map<String, Json>, key: &str, value: Json) {
    if object.get(key) != Some(&value) {
        object.insert(key.to_owned(), value);
    }
}

/// Arguments that are sent as text are replaced only when the text means something else.
fn update_text(object: &mut Map<String, Json>, key: &str, arguments: &Json) {
    let same = object
        .get(key)
        .and_then(Json::as_str)
        .and_then(|text| serde_json::from_str::<Json>(text).ok())
        .is_some_and(|known| known == *arguments);
    if !same {
        object.insert(key.to_owned(), arguments.to_string().into());
    }
}

fn chat(call: &mut Json, wanted: &HashMap<&str, &ToolCall>) -> bool {
    let id = call.get("id").and_then(Json::as_str).unwrap_or_default();
    let Some(wanted) = wanted.get(id) else {
        return false;
    };
    if let Some(function) = call.get_mut("function").and_then(Json::as_object_mut) {
        update(function, "name", wanted.name.as_str().into());
        update_text(function, "arguments", &wanted.arguments);
    }
    true
}

fn responses(item: &mut Json, wanted: &HashMap<&str, &ToolCall>) -> bool {
    if item.get("type").and_then(Json::as_str) != Some("function_call") {
        return true;
    }
    let id = item
        .get("call_id")
        .and_then(Json::as_str)
        .unwrap_or_default();
    let Some(wanted) = wanted.get(id) else {
        return false;
    };
    if let Some(item) = item.as_object_mut() {
        update(item, "name", wanted.name.as_str().into());
        update_text(item, "arguments", &wanted.arguments);
    }
    true
}

fn anthropic(block: &mut Json, wanted: &HashMap<&str, &ToolCall>) -> bool {
    if block.get("type").and_then(Json::as_str) != Some("tool_use") {
        return true;
    }
    let id = block.get("id").and_then(Json::as_str).unwrap_or_default();
    let Some(wanted) = wanted.get(id) else {
        return false;
    };
    if let Some(block) = block.as_object_mut() {
        update(block, "name", wanted.name.as_str().into());
        update(block, "input", wanted.arguments.clone());
    }
    true
}

fn converse(block: &mut Json, wanted: &HashMap<&str, &ToolCall>) -> bool {
    let Some(used) = block.get_mut("toolUse").and_then(Json::as_object_mut) else {
        return true;
    };
    let id = used
        .get("toolUseId")
        .and_then(Json::as_str)
        .unwrap_or_default();
    let Some(wanted) = wanted.get(id) else {
        return false;
    };
    update(used, "name", wanted.name.as_str().into());
    update(used, "input", wanted.arguments.clone());
    true
}

fn gemini(body: &mut Json, calls: &[ToolCall]) {
    let mut next = calls.iter();
    retain(body, |part| {
        let Some(call) = part.get_mut("functionCall").and_then(Json::as_object_mut) else {
            return true;
        };
        let Some(wanted) = next.next() else {
            return false;
        };
        update(call, "name", wanted.name.as_str().into());
        update(call, "args", wanted.arguments.clone());
        true
    });
}

#[cfg(test)]
mod tests {
    use hermes_core::CallId;
    use serde_json::json;

    use super::*;

    fn patched(protocol: WireProtocol, body: Json) -> Json {
        let mut raw = RawTurn {
            protocol,
            provider: "p".into(),
            model: "m".into(),
            body,
        };
        let call = ToolCall {
            id: CallId("a".into()),
            name: "read_file".into(),
            arguments: json!({"path": "x"}),
        };
        patch_calls(&mut raw, &[call]);
        raw.body
    }

    // AG-19
    #[test]
    fn raw_turns_follow_mended_and_dropped_calls() {
        let chat = json!({"content": "hi", "tool_calls": [
            {"id": "a", "function": {"name": "ReadFile", "arguments": "{\"path\":\"x\",}"}},
            {"id": "b", "function": {"name": "read_file", "arguments": "{\"path\":\"x\"}"}},
        ]});
        assert_eq!(
            patched(WireProtocol::ChatCompletions, chat),
            json!({"content": "hi", "tool_calls": [
                {"id": "a", "function": {"name": "read_file", "arguments": "{\"path\":\"x\"}"}}]})
        );
        let blocks = json!([{"type": "thinking", "signature": "s"},
            {"type": "tool_use", "id": "a", "name": "ReadFile", "input": {}},
            {"type": "tool_use", "id": "b", "name": "x", "input": {}}]);
        assert_eq!(
            patched(WireProtocol::Anthropic, blocks),
            json!([{"type": "thinking", "signature": "s"},
                {"type": "tool_use", "id": "a", "name": "read_file", "input": {"path": "x"}}])
        );
        let items = json!([{"type": "reasoning"},
            {"type": "function_call", "call_id": "a", "name": "read_file", "arguments": "{ \"path\": \"x\" }"}]);
        assert_eq!(
            patched(WireProtocol::Responses, items.clone()),
            items,
            "bytes are kept"
        );
        let parts = json!([{"thoughtSignature": "s", "functionCall": {"name": "q", "args": {}}},
            {"functionCall": {"name": "r", "args": {}}}]);
        assert_eq!(
            patched(WireProtocol::Gemini, parts),
            json!([{"thoughtSignature": "s", "functionCall": {"name": "read_file", "args": {"path": "x"}}}])
        );
        let used =
            json!([{"toolUse": {"toolUseId": "a", "name": "q", "input": {}}}, {"text": "t"}]);
        assert_eq!(
            patched(WireProtocol::Converse, used),
            json!([{"toolUse": {"toolUseId": "a", "name": "read_file", "input": {"path": "x"}}}, {"text": "t"}])
        );
    }
}
