//! Answers in the Gemini generateContent format: one document, events, or an array in pieces.

use serde_json::{Value, json};

use super::answer::{Answer, Finish, Usage};
use super::envelope::{Envelope, Piece};
use super::request::Delivery;
use super::wire::{Plan, data_frame};

/// The answer as the request wants it.
pub(super) fn plan(answer: &Answer, envelope: &Envelope<'_>) -> Plan {
    match envelope.request.delivery {
        Delivery::Document => {
            let pieces = envelope.pieces(answer);
            let parts = parts(&pieces, envelope, |text| vec![text.to_owned()]);
            Plan::json(200, &last_chunk(answer, envelope, parts))
        }
        Delivery::Stream => {
            let chunks = chunks(answer, envelope).into_iter();
            Plan::events(chunks.map(|chunk| data_frame(&chunk.to_string())).collect())
        }
        Delivery::Array => Plan::stream("application/json", array(&chunks(answer, envelope))),
    }
}

fn chunks(answer: &Answer, envelope: &Envelope<'_>) -> Vec<Value> {
    let pieces = envelope.pieces(answer);
    let mut parts = parts(&pieces, envelope, |text| envelope.chunks(text));
    let last = parts.pop();
    let mut chunks: Vec<Value> = parts
        .into_iter()
        .map(|part| chunk(envelope, vec![part]))
        .collect();
    chunks.push(last_chunk(answer, envelope, last.into_iter().collect()));
    chunks
}

fn array(chunks: &[Value]) -> Vec<String> {
    let separators = [","].iter().cycle();
    let mut frames: Vec<String> = chunks
        .iter()
        .zip(["["].iter().chain(separators))
        .map(|(chunk, before)| format!("{before}{chunk}\n"))
        .collect();
    frames.push("]".to_owned());
    frames
}

fn chunk(envelope: &Envelope<'_>, parts: Vec<Value>) -> Value {
    json!({
        "candidates": [{"content": {"role": "model", "parts": parts}, "index": 0}],
        "modelVersion": envelope.request.model,
        "responseId": envelope.id("resp-"),
    })
}

fn last_chunk(answer: &Answer, envelope: &Envelope<'_>, parts: Vec<Value>) -> Value {
    let mut last = chunk(envelope, parts);
    last["candidates"][0]["finishReason"] = finish_reason(answer).into();
    last["usageMetadata"] = usage_json(answer.usage.unwrap_or_default());
    last
}

/// The parts, texts cut by `cut`. Thoughts carry no seal here: theirs travels on the part that follows,
/// and the first call has one in any case.
fn parts(
    pieces: &[Piece<'_>],
    envelope: &Envelope<'_>,
    cut: impl Fn(&str) -> Vec<String>,
) -> Vec<Value> {
    let mut parts = Vec::new();
    let mut seal: Option<String> = None;
    let mut first_call = true;
    for (index, piece) in pieces.iter().enumerate() {
        match piece {
            Piece::Reasoning { text, signature } => {
                let thoughts = cut(text).into_iter();
                parts.extend(thoughts.map(|text| json!({"text": text, "thought": true})));
                seal.clone_from(signature);
            }
            Piece::Text(text) => {
                parts.extend(cut(text).into_iter().map(|text| json!({"text": text})));
                seal_last(&mut parts, seal.take());
            }
            Piece::Call { id, call } => {
                let mut function = json!({"name": call.name, "args": call.argument_value()});
                if call.id.is_some() {
                    function["id"] = id.as_str().into();
                }
                parts.push(json!({"functionCall": function}));
                let carried = seal.take();
                let seal = match (&call.signature, carried) {
                    (Some(given), _) => envelope.signature(Some(given), index),
                    (None, Some(carried)) => Some(carried),
                    (None, None) if first_call => envelope.signature(None, index),
                    (None, None) => None,
                };
                seal_last(&mut parts, seal);
                first_call = false;
            }
        }
    }
    parts
}

fn seal_last(parts: &mut [Value], seal: Option<String>) {
    if let (Some(part), Some(seal)) = (parts.last_mut(), seal) {
        part["thoughtSignature"] = seal.into();
    }
}

fn finish_reason(answer: &Answer) -> &str {
    match answer.finish() {
        // A call is no reason to stop in this protocol.
        Finish::Stop | Finish::ToolCalls => "STOP",
        Finish::Length => "MAX_TOKENS",
        Finish::ContentFilter => "SAFETY",
        Finish::Verbatim(word) => word,
    }
}

fn usage_json(usage: Usage) -> Value {
    let visible = usage
        .completion_tokens
        .saturating_sub(usage.reasoning_tokens);
    json!({
        "promptTokenCount": usage.prompt_tokens,
        "cachedContentTokenCount": usage.cached_tokens,
        "candidatesTokenCount": visible,
        "thoughtsTokenCount": usage.reasoning_tokens,
        "totalTokenCount": usage.total_tokens(),
    })
}
