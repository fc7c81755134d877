//! Bedrock Converse.

use serde_json::Value;

use super::calls::Calls;
use super::checker::Checker;
use super::{markers, schema, turns};

const KEYS: [&str; 12] = [
    "additionalModelRequestFields",
    "additionalModelResponseFieldPaths",
    "guardrailConfig",
    "inferenceConfig",
    "messages",
    "outputConfig",
    "performanceConfig",
    "promptVariables",
    "requestMetadata",
    "serviceTier",
    "system",
    "toolConfig",
];
const CACHE_POINT: &str = "cachePoint";
const USER_BLOCKS: [&str; 6] = [
    "text",
    "image",
    "document",
    "video",
    "toolResult",
    CACHE_POINT,
];
const ASSISTANT_BLOCKS: [&str; 4] = ["text", "toolUse", "reasoningContent", CACHE_POINT];
const RESULT_BLOCKS: [&str; 5] = ["text", "json", "image", "document", "video"];

/// Checks a whole body.
pub(super) fn check(checker: &mut Checker<'_>, body: &Value) {
    checker.keys("body", body, &KEYS);
    let mut cache_points = 0;
    if let Some(system) = body.get("system") {
        let system = checker.items("system", system);
        cache_points += blocks(checker, &system, &["text", CACHE_POINT]);
    }
    if let Some(config) = body.get("inferenceConfig") {
        let known = ["maxTokens", "temperature", "topP", "stopSequences"];
        checker.keys("inferenceConfig", config, &known);
    }
    let (in_messages, uses_tools) = messages(checker, &body["messages"]);
    cache_points += in_messages + tools(checker, body.get("toolConfig"));
    checker.require(
        !uses_tools || body.get("toolConfig").is_some(),
        "toolConfig",
        "needed by calls and results in the messages",
    );
    markers::count(checker, cache_points);
}

/// Checks the conversation; says how many cache points it has and whether tools occur in it.
fn messages(checker: &mut Checker<'_>, messages: &Value) -> (usize, bool) {
    let messages = checker.items("messages", messages);
    turns::alternate(checker, &messages, "assistant");
    let mut calls = Calls::default();
    let mut cache_points = 0;
    let mut uses_tools = false;
    for (place, message) in &messages {
        checker.keys(place, message, &["role", "content"]);
        let content = checker.items(&format!("{place}.content"), &message["content"]);
        let kinds: &[&str] = if message["role"] == "assistant" {
            &ASSISTANT_BLOCKS
        } else {
            &USER_BLOCKS
        };
        cache_points += blocks(checker, &content, kinds);
        for (place, block) in &content {
            if let Some(result) = block.get("toolResult") {
                calls.answer(checker, place, &result["toolUseId"]);
                uses_tools = true;
            }
        }
        calls.settle(checker, place);
        for (place, block) in &content {
            if let Some(call) = block.get("toolUse") {
                calls.open(checker, place, &call["toolUseId"]);
                uses_tools = true;
            }
        }
    }
    calls.settle(checker, "messages");
    (cache_points, uses_tools)
}

/// Checks blocks of these kinds; says how many are cache points.
fn blocks(checker: &mut Checker<'_>, blocks: &[(String, &Value)], kinds: &[&str]) -> usize {
    let mut cache_points = 0;
    let mut previous = None;
    for (place, block) in blocks {
        checker.keys(place, block, kinds);
        let kind = turns::only_kind(checker, place, block, kinds);
        if let Some(kind) = kind {
            self::block(checker, place, kind, &block[kind]);
        }
        if kind == Some(CACHE_POINT) {
            cache_points += 1;
            let after_thinking = previous == Some("reasoningContent");
            checker.require(!after_thinking, place, "a cache marker on thinking");
        }
        previous = kind;
    }
    cache_points
}

fn block(checker: &mut Checker<'_>, place: &str, kind: &str, value: &Value) {
    match kind {
        "text" => checker.text(place, value),
        "toolUse" => {
            checker.keys(place, value, &["toolUseId", "name", "input"]);
            checker.identifier(&format!("{place}.toolUseId"), &value["toolUseId"]);
            checker.identifier(&format!("{place}.name"), &value["name"]);
            checker.object(&format!("{place}.input"), &value["input"]);
        }
        "toolResult" => {
            checker.keys(place, value, &["toolUseId", "content", "status"]);
            if let Some(status) = value.get("status") {
                checker.word(&format!("{place}.status"), status, &["success", "error"]);
            }
            let content = checker.items(&format!("{place}.content"), &value["content"]);
            blocks(checker, &content, &RESULT_BLOCKS);
        }
        "reasoningContent" => {
            checker.keys(place, value, &["reasoningText", "redactedContent"]);
            if let Some(reasoning) = value.get("reasoningText") {
                checker.keys(place, reasoning, &["text", "signature"]);
                checker.text(&format!("{place}.signature"), &reasoning["signature"]);
            }
        }
        CACHE_POINT => {
            checker.keys(place, value, &["type", "ttl"]);
            checker.word(&format!("{place}.type"), &value["type"], &["default"]);
        }
        _ => checker.object(place, value),
    }
}

/// Checks the tools; says how many cache points are among them.
fn tools(checker: &mut Checker<'_>, config: Option<&Value>) -> usize {
    let Some(config) = config else {
        return 0;
    };
    checker.keys("toolConfig", config, &["tools", "toolChoice"]);
    let tools = checker.items("toolConfig.tools", &config["tools"]);
    for (place, tool) in &tools {
        checker.keys(place, tool, &["toolSpec", CACHE_POINT]);
        let Some(spec) = tool.get("toolSpec") else {
            continue;
        };
        checker.keys(place, spec, &["name", "description", "inputSchema"]);
        checker.identifier(&format!("{place}.name"), &spec["name"]);
        if let Some(description) = spec.get("description") {
            checker.text(&format!("{place}.description"), description);
        }
        let place = format!("{place}.inputSchema");
        checker.keys(&place, &spec["inputSchema"], &["json"]);
        schema::root(checker, &place, &spec["inputSchema"]["json"]);
    }
    checker.unique(
        "toolConfig.tools",
        tools.iter().map(|(_, tool)| &tool["toolSpec"]["name"]),
    );
    let cached = tools
        .iter()
        .filter(|(_, tool)| tool.get(CACHE_POINT).is_some());
    cached.count()
}
