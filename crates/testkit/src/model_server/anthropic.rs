//! Answers in the Anthropic Messages format, whole or as named events.

use serde_json::{Value, json};

use super::answer::{Answer, Finish, Usage};
use super::envelope::{Envelope, Piece};
use super::request::Delivery;
use super::wire::{Plan, event_frame};

/// The answer as the request wants it.
pub(super) fn plan(answer: &Answer, envelope: &Envelope<'_>) -> Plan {
    match envelope.request.delivery {
        Delivery::Document => Plan::json(200, &document(answer, envelope)),
        Delivery::Stream | Delivery::Array => Plan::events(stream(answer, envelope)),
    }
}

fn document(answer: &Answer, envelope: &Envelope<'_>) -> Value {
    let usage = answer.usage.unwrap_or_default();
    let blocks = envelope.pieces(answer).iter().map(block).collect();
    let mut message = message(envelope, blocks, usage_json(usage, usage.completion_tokens));
    message["stop_reason"] = stop_reason(answer).into();
    message
}

fn message(envelope: &Envelope<'_>, content: Vec<Value>, usage: Value) -> Value {
    json!({
        "id": envelope.id("msg_"),
        "type": "message",
        "role": "assistant",
        "model": envelope.request.model,
        "content": content,
        "stop_reason": null,
        "stop_sequence": null,
        "usage": usage,
    })
}

fn block(piece: &Piece<'_>) -> Value {
    match piece {
        Piece::Reasoning { text, signature } => json!({
            "type": "thinking",
            "thinking": text,
            "signature": signature.as_deref().unwrap_or_default(),
        }),
        Piece::Text(text) => json!({"type": "text", "text": text}),
        Piece::Call { id, call } => json!({
            "type": "tool_use",
            "id": id,
            "name": call.name,
            "input": call.argument_value(),
        }),
    }
}

/// The block as it is announced, before its content came.
fn open_block(piece: &Piece<'_>) -> Value {
    match piece {
        Piece::Reasoning { .. } => json!({"type": "thinking", "thinking": "", "signature": ""}),
        Piece::Text(_) => json!({"type": "text", "text": ""}),
        Piece::Call { id, call } => {
            json!({"type": "tool_use", "id": id, "name": call.name, "input": {}})
        }
    }
}

fn stream(answer: &Answer, envelope: &Envelope<'_>) -> Vec<String> {
    let usage = answer.usage.unwrap_or_default();
    // The first count of output tokens is always a small one; the last event has the real one.
    let opening = message(envelope, Vec::new(), usage_json(usage, 1));
    let mut frames = vec![event("message_start", json!({"message": opening}))];
    frames.push(event("ping", json!({})));
    for (index, piece) in envelope.pieces(answer).iter().enumerate() {
        let start = json!({"index": index, "content_block": open_block(piece)});
        frames.push(event("content_block_start", start));
        for delta in deltas(envelope, piece) {
            let delta = json!({"index": index, "delta": delta});
            frames.push(event("content_block_delta", delta));
        }
        frames.push(event("content_block_stop", json!({"index": index})));
    }
    let end = json!({
        "delta": {"stop_reason": stop_reason(answer), "stop_sequence": null},
        "usage": {"output_tokens": usage.completion_tokens},
    });
    frames.push(event("message_delta", end));
    frames.push(event("message_stop", json!({})));
    frames
}

fn deltas(envelope: &Envelope<'_>, piece: &Piece<'_>) -> Vec<Value> {
    match piece {
        Piece::Reasoning { text, signature } => {
            let texts = envelope.chunks(text).into_iter();
            let seal = signature.iter();
            texts
                .map(|text| json!({"type": "thinking_delta", "thinking": text}))
                .chain(seal.map(|seal| json!({"type": "signature_delta", "signature": seal})))
                .collect()
        }
        Piece::Text(text) => {
            let texts = envelope.chunks(text).into_iter();
            texts
                .map(|text| json!({"type": "text_delta", "text": text}))
                .collect()
        }
        Piece::Call { call, .. } => {
            let texts = envelope.chunks(&call.argument_text()).into_iter();
            texts
                .map(|text| json!({"type": "input_json_delta", "partial_json": text}))
                .collect()
        }
    }
}

/// An event whose payload repeats its name.
fn event(name: &str, mut payload: Value) -> String {
    payload["type"] = name.into();
    event_frame(name, &payload.to_string())
}

fn stop_reason(answer: &Answer) -> &str {
    match answer.finish() {
        Finish::Stop => "end_turn",
        Finish::ToolCalls => "tool_use",
        Finish::Length => "max_tokens",
        Finish::ContentFilter => "refusal",
        Finish::Verbatim(word) => word,
    }
}

fn usage_json(usage: Usage, output_tokens: u64) -> Value {
    json!({
        "input_tokens": usage.fresh_tokens(),
        "cache_read_input_tokens": usage.cached_tokens,
        "cache_creation_input_tokens": usage.cache_write_tokens,
        "output_tokens": output_tokens,
    })
}
