//! Answers in the Bedrock Converse format, whole or as binary event-stream frames.

use serde_json::{Value, json};

use super::answer::{Answer, Finish, Usage};
use super::envelope::{Envelope, Piece};
use super::event_stream;
use super::request::Delivery;
use super::wire::Plan;

/// The answer as the request wants it.
pub(super) fn plan(answer: &Answer, envelope: &Envelope<'_>) -> Plan {
    match envelope.request.delivery {
        Delivery::Document => Plan::json(200, &document(answer, envelope)),
        Delivery::Stream | Delivery::Array => {
            Plan::stream(event_stream::CONTENT_TYPE, stream(answer, envelope))
        }
    }
}

/// Frames as a script writes them: a name, a space and the payload.
pub(super) fn scripted(frames: &[String]) -> Plan {
    let frames = frames.iter().map(|frame| event_stream::packed(frame));
    Plan::stream(event_stream::CONTENT_TYPE, frames)
}

fn document(answer: &Answer, envelope: &Envelope<'_>) -> Value {
    let content: Vec<Value> = envelope.pieces(answer).iter().map(block).collect();
    json!({
        "output": {"message": {"role": "assistant", "content": content}},
        "stopReason": stop_reason(answer),
        "usage": usage_json(answer.usage.unwrap_or_default()),
        "metrics": {"latencyMs": 1},
    })
}

fn block(piece: &Piece<'_>) -> Value {
    match piece {
        Piece::Reasoning { text, signature } => {
            let mut reasoning = json!({"text": text});
            if let Some(signature) = signature {
                reasoning["signature"] = signature.as_str().into();
            }
            json!({"reasoningContent": {"reasoningText": reasoning}})
        }
        Piece::Text(text) => json!({"text": text}),
        Piece::Call { id, call } => json!({
            "toolUse": {"toolUseId": id, "name": call.name, "input": call.argument_value()},
        }),
    }
}

fn stream(answer: &Answer, envelope: &Envelope<'_>) -> Vec<Vec<u8>> {
    let mut events = vec![("messageStart", json!({"role": "assistant"}))];
    for (index, piece) in envelope.pieces(answer).iter().enumerate() {
        // Only calls announce themselves; the other blocks begin with their first delta.
        if let Piece::Call { id, call } = piece {
            let start = json!({"toolUse": {"toolUseId": id, "name": call.name}});
            events.push((
                "contentBlockStart",
                json!({"contentBlockIndex": index, "start": start}),
            ));
        }
        for delta in deltas(envelope, piece) {
            events.push((
                "contentBlockDelta",
                json!({"contentBlockIndex": index, "delta": delta}),
            ));
        }
        events.push(("contentBlockStop", json!({"contentBlockIndex": index})));
    }
    events.push(("messageStop", json!({"stopReason": stop_reason(answer)})));
    let usage = usage_json(answer.usage.unwrap_or_default());
    events.push((
        "metadata",
        json!({"usage": usage, "metrics": {"latencyMs": 1}}),
    ));
    events
        .into_iter()
        .map(|(name, payload)| event_stream::frame(name, &payload.to_string()))
        .collect()
}

fn deltas(envelope: &Envelope<'_>, piece: &Piece<'_>) -> Vec<Value> {
    match piece {
        Piece::Reasoning { text, signature } => {
            let texts = envelope.chunks(text).into_iter();
            let seal = signature.iter();
            texts
                .map(|text| json!({"reasoningContent": {"text": text}}))
                .chain(seal.map(|seal| json!({"reasoningContent": {"signature": seal}})))
                .collect()
        }
        Piece::Text(text) => {
            let texts = envelope.chunks(text).into_iter();
            texts.map(|text| json!({"text": text})).collect()
        }
        Piece::Call { call, .. } => {
            let texts = envelope.chunks(&call.argument_text()).into_iter();
            texts
                .map(|text| json!({"toolUse": {"input": text}}))
                .collect()
        }
    }
}

fn stop_reason(answer: &Answer) -> &str {
    match answer.finish() {
        Finish::Stop => "end_turn",
        Finish::ToolCalls => "tool_use",
        Finish::Length => "max_tokens",
        Finish::ContentFilter => "content_filtered",
        Finish::Verbatim(word) => word,
    }
}

fn usage_json(usage: Usage) -> Value {
    json!({
        "inputTokens": usage.fresh_tokens(),
        "outputTokens": usage.completion_tokens,
        "totalTokens": usage.total_tokens(),
        "cacheReadInputTokens": usage.cached_tokens,
        "cacheWriteInputTokens": usage.cache_write_tokens,
    })
}
