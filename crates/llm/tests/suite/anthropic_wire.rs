mod bedrock;
mod cache;
mod histories;
mod properties;
mod replay;
mod settings;
mod stream;

pub(super) use histories::{any_history, rounds};

use crate::suite::lab::SCHEMAS;
use hermes_core::{
    CacheLife, CallId, Effect, Effort, FinishReason, Media, MediaReader, MediaSource, Message,
    ModelEvent, ModelRequest, ModelSettings, Part, RawTurn, Role, ToolCall, ToolChoice, ToolSpec,
    Usage, WireProtocol,
};
use hermes_llm::wire::anthropic::{Betas, ThinkingStyle, betas, decoder, encode, thinking_style};
use hermes_llm::wire::{Decoder, Dialect, Frame, WireError, headers};
use hermes_llm::{CacheStyle, Quirks, ReasoningReplay, ReasoningStyle, Temperature, VendorError};
use proptest::prelude::*;
use serde_json::{Value as Json, json};
use std::sync::Arc;

pub(super) struct Files;

impl MediaReader for Files {
    fn read(&self, hash: &str) -> Option<Vec<u8>> {
        (hash != "gone").then(|| b"bytes".to_vec())
    }
}

pub(super) fn request(model: &str, messages: Vec<Message>) -> ModelRequest {
    ModelRequest {
        model: model.to_owned(),
        conversation: "c1".to_owned(),
        system: "Be brief.".into(),
        tools: Arc::from([tool("look"), tool("write"), tool("look")]),
        messages: messages.into_iter().map(Arc::new).collect(),
        settings: ModelSettings::default(),
    }
}

fn tool(name: &str) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        description: format!("Does {name}."),
        parameters: json!({"type": "object", "properties": {"path": {"type": ["string", "null"]}}}),
        effect: Effect::ReadOnly,
    }
}

pub(super) fn dialect(quirks: &Quirks) -> Dialect<'_> {
    Dialect {
        provider: "here",
        quirks,
        media: &Files,
        schemas: &SCHEMAS,
    }
}

fn body(request: &ModelRequest, quirks: &Quirks) -> Json {
    encode(request, &dialect(quirks))
}

pub(super) fn user(text: &str) -> Message {
    Message::text(Role::User, text)
}

pub(super) fn said(text: &str) -> Part {
    Part::Text {
        text: text.to_owned(),
    }
}

pub(super) fn call(id: &str, name: &str, arguments: Json) -> Part {
    Part::ToolCall(ToolCall {
        id: CallId(id.to_owned()),
        name: name.to_owned(),
        arguments,
    })
}

pub(super) fn assistant(parts: Vec<Part>, raw: Option<RawTurn>) -> Message {
    Message {
        role: Role::Assistant,
        parts,
        raw,
    }
}

pub(super) fn result(id: &str, content: &str) -> Message {
    let part = Part::ToolResult {
        call: CallId(id.to_owned()),
        name: "look".to_owned(),
        content: content.to_owned(),
        failed: false,
    };
    Message {
        role: Role::Tool,
        parts: vec![part],
        raw: None,
    }
}

pub(super) fn picture(hash: &str) -> Part {
    Part::Media(Media {
        mime: "image/png".to_owned(),
        source: MediaSource::Blob(hash.to_owned()),
        name: Some("shot.png".to_owned()),
    })
}

fn raw(blocks: Json) -> Option<RawTurn> {
    raw_of("here", "claude-opus-4-6", blocks)
}

fn raw_of(provider: &str, model: &str, blocks: Json) -> Option<RawTurn> {
    Some(RawTurn {
        protocol: WireProtocol::Anthropic,
        provider: provider.to_owned(),
        model: model.to_owned(),
        body: blocks,
    })
}

type Decoded = (Vec<ModelEvent>, Result<(), WireError>);

pub(super) fn decode(mut decoder: impl Decoder, frames: &[Json]) -> Decoded {
    let mut out = Vec::new();
    for data in frames {
        let frame = Frame {
            event: data["type"].as_str().map(str::to_owned),
            data: data.to_string(),
        };
        if let Err(error) = decoder.frame(&frame, &mut out) {
            return (out, Err(error));
        }
    }
    let ended = decoder.end(&mut out);
    (out, ended)
}

fn read(frames: &[Json]) -> Decoded {
    decode(decoder("here", "claude-opus-4-6"), frames)
}

fn finished(events: &[ModelEvent]) -> (FinishReason, Option<RawTurn>) {
    match events.last() {
        Some(ModelEvent::Finished { reason, raw }) => (*reason, raw.clone()),
        other => panic!("not finished: {other:?}"),
    }
}

fn start(index: u64, block: Json) -> Json {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

fn delta(index: u64, delta: Json) -> Json {
    json!({"type": "content_block_delta", "index": index, "delta": delta})
}

fn stop(index: u64) -> Json {
    json!({"type": "content_block_stop", "index": index})
}

fn ended(reason: &str) -> Json {
    json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 9}})
}

/// A turn with everything a signature depends on.
fn recorded() -> Vec<Json> {
    vec![
        json!({"type": "message_start", "message": {"usage": {
            "input_tokens": 5, "cache_read_input_tokens": 70, "cache_creation_input_tokens": 20,
            "output_tokens": 1,
        }}}),
        start(
            0,
            json!({"type": "thinking", "thinking": "", "signature": ""}),
        ),
        delta(0, json!({"type": "thinking_delta", "thinking": "Let me "})),
        json!({"type": "ping"}),
        delta(0, json!({"type": "thinking_delta", "thinking": "see."})),
        delta(0, json!({"type": "signature_delta", "signature": "c2ln"})),
        stop(0),
        start(1, json!({"type": "redacted_thinking", "data": "b3BhcXVl"})),
        stop(1),
        start(2, json!({"type": "text", "text": ""})),
        delta(2, json!({"type": "text_delta", "text": "I look."})),
        stop(2),
        start(
            3,
            json!({"type": "tool_use", "id": "toolu_1", "name": "look", "input": {}}),
        ),
        delta(
            3,
            json!({"type": "input_json_delta", "partial_json": "{\"path\": \"/t"}),
        ),
        delta(
            3,
            json!({"type": "input_json_delta", "partial_json": "mp\", \"deep\": 1.50}"}),
        ),
        stop(3),
        start(
            4,
            json!({"type": "thinking", "thinking": "And", "signature": "bW9yZQ"}),
        ),
        stop(4),
        start(
            5,
            json!({"type": "tool_use", "id": "toolu_2", "name": "look", "input": {}}),
        ),
        stop(5),
        ended("tool_use"),
        json!({"type": "message_stop"}),
    ]
}

fn recorded_blocks() -> Json {
    json!([
        {"type": "thinking", "thinking": "Let me see.", "signature": "c2ln"},
        {"type": "redacted_thinking", "data": "b3BhcXVl"},
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {"path": "/tmp", "deep": 1.5}},
        {"type": "thinking", "thinking": "And", "signature": "bW9yZQ"},
        {"type": "tool_use", "id": "toolu_2", "name": "look", "input": {}},
    ])
}

/// The message an engine makes of the recorded turn.
fn recorded_message(raw: Option<RawTurn>) -> Message {
    let parts = vec![
        Part::Reasoning {
            text: "Let me see.And".to_owned(),
        },
        said("I look."),
        call("toolu_1", "look", json!({"path": "/tmp", "deep": 1.5})),
        call("toolu_2", "look", json!({})),
    ];
    assistant(parts, raw)
}
