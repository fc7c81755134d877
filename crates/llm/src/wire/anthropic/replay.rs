//! Sending a turn back the way it came.
//!
//! The blocks of a raw turn go back as they were received and in their order: a signature is only valid
//! in its place. Left out is what the provider would reject, and thinking that the profile's rule says
//! is not to be sent again. What goes back does not depend on how long ago it was said: a request begins
//! with the bytes of the one before.

use hermes_core::{RawTurn, WireProtocol};
use serde_json::{Value as Json, json};

use super::family::wire_model;
use super::media::text;
use crate::quirks::ReasoningReplay;
use crate::wire::legal::{Assistant, Call, Met};
use crate::wire::naming::wire_name;

/// Which raw blocks go back to whom.
pub(super) struct Replay<'a> {
    pub(super) provider: &'a str,
    /// The model that is asked now.
    pub(super) model: &'a str,
    pub(super) rule: ReasoningReplay,
}

impl Replay<'_> {
    /// Whether a raw turn can stand for itself, without any neutral text or call beside it.
    pub(super) fn speaks(&self, raw: &RawTurn) -> bool {
        let own = raw.protocol == WireProtocol::Anthropic && raw.provider == self.provider;
        own && raw
            .body
            .as_array()
            .into_iter()
            .flatten()
            .any(|block| !is_thinking(block) && !is_blank(block))
    }

    /// The blocks of a turn as they came; `None` when they cannot be sent to this provider.
    pub(super) fn blocks(&self, turn: &Assistant<'_>) -> Option<Vec<Json>> {
        let raw = turn.issued_by(WireProtocol::Anthropic, self.provider)?;
        let mut calls = turn.expected();
        let mut blocks = Vec::new();
        for block in raw.body.as_array()? {
            if is_thinking(block) {
                blocks.extend(self.thinking(block, raw));
            } else if block["type"] == "tool_use" {
                match calls.meet(&block["id"]) {
                    Met::Next(call) => blocks.push(called(block, call)),
                    Met::Gone => {}
                    Met::Early => return None,
                }
            } else if !is_blank(block) {
                blocks.push(block.clone());
            }
        }
        (calls.is_met() && !blocks.iter().all(is_thinking)).then_some(blocks)
    }

    /// Whether thinking that never was a block of this provider is sent as one.
    pub(super) fn takes_foreign_thinking(&self) -> bool {
        match self.rule {
            ReasoningReplay::All | ReasoningReplay::Unsigned => true,
            ReasoningReplay::Native
            | ReasoningReplay::Never
            | ReasoningReplay::Content
            | ReasoningReplay::Details => false,
        }
    }

    fn thinking(&self, block: &Json, raw: &RawTurn) -> Option<Json> {
        let signed = block["type"] == "redacted_thinking"
            || block["signature"]
                .as_str()
                .is_some_and(|signature| !signature.is_empty());
        match self.rule {
            ReasoningReplay::Never => None,
            ReasoningReplay::All => Some(block.clone()),
            ReasoningReplay::Unsigned => (!signed).then(|| block.clone()),
            // The last two are rules of another protocol. Only the model that sealed a thought can open it.
            ReasoningReplay::Native | ReasoningReplay::Content | ReasoningReplay::Details
                if signed =>
            {
                (wire_model(&raw.model) == wire_model(self.model)).then(|| block.clone())
            }
            ReasoningReplay::Native | ReasoningReplay::Content | ReasoningReplay::Details => block
                ["thinking"]
                .as_str()
                .filter(|thought| !thought.trim().is_empty())
                .map(text),
        }
    }
}

/// The block of a call with the id and, where the model wrote none that can be read, the arguments the
/// history has for it.
fn called(block: &Json, call: &Call<'_>) -> Json {
    let mut block = block.clone();
    let id = wire_name(&call.id);
    if block["id"] != *id {
        block["id"] = json!(id);
    }
    if block["name"] != *call.name {
        block["name"] = json!(call.name);
    }
    if !block["input"].is_object() {
        block["input"] = call.arguments.clone().into_owned();
    }
    block
}

fn is_thinking(block: &Json) -> bool {
    block["type"] == "thinking" || block["type"] == "redacted_thinking"
}

/// The provider sends empty texts but does not take them back.
fn is_blank(block: &Json) -> bool {
    let Some(fields) = block.as_object() else {
        return true;
    };
    match fields.get("type").and_then(Json::as_str) {
        Some("text") => block["text"].as_str().unwrap_or_default().trim().is_empty(),
        Some(_) => false,
        None => true,
    }
}
