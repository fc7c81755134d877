//! Chat completions: OpenAI's own rules, and the order of roles that Mistral and most local chat
//! templates insist on.

use serde_json::Value;

use super::calls::Calls;
use super::checker::Checker;
use super::{markers, schema};

const KEYS: [&str; 33] = [
    "audio",
    "frequency_penalty",
    "logit_bias",
    "logprobs",
    "max_completion_tokens",
    "max_tokens",
    "messages",
    "metadata",
    "modalities",
    "model",
    "n",
    "parallel_tool_calls",
    "prediction",
    "presence_penalty",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "reasoning_effort",
    "response_format",
    "safety_identifier",
    "seed",
    "service_tier",
    "stop",
    "store",
    "stream",
    "stream_options",
    "temperature",
    "tool_choice",
    "tools",
    "top_logprobs",
    "top_p",
    "user",
    "verbosity",
];

/// Checks a whole body.
pub(super) fn check(checker: &mut Checker<'_>, body: &Value) {
    checker.keys("body", body, &KEYS);
    checker.text("model", &body["model"]);
    checker.require(
        body.get("max_tokens").is_none() || body.get("max_completion_tokens").is_none(),
        "body",
        "both `max_tokens` and `max_completion_tokens`",
    );
    checker.require(
        body.get("stream_options").is_none() || body["stream"] == true,
        "stream_options",
        "only with `stream`",
    );
    messages(checker, &body["messages"]);
    tools(checker, body);
    markers::cache_control(checker, body);
}

fn messages(checker: &mut Checker<'_>, messages: &Value) {
    let mut calls = Calls::default();
    let mut previous = "";
    for (place, message) in checker.items("messages", messages) {
        let role = message["role"].as_str().unwrap_or_default();
        if role != "tool" {
            calls.settle(checker, &place);
        }
        order(checker, &place, previous, role);
        match role {
            "assistant" => assistant(checker, &place, message, &mut calls),
            "tool" => {
                checker.keys(
                    &place,
                    message,
                    &["role", "content", "tool_call_id", "name"],
                );
                calls.answer(checker, &place, &message["tool_call_id"]);
                // A tool may have nothing to say, but it must say it.
                if message["content"] != "" {
                    content(checker, &place, &message["content"], &["text", "image_url"]);
                }
            }
            _ => {
                checker.keys(&place, message, &["role", "content", "name"]);
                let kinds = ["text", "image_url", "input_audio", "file"];
                content(checker, &place, &message["content"], &kinds);
            }
        }
        previous = role;
    }
    calls.settle(checker, "messages");
    checker.require(
        matches!(previous, "" | "user" | "tool"),
        "messages",
        "must end with a user message or a result",
    );
}

fn order(checker: &mut Checker<'_>, place: &str, previous: &str, role: &str) {
    let fits = match role {
        "system" | "developer" => previous.is_empty(),
        "user" => matches!(previous, "" | "system" | "developer" | "assistant"),
        "assistant" => matches!(previous, "user" | "tool"),
        "tool" => matches!(previous, "assistant" | "tool"),
        _ => {
            checker.add(place, format_args!("unknown role {role:?}"));
            return;
        }
    };
    checker.require(
        fits,
        place,
        format_args!("role {role:?} may not follow {previous:?}"),
    );
}

fn assistant(checker: &mut Checker<'_>, place: &str, message: &Value, calls: &mut Calls) {
    let known = ["role", "content", "name", "refusal", "tool_calls", "audio"];
    checker.keys(place, message, &known);
    let called = message.get("tool_calls");
    if called.is_none() || !message["content"].is_null() {
        content(checker, place, &message["content"], &["text", "refusal"]);
    }
    let Some(called) = called else {
        return;
    };
    for (place, call) in checker.items(&format!("{place}.tool_calls"), called) {
        checker.keys(&place, call, &["id", "type", "function"]);
        checker.word(&format!("{place}.type"), &call["type"], &["function"]);
        calls.open(checker, &place, &call["id"]);
        let function = &call["function"];
        checker.keys(&place, function, &["name", "arguments"]);
        checker.identifier(&format!("{place}.name"), &function["name"]);
        json_object(checker, &place, &function["arguments"]);
    }
}

/// Requires a text that is a JSON object: vendors parse it again.
pub(super) fn json_object(checker: &mut Checker<'_>, place: &str, arguments: &Value) {
    let parsed = arguments
        .as_str()
        .and_then(|text| serde_json::from_str::<Value>(text).ok());
    checker.require(
        parsed.is_some_and(|value| value.is_object()),
        place,
        "`arguments` must be the text of a JSON object",
    );
}

fn content(checker: &mut Checker<'_>, place: &str, content: &Value, kinds: &[&str]) {
    let place = format!("{place}.content");
    if !content.is_array() {
        checker.text(&place, content);
        return;
    }
    for (place, part) in checker.items(&place, content) {
        let kind = part["type"].as_str().unwrap_or_default();
        checker.word(&format!("{place}.type"), &part["type"], kinds);
        checker.keys(&place, part, &["type", kind]);
        match kind {
            "text" => checker.text(&place, &part["text"]),
            "image_url" => checker.text(&place, &part["image_url"]["url"]),
            _ => {}
        }
    }
}

fn tools(checker: &mut Checker<'_>, body: &Value) {
    let Some(tools) = body.get("tools") else {
        for key in ["tool_choice", "parallel_tool_calls"] {
            checker.require(body.get(key).is_none(), key, "only with `tools`");
        }
        return;
    };
    let tools = checker.items("tools", tools);
    for (place, tool) in &tools {
        checker.keys(place, tool, &["type", "function"]);
        checker.word(&format!("{place}.type"), &tool["type"], &["function"]);
        let function = &tool["function"];
        let known = ["name", "description", "parameters", "strict"];
        checker.keys(place, function, &known);
        checker.identifier(&format!("{place}.name"), &function["name"]);
        if let Some(parameters) = function.get("parameters") {
            schema::root(checker, &format!("{place}.parameters"), parameters);
        }
    }
    let names = tools.iter().map(|(_, tool)| &tool["function"]["name"]);
    checker.unique("tools", names);
}
