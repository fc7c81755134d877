//! Answers in the OpenAI Responses format, whole or as named events.

use serde_json::{Value, json};

use super::answer::{Answer, Finish, Usage};
use super::envelope::{CREATED, Envelope, Piece};
use super::request::Delivery;
use super::wire::{Plan, event_frame};

/// The answer as the request wants it.
pub(super) fn plan(answer: &Answer, envelope: &Envelope<'_>) -> Plan {
    match envelope.request.delivery {
        Delivery::Document => Plan::json(200, &finished(answer, envelope)),
        Delivery::Stream | Delivery::Array => Plan::events(stream(answer, envelope)),
    }
}

/// How the whole answer is labelled at its end.
struct Ending<'a> {
    event: &'static str,
    status: &'static str,
    /// Why it is incomplete.
    reason: Option<&'a str>,
}

fn ending(answer: &Answer) -> Ending<'_> {
    let incomplete = |reason| Ending {
        event: "response.incomplete",
        status: "incomplete",
        reason: Some(reason),
    };
    match answer.finish() {
        Finish::Stop | Finish::ToolCalls => Ending {
            event: "response.completed",
            status: "completed",
            reason: None,
        },
        Finish::Length => incomplete("max_output_tokens"),
        Finish::ContentFilter => incomplete("content_filter"),
        Finish::Verbatim("failed") => Ending {
            event: "response.failed",
            status: "failed",
            reason: None,
        },
        Finish::Verbatim(word) => incomplete(word),
    }
}

fn finished(answer: &Answer, envelope: &Envelope<'_>) -> Value {
    let pieces = envelope.pieces(answer);
    let items = pieces.iter().enumerate();
    let output = items.map(|(index, piece)| done_item(envelope, index, piece));
    let ending = ending(answer);
    let mut response = response(envelope, ending.status, output.collect());
    response["usage"] = usage_json(answer.usage.unwrap_or_default());
    if let Some(reason) = ending.reason {
        response["incomplete_details"] = json!({"reason": reason});
    }
    if ending.status == "failed" {
        response["error"] = json!({"code": "server_error", "message": "scripted failure"});
    }
    response
}

fn response(envelope: &Envelope<'_>, status: &str, output: Vec<Value>) -> Value {
    json!({
        "id": envelope.id("resp_"),
        "object": "response",
        "created_at": CREATED,
        "model": envelope.request.model,
        "status": status,
        "error": null,
        "incomplete_details": null,
        "output": output,
        "usage": null,
    })
}

fn done_item(envelope: &Envelope<'_>, index: usize, piece: &Piece<'_>) -> Value {
    match piece {
        Piece::Reasoning { text, signature } => json!({
            "id": envelope.part_id("rs_", index),
            "type": "reasoning",
            "summary": [{"type": "summary_text", "text": text}],
            "encrypted_content": signature,
        }),
        Piece::Text(text) => json!({
            "id": envelope.part_id("msg_", index),
            "type": "message",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": text, "annotations": []}],
        }),
        Piece::Call { id, call } => json!({
            "id": envelope.part_id("fc_", index),
            "type": "function_call",
            "status": "completed",
            "call_id": id,
            "name": call.name,
            "arguments": call.argument_text(),
        }),
    }
}

/// The item as it is announced, before its content came.
fn open_item(envelope: &Envelope<'_>, index: usize, piece: &Piece<'_>) -> Value {
    let mut item = done_item(envelope, index, piece);
    match piece {
        Piece::Reasoning { .. } => {
            item["summary"] = json!([]);
            item["encrypted_content"] = Value::Null;
        }
        Piece::Text(_) => {
            item["content"] = json!([]);
            item["status"] = "in_progress".into();
        }
        Piece::Call { .. } => {
            item["arguments"] = "".into();
            item["status"] = "in_progress".into();
        }
    }
    item
}

/// Numbers the events and gives each its name twice, as the vendor does.
#[derive(Default)]
struct Events {
    frames: Vec<String>,
}

impl Events {
    fn push(&mut self, name: &str, mut payload: Value) {
        payload["type"] = name.into();
        payload["sequence_number"] = self.frames.len().into();
        self.frames.push(event_frame(name, &payload.to_string()));
    }
}

fn stream(answer: &Answer, envelope: &Envelope<'_>) -> Vec<String> {
    let mut events = Events::default();
    for name in ["response.created", "response.in_progress"] {
        let opening = response(envelope, "in_progress", Vec::new());
        events.push(name, json!({"response": opening}));
    }
    for (index, piece) in envelope.pieces(answer).iter().enumerate() {
        let item = open_item(envelope, index, piece);
        events.push(
            "response.output_item.added",
            json!({"output_index": index, "item": item}),
        );
        content(&mut events, envelope, index, piece);
        let item = done_item(envelope, index, piece);
        events.push(
            "response.output_item.done",
            json!({"output_index": index, "item": item}),
        );
    }
    let response = finished(answer, envelope);
    events.push(ending(answer).event, json!({"response": response}));
    events.frames
}

fn content(events: &mut Events, envelope: &Envelope<'_>, index: usize, piece: &Piece<'_>) {
    let item = done_item(envelope, index, piece);
    // Every event about content names the item, and the part of it where items have parts.
    let about = |extra: Value| {
        let mut payload = json!({"item_id": item["id"], "output_index": index});
        if let (Value::Object(payload), Value::Object(extra)) = (&mut payload, extra) {
            payload.extend(extra);
        }
        payload
    };
    match piece {
        Piece::Reasoning { text, .. } => {
            let part = |text: &str| {
                about(json!({"summary_index": 0, "part": {"type": "summary_text", "text": text}}))
            };
            events.push("response.reasoning_summary_part.added", part(""));
            for delta in envelope.chunks(text) {
                let payload = about(json!({"summary_index": 0, "delta": delta}));
                events.push("response.reasoning_summary_text.delta", payload);
            }
            let payload = about(json!({"summary_index": 0, "text": text}));
            events.push("response.reasoning_summary_text.done", payload);
            events.push("response.reasoning_summary_part.done", part(text));
        }
        Piece::Text(text) => {
            let part = |text: &str| {
                let part = json!({"type": "output_text", "text": text, "annotations": []});
                about(json!({"content_index": 0, "part": part}))
            };
            events.push("response.content_part.added", part(""));
            for delta in envelope.chunks(text) {
                let payload = about(json!({"content_index": 0, "delta": delta}));
                events.push("response.output_text.delta", payload);
            }
            let payload = about(json!({"content_index": 0, "text": text}));
            events.push("response.output_text.done", payload);
            events.push("response.content_part.done", part(text));
        }
        Piece::Call { call, .. } => {
            let arguments = call.argument_text();
            for delta in envelope.chunks(&arguments) {
                let payload = about(json!({"delta": delta}));
                events.push("response.function_call_arguments.delta", payload);
            }
            let payload = about(json!({"arguments": arguments}));
            events.push("response.function_call_arguments.done", payload);
        }
    }
}

fn usage_json(usage: Usage) -> Value {
    json!({
        "input_tokens": usage.prompt_tokens,
        "input_tokens_details": {"cached_tokens": usage.cached_tokens},
        "output_tokens": usage.completion_tokens,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
        "total_tokens": usage.total_tokens(),
    })
}
