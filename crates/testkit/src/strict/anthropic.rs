//! Anthropic Messages: the vendor's own rules for its newest models.

use serde_json::Value;

use super::calls::Calls;
use super::checker::Checker;
use super::{markers, schema, turns};

const KEYS: [&str; 19] = [
    "cache_control",
    "container",
    "context_management",
    "inference_geo",
    "max_tokens",
    "mcp_servers",
    "messages",
    "metadata",
    "model",
    "output_config",
    "service_tier",
    "speed",
    "stop_sequences",
    "stream",
    "system",
    "temperature",
    "thinking",
    "tool_choice",
    "tools",
];
/// Sampling that older models know.
const SAMPLING_KEYS: [&str; 2] = ["top_k", "top_p"];
/// What takes the place of headers at Bedrock.
const INVOKED_KEYS: [&str; 2] = ["anthropic_version", "anthropic_beta"];
const MIN_THINKING_TOKENS: u64 = 1024;

/// Checks a whole body.
pub(super) fn check(checker: &mut Checker<'_>, body: &Value) {
    let keys = [&KEYS[..], &SAMPLING_KEYS[..]].concat();
    if body.get("anthropic_version").is_some() {
        invoked(checker, body, &keys);
    } else {
        checker.keys("body", body, &keys);
        checker.text("model", &body["model"]);
    }
    let max_tokens = body["max_tokens"].as_u64().unwrap_or_default();
    checker.require(max_tokens > 0, "max_tokens", "must be a positive number");
    if let Some(system) = body.get("system") {
        content(checker, "system", system, &["text"]);
    }
    thinking(checker, body, max_tokens);
    messages(checker, body);
    tools(checker, body);
    markers::cache_control(checker, body);
}

/// The form for Bedrock: the path has the model and says whether it streams.
fn invoked(checker: &mut Checker<'_>, body: &Value, keys: &[&str]) {
    let in_path = ["model", "stream"];
    let kept = keys.iter().copied().filter(|key| !in_path.contains(key));
    let keys: Vec<&str> = kept.chain(INVOKED_KEYS).collect();
    checker.keys("body", body, &keys);
    let version = &body["anthropic_version"];
    checker.word("anthropic_version", version, &["bedrock-2023-05-31"]);
}

fn thinking(checker: &mut Checker<'_>, body: &Value, max_tokens: u64) {
    let Some(thinking) = body.get("thinking") else {
        return;
    };
    checker.keys("thinking", thinking, &["type", "budget_tokens", "display"]);
    let kinds = ["enabled", "adaptive", "disabled"];
    checker.word("thinking.type", &thinking["type"], &kinds);
    if thinking["type"] == "disabled" {
        return;
    }
    let budget = thinking["budget_tokens"].as_u64();
    if thinking["type"] == "enabled" {
        let fits = budget.is_some_and(|tokens| (MIN_THINKING_TOKENS..max_tokens).contains(&tokens));
        checker.require(
            fits,
            "thinking.budget_tokens",
            "must be at least 1024 and below `max_tokens`",
        );
    } else {
        let absent = budget.is_none();
        checker.require(absent, "thinking.budget_tokens", "only with `enabled`");
    }
    let temperature = body["temperature"].as_f64().unwrap_or(1.0);
    let is_one = (temperature - 1.0).abs() < f64::EPSILON;
    checker.require(is_one, "temperature", "must be 1 with thinking");
    let forced = body["tool_choice"]["type"]
        .as_str()
        .is_some_and(|kind| matches!(kind, "any" | "tool"));
    checker.require(!forced, "tool_choice", "may not be forced with thinking");
}

fn messages(checker: &mut Checker<'_>, body: &Value) {
    let messages = checker.items("messages", &body["messages"]);
    turns::alternate(checker, &messages, "assistant");
    let mut calls = Calls::default();
    for (place, message) in &messages {
        checker.keys(place, message, &["role", "content"]);
        let place = format!("{place}.content");
        if message["role"] == "assistant" {
            let kinds = ["text", "thinking", "redacted_thinking", "tool_use"];
            content(checker, &place, &message["content"], &kinds);
            for (place, block) in blocks(&place, &message["content"], "tool_use") {
                calls.open(checker, &place, &block["id"]);
            }
        } else {
            let kinds = ["text", "image", "document", "tool_result"];
            content(checker, &place, &message["content"], &kinds);
            results(checker, &place, &message["content"], &mut calls);
        }
    }
    calls.settle(checker, "messages");
    if body["thinking"]["type"] == "enabled" {
        thinking_first(checker, &messages);
    }
}

/// All results of a batch come in the next message, before anything else in it.
fn results(checker: &mut Checker<'_>, place: &str, content: &Value, calls: &mut Calls) {
    for (place, block) in blocks(place, content, "tool_result") {
        calls.answer(checker, &place, &block["tool_use_id"]);
    }
    calls.settle(checker, place);
    let kinds = content.as_array().into_iter().flatten();
    let is_result: Vec<bool> = kinds.map(|block| block["type"] == "tool_result").collect();
    checker.require(
        is_result.is_sorted_by(|before, after| before >= after),
        place,
        "results must come before other content",
    );
}

/// With a thinking budget, a turn that is still calling tools must begin with its thinking.
fn thinking_first(checker: &mut Checker<'_>, messages: &[(String, &Value)]) {
    let Some((place, last)) = messages
        .iter()
        .rfind(|(_, message)| message["role"] == "assistant")
    else {
        return;
    };
    let calls = blocks(place, &last["content"], "tool_use").next().is_some();
    let first = &last["content"][0]["type"];
    checker.require(
        !calls || first == "thinking" || first == "redacted_thinking",
        place,
        "must begin with thinking",
    );
}

fn blocks<'v>(
    place: &str,
    content: &'v Value,
    kind: &'static str,
) -> impl Iterator<Item = (String, &'v Value)> {
    let blocks = content.as_array().into_iter().flatten().enumerate();
    blocks
        .filter(move |(_, block)| block["type"] == kind)
        .map(move |(index, block)| (format!("{place}[{index}]"), block))
}

/// A text, or a list of blocks of these kinds.
fn content(checker: &mut Checker<'_>, place: &str, content: &Value, kinds: &[&str]) {
    if !content.is_array() {
        checker.text(place, content);
        return;
    }
    for (place, block) in checker.items(place, content) {
        checker.word(&format!("{place}.type"), &block["type"], kinds);
        self::block(checker, &place, block);
    }
}

fn block(checker: &mut Checker<'_>, place: &str, block: &Value) {
    let known: &[&str] = match block["type"].as_str() {
        Some("text") => {
            checker.text(place, &block["text"]);
            &["type", "text", "cache_control", "citations"]
        }
        Some("thinking") => {
            checker.text(&format!("{place}.signature"), &block["signature"]);
            // Where a marker may not be is said once, by the check of markers.
            &["type", "thinking", "signature", "cache_control"]
        }
        Some("redacted_thinking") => {
            checker.text(&format!("{place}.data"), &block["data"]);
            &["type", "data", "cache_control"]
        }
        Some("tool_use") => {
            checker.identifier(&format!("{place}.id"), &block["id"]);
            checker.identifier(&format!("{place}.name"), &block["name"]);
            checker.object(&format!("{place}.input"), &block["input"]);
            &["type", "id", "name", "input", "cache_control"]
        }
        Some("tool_result") => {
            let place = format!("{place}.content");
            match &block["content"] {
                Value::Array(_) => {
                    let kinds = ["text", "image", "document"];
                    content(checker, &place, &block["content"], &kinds);
                }
                Value::String(_) | Value::Null => {}
                _ => checker.add(&place, "must be a text or blocks"),
            }
            &[
                "type",
                "tool_use_id",
                "content",
                "is_error",
                "cache_control",
            ]
        }
        Some("image") => {
            checker.object(&format!("{place}.source"), &block["source"]);
            &["type", "source", "cache_control"]
        }
        _ => &[
            "type",
            "source",
            "title",
            "context",
            "citations",
            "cache_control",
        ],
    };
    checker.keys(place, block, known);
}

fn tools(checker: &mut Checker<'_>, body: &Value) {
    let Some(tools) = body.get("tools") else {
        checker.require(
            body.get("tool_choice").is_none(),
            "tool_choice",
            "only with `tools`",
        );
        return;
    };
    let tools = checker.items("tools", tools);
    for (place, tool) in &tools {
        let known = [
            "name",
            "description",
            "input_schema",
            "cache_control",
            "type",
        ];
        checker.keys(place, tool, &known);
        checker.identifier(&format!("{place}.name"), &tool["name"]);
        let place = format!("{place}.input_schema");
        schema::root(checker, &place, &tool["input_schema"]);
        let properties = tool["input_schema"]["properties"].as_object();
        for name in properties.into_iter().flat_map(|object| object.keys()) {
            let fits = name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte));
            checker.require(
                fits,
                &place,
                format_args!("{name:?} is not a property name"),
            );
        }
    }
    checker.unique("tools", tools.iter().map(|(_, tool)| &tool["name"]));
}
