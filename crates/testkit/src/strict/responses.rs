//! Responses: OpenAI's rules, and the stateless use that the Codex backend insists on.

use serde_json::Value;

use super::calls::Calls;
use super::checker::Checker;
use super::{chat, schema};

const MAX_ID_CHARS: usize = 64;

const KEYS: [&str; 29] = [
    "background",
    "conversation",
    "include",
    "input",
    "instructions",
    "max_output_tokens",
    "max_tool_calls",
    "metadata",
    "model",
    "parallel_tool_calls",
    "previous_response_id",
    "prompt",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "reasoning",
    "safety_identifier",
    "service_tier",
    "store",
    "stream",
    "stream_options",
    "temperature",
    "text",
    "tool_choice",
    "tools",
    "top_logprobs",
    "top_p",
    "truncation",
    "user",
];

/// Checks a whole body.
pub(super) fn check(checker: &mut Checker<'_>, body: &Value) {
    checker.keys("body", body, &KEYS);
    checker.text("model", &body["model"]);
    checker.require(body["store"] == false, "store", "must be false");
    if let Some(instructions) = body.get("instructions") {
        checker.text("instructions", instructions);
    }
    if let Some(key) = body.get("prompt_cache_key") {
        short_id(checker, "prompt_cache_key", key);
    }
    if let Some(reasoning) = body.get("reasoning") {
        checker.keys("reasoning", reasoning, &["effort", "summary"]);
    }
    input(checker, &body["input"]);
    tools(checker, body);
}

fn input(checker: &mut Checker<'_>, input: &Value) {
    let mut calls = Calls::default();
    let items = checker.items("input", input);
    for (index, (place, item)) in items.iter().enumerate() {
        if let Some(id) = item.get("id") {
            short_id(checker, &format!("{place}.id"), id);
        }
        match item["type"].as_str() {
            None | Some("message") => message(checker, place, item, &mut calls),
            Some("function_call") => {
                let known = ["type", "id", "call_id", "name", "arguments", "status"];
                checker.keys(place, item, &known);
                calls.open(checker, place, &item["call_id"]);
                checker.identifier(&format!("{place}.name"), &item["name"]);
                chat::json_object(checker, place, &item["arguments"]);
            }
            Some("function_call_output") => {
                let known = ["type", "id", "call_id", "output", "status"];
                checker.keys(place, item, &known);
                calls.answer(checker, place, &item["call_id"]);
                output(checker, place, &item["output"]);
            }
            Some("reasoning") => {
                let next = items.get(index + 1).map(|(_, next)| *next);
                reasoning(checker, place, item, next);
            }
            Some(other) => checker.add(place, format_args!("unknown item {other:?}")),
        }
    }
    calls.settle(checker, "input");
}

fn message(checker: &mut Checker<'_>, place: &str, item: &Value, calls: &mut Calls) {
    let known = ["type", "role", "content", "id", "status", "phase"];
    checker.keys(place, item, &known);
    let roles = ["user", "assistant", "system", "developer"];
    checker.word(&format!("{place}.role"), &item["role"], &roles);
    let kinds: &[&str] = if item["role"] == "assistant" {
        &["output_text", "refusal"]
    } else {
        // What the model says between its calls belongs to the same turn; anybody else ends it.
        calls.settle(checker, place);
        &["input_text", "input_image", "input_file"]
    };
    content(
        checker,
        &format!("{place}.content"),
        &item["content"],
        kinds,
    );
}

fn output(checker: &mut Checker<'_>, place: &str, output: &Value) {
    if !output.is_string() {
        let kinds = ["input_text", "input_image", "input_file"];
        content(checker, &format!("{place}.output"), output, &kinds);
    }
}

fn content(checker: &mut Checker<'_>, place: &str, content: &Value, kinds: &[&str]) {
    if !content.is_array() {
        checker.text(place, content);
        return;
    }
    for (place, part) in checker.items(place, content) {
        checker.word(&format!("{place}.type"), &part["type"], kinds);
        let known: &[&str] = match part["type"].as_str() {
            Some("input_text") => &["type", "text"],
            Some("output_text") => &["type", "text", "annotations", "logprobs"],
            Some("refusal") => &["type", "refusal"],
            Some("input_image") => &["type", "image_url", "detail", "file_id"],
            _ => &["type", "file_data", "file_id", "file_url", "filename"],
        };
        checker.keys(&place, part, known);
        if known.contains(&"text") {
            checker.text(&place, &part["text"]);
        }
        if part["type"] == "input_image" {
            let details = ["low", "high", "auto"];
            checker.word(&format!("{place}.detail"), &part["detail"], &details);
        }
    }
}

/// Without stored state the sealed content is all the vendor has, and it belongs to what follows.
fn reasoning(checker: &mut Checker<'_>, place: &str, item: &Value, next: Option<&Value>) {
    let known = [
        "type",
        "id",
        "encrypted_content",
        "summary",
        "content",
        "status",
    ];
    checker.keys(place, item, &known);
    checker.text(
        &format!("{place}.encrypted_content"),
        &item["encrypted_content"],
    );
    checker.require(
        item["summary"].is_array(),
        place,
        "`summary` must be a list",
    );
    let followed = next.is_some_and(|next| {
        next["role"] == "assistant"
            || next["type"] == "function_call"
            || next["type"] == "reasoning"
    });
    checker.require(followed, place, "reasoning without the item it led to");
}

fn short_id(checker: &mut Checker<'_>, place: &str, id: &Value) {
    let fits = id
        .as_str()
        .is_some_and(|id| (1..=MAX_ID_CHARS).contains(&id.chars().count()));
    checker.require(fits, place, "must be 1 to 64 characters");
}

fn tools(checker: &mut Checker<'_>, body: &Value) {
    let Some(tools) = body.get("tools") else {
        for key in ["tool_choice", "parallel_tool_calls"] {
            checker.require(body.get(key).is_none(), key, "only with `tools`");
        }
        return;
    };
    let tools = checker.items("tools", tools);
    let (hosted, tools): (Vec<_>, Vec<_>) = tools
        .into_iter()
        .partition(|(_, tool)| tool["type"] == "web_search");
    for (place, tool) in &hosted {
        let known = ["type", "filters", "search_context_size", "user_location"];
        checker.keys(place, tool, &known);
    }
    for (place, tool) in &tools {
        checker.word(&format!("{place}.type"), &tool["type"], &["function"]);
        let known = ["type", "name", "description", "strict", "parameters"];
        checker.keys(place, tool, &known);
        checker.identifier(&format!("{place}.name"), &tool["name"]);
        schema::root(checker, &format!("{place}.parameters"), &tool["parameters"]);
    }
    checker.unique("tools", tools.iter().map(|(_, tool)| &tool["name"]));
}
