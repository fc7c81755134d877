//! Answers in the OpenAI chat completions format, whole or as server-sent events.

use serde_json::{Map, Value, json};

use super::reply::{Answer, ToolCall, Usage};

const DEFAULT_CHUNK_CHARS: usize = 16;
/// Answers carry a fixed date so that recorded bytes compare equal.
const CREATED: u64 = 1_700_000_000;

/// What an answer needs to know about its request.
pub(super) struct Envelope<'a> {
    pub(super) request_number: u64,
    pub(super) model: &'a str,
    pub(super) wants_usage: bool,
    pub(super) chunk_chars: Option<usize>,
}

impl Envelope<'_> {
    fn id(&self) -> String {
        format!("chatcmpl-{}", self.request_number)
    }

    fn call_id(&self, index: usize, call: &ToolCall) -> String {
        call.id
            .clone()
            .unwrap_or_else(|| format!("call_{}_{index}", self.request_number))
    }

    fn chunk(&self, choices: Value, usage: Option<Value>) -> String {
        let mut chunk = json!({
            "id": self.id(),
            "object": "chat.completion.chunk",
            "created": CREATED,
            "model": self.model,
            "choices": choices,
        });
        if let Some(usage) = usage {
            chunk["usage"] = usage;
        }
        data_frame(&chunk.to_string())
    }

    fn delta(&self, delta: Value) -> String {
        self.chunk(
            json!([{"index": 0, "delta": delta, "finish_reason": null}]),
            None,
        )
    }
}

/// The whole answer as one JSON document.
pub(super) fn document(answer: &Answer, envelope: &Envelope<'_>) -> Value {
    let mut message = Map::new();
    message.insert("role".to_owned(), "assistant".into());
    message.insert("content".to_owned(), json!(answer.text));
    if let Some(reasoning) = &answer.reasoning {
        message.insert("reasoning_content".to_owned(), json!(reasoning));
    }
    if !answer.tool_calls.is_empty() {
        let calls: Vec<Value> = answer
            .tool_calls
            .iter()
            .enumerate()
            .map(|(index, call)| {
                json!({
                    "id": envelope.call_id(index, call),
                    "type": "function",
                    "function": {"name": call.name, "arguments": argument_text(call)},
                })
            })
            .collect();
        message.insert("tool_calls".to_owned(), calls.into());
    }
    json!({
        "id": envelope.id(),
        "object": "chat.completion",
        "created": CREATED,
        "model": envelope.model,
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason(answer)}],
        "usage": usage_json(answer.usage.unwrap_or_default()),
    })
}

/// The answer as server-sent events, `[DONE]` included.
pub(super) fn stream(answer: &Answer, envelope: &Envelope<'_>) -> Vec<String> {
    let chunk_chars = envelope.chunk_chars.unwrap_or(DEFAULT_CHUNK_CHARS);
    let mut frames = vec![envelope.delta(json!({"role": "assistant", "content": ""}))];
    for part in pieces(answer.reasoning.as_deref().unwrap_or_default(), chunk_chars) {
        frames.push(envelope.delta(json!({"reasoning_content": part})));
    }
    for part in pieces(answer.text.as_deref().unwrap_or_default(), chunk_chars) {
        frames.push(envelope.delta(json!({"content": part})));
    }
    for (index, call) in answer.tool_calls.iter().enumerate() {
        frames.push(envelope.delta(json!({"tool_calls": [{
            "index": index,
            "id": envelope.call_id(index, call),
            "type": "function",
            "function": {"name": call.name, "arguments": ""},
        }]})));
        for part in pieces(&argument_text(call), chunk_chars) {
            let fragment = json!({"index": index, "function": {"arguments": part}});
            frames.push(envelope.delta(json!({"tool_calls": [fragment]})));
        }
    }
    let finish = json!([{"index": 0, "delta": {}, "finish_reason": finish_reason(answer)}]);
    frames.push(envelope.chunk(finish, None));
    if envelope.wants_usage {
        let usage = usage_json(answer.usage.unwrap_or_default());
        frames.push(envelope.chunk(json!([]), Some(usage)));
    }
    frames.push(data_frame("[DONE]"));
    frames
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

fn data_frame(payload: &str) -> String {
    format!("data: {payload}\n\n")
}

fn finish_reason(answer: &Answer) -> &str {
    match &answer.finish_reason {
        Some(reason) => reason,
        None if answer.tool_calls.is_empty() => "stop",
        None => "tool_calls",
    }
}

fn argument_text(call: &ToolCall) -> String {
    match &call.arguments {
        Value::String(verbatim) => verbatim.clone(),
        arguments => arguments.to_string(),
    }
}

fn usage_json(usage: Usage) -> Value {
    json!({
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "total_tokens": usage.prompt_tokens + usage.completion_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cached_tokens},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
    })
}

fn pieces(text: &str, chunk_chars: usize) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    characters
        .chunks(chunk_chars.max(1))
        .map(|chunk| chunk.iter().collect())
        .collect()
}
