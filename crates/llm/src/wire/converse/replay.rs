//! Sending a turn back the way it came: the blocks as they were received and in their order, because a
//! signature is only valid in its place. Left out is what the service would reject.

use hermes_core::{RawTurn, WireProtocol};
use serde_json::{Value as Json, json};

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
        let own = raw.protocol == WireProtocol::Converse && raw.provider == self.provider;
        own && raw
            .body
            .as_array()
            .into_iter()
            .flatten()
            .any(|block| !is_reasoning(block) && !is_blank(block))
    }

    /// The blocks of a turn as they came; `None` when they cannot be sent to this provider.
    pub(super) fn blocks(&self, turn: &Assistant<'_>) -> Option<Vec<Json>> {
        let raw = turn.issued_by(WireProtocol::Converse, self.provider)?;
        let mut calls = turn.expected();
        let mut blocks = Vec::new();
        for block in raw.body.as_array()? {
            if is_reasoning(block) {
                if self.keeps(block, raw) {
                    blocks.push(block.clone());
                }
            } else if block["toolUse"].is_object() {
                match calls.meet(&block["toolUse"]["toolUseId"]) {
                    Met::Next(call) => blocks.push(called(block, call)),
                    Met::Gone => {}
                    Met::Early => return None,
                }
            } else if !is_blank(block) {
                blocks.push(block.clone());
            }
        }
        (calls.is_met() && !blocks.iter().all(is_reasoning)).then_some(blocks)
    }

    /// Signed and hidden reasoning goes back to the model it came from; what is not signed goes back
    /// only where the profile says so, because most models refuse it.
    fn keeps(&self, block: &Json, raw: &RawTurn) -> bool {
        let reasoning = &block["reasoningContent"];
        let signed = !reasoning["redactedContent"].is_null()
            || !reasoning["reasoningText"]["signature"].is_null();
        match self.rule {
            ReasoningReplay::Never => false,
            ReasoningReplay::All => true,
            ReasoningReplay::Unsigned => !signed,
            // The last two are rules of another protocol.
            ReasoningReplay::Native | ReasoningReplay::Content | ReasoningReplay::Details => {
                signed && raw.model == self.model
            }
        }
    }
}

/// The block of a call with the id and, where the model wrote none that can be read, the arguments the
/// history has for it.
fn called(block: &Json, call: &Call<'_>) -> Json {
    let mut block = block.clone();
    let fields = &mut block["toolUse"];
    fields["toolUseId"] = json!(wire_name(&call.id));
    fields["name"] = json!(call.name);
    if !fields["input"].is_object() {
        fields["input"] = call.arguments.clone().into_owned();
    }
    block
}

fn is_reasoning(block: &Json) -> bool {
    block["reasoningContent"].is_object()
}

/// The service sends empty texts but does not take them back.
fn is_blank(block: &Json) -> bool {
    match block.as_object() {
        Some(fields) => fields
            .get("text")
            .is_some_and(|text| text.as_str().unwrap_or_default().trim().is_empty()),
        None => true,
    }
}
