//! Answers in the OpenAI chat completions format, whole or as server-sent events.

use serde_json::{Map, Value, json};

use super::answer::{Answer, Finish, ToolCall, Usage};
use super::envelope::{CREATED, Envelope, Piece};
use super::request::Delivery;
use super::wire::{Plan, data_frame};

/// The answer as the request wants it.
pub(super) fn plan(answer: &Answer, envelope: &Envelope<'_>) -> Plan {
    match envelope.request.delivery {
        Delivery::Document => Plan::json(200, &document(answer, envelope)),
        Delivery::Stream | Delivery::Array => Plan::events(stream(answer, envelope)),
    }
}

/// The model list.
pub(super) fn models(names: &[String]) -> Value {
    let data: Vec<Value> = names
        .iter()
        .map(
            |name| json!({"id": name, "object": "model", "created": CREATED, "owned_by": "script"}),
        )
        .collect();
    json!({"object": "list", "data": data})
}

fn document(answer: &Answer, envelope: &Envelope<'_>) -> Value {
    let mut content: Option<String> = None;
    let mut reasoning: Option<String> = None;
    let mut calls = Vec::new();
    for piece in envelope.pieces(answer) {
        match piece {
            Piece::Reasoning { text, .. } => reasoning.get_or_insert_default().push_str(text),
            Piece::Text(text) => content.get_or_insert_default().push_str(text),
            Piece::Call { id, call } => calls.push(call_json(&id, call, call.argument_text())),
        }
    }
    let mut message = Map::new();
    message.insert("role".to_owned(), "assistant".into());
    message.insert("content".to_owned(), json!(content));
    if let Some(reasoning) = reasoning {
        message.insert("reasoning_content".to_owned(), reasoning.into());
    }
    if !calls.is_empty() {
        message.insert("tool_calls".to_owned(), calls.into());
    }
    json!({
        "id": envelope.id("chatcmpl-"),
        "object": "chat.completion",
        "created": CREATED,
        "model": envelope.request.model,
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason(answer)}],
        "usage": usage_json(answer.usage.unwrap_or_default()),
    })
}

/// The events of the answer, `[DONE]` included.
fn stream(answer: &Answer, envelope: &Envelope<'_>) -> Vec<String> {
    let mut frames = vec![delta(envelope, json!({"role": "assistant", "content": ""}))];
    let mut calls = 0;
    for piece in envelope.pieces(answer) {
        match piece {
            Piece::Reasoning { text, .. } => frames.extend(
                envelope
                    .chunks(text)
                    .into_iter()
                    .map(|part| delta(envelope, json!({"reasoning_content": part}))),
            ),
            Piece::Text(text) => frames.extend(
                envelope
                    .chunks(text)
                    .into_iter()
                    .map(|part| delta(envelope, json!({"content": part}))),
            ),
            Piece::Call { id, call } => {
                let mut start = json!({"index": calls});
                if let (Value::Object(start), Value::Object(call)) =
                    (&mut start, call_json(&id, call, String::new()))
                {
                    start.extend(call);
                }
                frames.push(delta(envelope, json!({"tool_calls": [start]})));
                for part in envelope.chunks(&call.argument_text()) {
                    let fragment = json!({"index": calls, "function": {"arguments": part}});
                    frames.push(delta(envelope, json!({"tool_calls": [fragment]})));
                }
                calls += 1;
            }
        }
    }
    let finish = json!([{"index": 0, "delta": {}, "finish_reason": finish_reason(answer)}]);
    frames.push(chunk(envelope, finish, None));
    if envelope.request.wants_usage {
        let usage = usage_json(answer.usage.unwrap_or_default());
        frames.push(chunk(envelope, json!([]), Some(usage)));
    }
    frames.push(data_frame("[DONE]"));
    frames
}

fn delta(envelope: &Envelope<'_>, delta: Value) -> String {
    let choices = json!([{"index": 0, "delta": delta, "finish_reason": null}]);
    chunk(envelope, choices, None)
}

fn chunk(envelope: &Envelope<'_>, choices: Value, usage: Option<Value>) -> String {
    let mut chunk = json!({
        "id": envelope.id("chatcmpl-"),
        "object": "chat.completion.chunk",
        "created": CREATED,
        "model": envelope.request.model,
        "choices": choices,
    });
    if let Some(usage) = usage {
        chunk["usage"] = usage;
    }
    data_frame(&chunk.to_string())
}

fn call_json(id: &str, call: &ToolCall, arguments: String) -> Value {
    let mut json = json!({
        "id": id,
        "type": "function",
        "function": {"name": call.name, "arguments": arguments},
    });
    if let Some(signature) = call.signature.as_ref().filter(|given| !given.is_empty()) {
        json["extra_content"] = json!({"google": {"thought_signature": signature}});
    }
    json
}

fn finish_reason(answer: &Answer) -> &str {
    match answer.finish() {
        Finish::Stop => "stop",
        Finish::ToolCalls => "tool_calls",
        Finish::Length => "length",
        Finish::ContentFilter => "content_filter",
        Finish::Verbatim(word) => word,
    }
}

fn usage_json(usage: Usage) -> Value {
    let mut prompt_details = json!({"cached_tokens": usage.cached_tokens});
    if usage.cache_write_tokens > 0 {
        prompt_details["cache_write_tokens"] = usage.cache_write_tokens.into();
    }
    json!({
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "total_tokens": usage.total_tokens(),
        "prompt_tokens_details": prompt_details,
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
    })
}
