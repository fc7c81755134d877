//! Reading an answer of the Responses protocol.

use hermes_core::{FinishReason, ModelEvent, RawTurn, Usage, WireProtocol};
use serde_json::Value as Json;

use super::stream::{Items, Outcome};
use crate::error::VendorError;
use crate::wire::chat::decode::{failure, parse, says_something};
use crate::wire::chat::tokens::{cost, count};
use crate::wire::{Decoder, Frame, WireError};

/// Reads one answer of `model` at `provider`.
pub fn decoder(provider: &str, model: &str) -> impl Decoder + use<> {
    ResponsesDecoder {
        provider: provider.to_owned(),
        model: model.to_owned(),
        ..ResponsesDecoder::default()
    }
}

#[derive(Default)]
struct ResponsesDecoder {
    provider: String,
    model: String,
    /// The server's name for the answer.
    answer: String,
    items: Items,
    finish: Option<FinishReason>,
}

impl Decoder for ResponsesDecoder {
    fn frame(&mut self, frame: &Frame, out: &mut Vec<ModelEvent>) -> Result<(), WireError> {
        let data = frame.data.trim();
        if data.is_empty() || data == "[DONE]" {
            return Ok(());
        }
        let event = parse(frame)?;
        let name = event
            .get("type")
            .and_then(Json::as_str)
            .or(frame.event.as_deref())
            .unwrap_or("");
        self.event(name, &event, out)
    }

    fn end(&mut self, out: &mut Vec<ModelEvent>) -> Result<(), WireError> {
        let Some(reason) = self.finish else {
            return Err(if self.items.has_begun() {
                WireError::Cut {
                    open_calls: self.items.calls(),
                }
            } else {
                WireError::Empty
            });
        };
        out.push(ModelEvent::Finished {
            reason,
            raw: Some(RawTurn {
                protocol: WireProtocol::Responses,
                provider: self.provider.clone(),
                model: self.model.clone(),
                body: self.items.take_whole(),
            }),
        });
        Ok(())
    }

    fn document(&mut self, body: &Json, out: &mut Vec<ModelEvent>) -> Result<(), WireError> {
        if body.get("status").is_none()
            && body.get("output").is_none()
            && let Some(error) = VendorError::from_body(body)
        {
            return Err(error.into());
        }
        self.name(body);
        self.terminal(body, out)?;
        self.end(out)
    }
}

impl ResponsesDecoder {
    fn event(
        &mut self,
        name: &str,
        event: &Json,
        out: &mut Vec<ModelEvent>,
    ) -> Result<(), WireError> {
        match name {
            "response.created" | "response.in_progress" => {
                if let Some(response) = event.get("response") {
                    self.name(response);
                }
            }
            "response.output_item.added" => {
                if let Some(item) = event.get("item") {
                    self.items.added(event, item, &self.answer, out);
                }
            }
            "response.output_item.done" => {
                if let Some(item) = event.get("item") {
                    self.items.done(event, item, &self.answer, out);
                }
            }
            "response.output_text.delta" => self.items.text(event, out),
            "response.refusal.delta" => self.items.refused = true,
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.items.thought(event, out);
            }
            "response.reasoning_summary_part.added" => self.items.thought_part(event, out),
            "response.function_call_arguments.delta" => self.items.arguments(event, out),
            "response.function_call_arguments.done" => self.items.all_arguments(event, out),
            "response.completed"
            | "response.incomplete"
            | "response.failed"
            | "response.done"
            | "response.cancelled" => {
                let response = event.get("response").unwrap_or(event);
                self.terminal(response, out)?;
            }
            "error" => return Err(failure(event).into()),
            // Servers that fail early may answer with a bare error in place of an event.
            "" if event.get("error").is_some_and(says_something) => {
                return Err(failure(event).into());
            }
            _ => {}
        }
        Ok(())
    }

    fn name(&mut self, response: &Json) {
        if let Some(id) = response.get("id").and_then(Json::as_str) {
            id.clone_into(&mut self.answer);
        }
    }

    /// The answer ends; what it consists of is known from its items, the list given here is often empty.
    fn terminal(&mut self, response: &Json, out: &mut Vec<ModelEvent>) -> Result<(), WireError> {
        if let Some(object) = response.get("usage")
            && let Some(usage) = usage(object)
        {
            out.push(ModelEvent::Usage {
                usage,
                cost_usd: cost(object),
            });
        }
        let status = response
            .get("status")
            .and_then(Json::as_str)
            .unwrap_or("completed");
        if response.get("error").is_some_and(says_something) {
            return Err(failure(response).into());
        }
        if matches!(status, "failed" | "cancelled") {
            return Err(VendorError {
                code: Some(status.to_owned()),
                message: format!("the provider ended the answer as {status}"),
                ..VendorError::default()
            }
            .into());
        }
        if !self.items.is_any_done() {
            let output = response.get("output").and_then(Json::as_array);
            for (place, item) in output.into_iter().flatten().enumerate() {
                let event = serde_json::json!({"output_index": place});
                self.items.done(&event, item, &self.answer, out);
            }
        }
        let why = response
            .pointer("/incomplete_details/reason")
            .and_then(Json::as_str);
        self.finish = Some(self.reason(status, why));
        Ok(())
    }

    fn reason(&self, status: &str, why: Option<&str>) -> FinishReason {
        match (status, why) {
            ("incomplete", Some("max_output_tokens")) => FinishReason::Length,
            ("incomplete", Some("content_filter")) => FinishReason::Refused,
            ("completed", _) => match self.items.outcome() {
                Outcome::Calls => FinishReason::ToolCalls,
                Outcome::FinalText => FinishReason::Stop,
                Outcome::Interim | Outcome::Nothing if self.items.refused => FinishReason::Refused,
                Outcome::Interim => FinishReason::Paused,
                Outcome::Nothing => FinishReason::Stop,
            },
            // Incomplete for a reason of its own, queued or still in progress.
            _ => FinishReason::Paused,
        }
    }
}

fn usage(object: &Json) -> Option<Usage> {
    let input = count(object, &["/input_tokens"]);
    let output = count(object, &["/output_tokens"]);
    if input.is_none() && output.is_none() {
        return None;
    }
    let read = count(object, &["/input_tokens_details/cached_tokens"]).unwrap_or(0);
    let write = count(object, &["/input_tokens_details/cache_write_tokens"]).unwrap_or(0);
    Some(Usage {
        input_tokens: input
            .unwrap_or(0)
            .saturating_sub(read)
            .saturating_sub(write),
        output_tokens: output.unwrap_or(0),
        cache_read_tokens: read,
        cache_write_tokens: write,
        reasoning_tokens: count(object, &["/output_tokens_details/reasoning_tokens"]).unwrap_or(0),
    })
}
