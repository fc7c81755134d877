//! Reading an answer block by block.

use hermes_core::{CallId, FinishReason, ModelEvent, RawTurn, Usage, WireProtocol};
use serde_json::{Map, Value as Json, json};

use super::frames::{EXCEPTION, failure};
use crate::error::VendorError;
use crate::wire::{Decoder, Frame, WireError};

/// How far an answer has come.
enum Progress {
    Nothing,
    UnderWay,
    Stopped(String),
}

/// One block of the answer, growing.
struct Block {
    index: u64,
    content: Content,
}

enum Content {
    Text(String),
    Call {
        id: String,
        name: String,
        /// The argument text.
        input: String,
    },
    Reasoning {
        text: String,
        signature: String,
    },
    /// Kept as it came: hidden reasoning, and kinds of blocks that are added to the protocol later.
    Other(Json),
}

pub(super) struct ConverseDecoder {
    provider: String,
    model: String,
    progress: Progress,
    blocks: Vec<Block>,
}

impl ConverseDecoder {
    pub(super) fn new(provider: &str, model: &str) -> Self {
        Self {
            provider: provider.to_owned(),
            model: model.to_owned(),
            progress: Progress::Nothing,
            blocks: Vec::new(),
        }
    }

    fn begin(&mut self) {
        if let Progress::Nothing = self.progress {
            self.progress = Progress::UnderWay;
        }
    }

    fn open_call(&mut self, index: u64, start: &Json, out: &mut Vec<ModelEvent>) {
        let id = match text(&start["toolUseId"]) {
            "" => format!("call_{}", self.blocks.len()),
            id => id.to_owned(),
        };
        let name = text(&start["name"]).to_owned();
        out.push(ModelEvent::CallStarted {
            id: CallId(id.clone()),
            name: name.clone(),
        });
        let input = String::new();
        let content = Content::Call { id, name, input };
        self.blocks.push(Block { index, content });
    }

    /// The block with this index, made by `new` if there is none: only calls announce themselves.
    fn block(&mut self, index: u64, new: impl FnOnce() -> Content) -> Option<&mut Content> {
        if !self.blocks.iter().any(|block| block.index == index) {
            let content = new();
            self.blocks.push(Block { index, content });
        }
        self.blocks
            .iter_mut()
            .find(|block| block.index == index)
            .map(|block| &mut block.content)
    }

    fn grow(&mut self, index: u64, delta: &Json, out: &mut Vec<ModelEvent>) {
        if let Some(piece) = delta["text"].as_str() {
            self.say(index, piece, out);
        } else if let Some(piece) = delta["toolUse"]["input"].as_str() {
            self.write_arguments(index, piece, out);
        } else if let Some(reasoning) = delta["reasoningContent"].as_object() {
            self.think(index, reasoning, out);
        }
    }

    fn say(&mut self, index: u64, piece: &str, out: &mut Vec<ModelEvent>) {
        let block = self.block(index, || Content::Text(String::new()));
        if let Some(Content::Text(said)) = block
            && !piece.is_empty()
        {
            said.push_str(piece);
            out.push(ModelEvent::Text(piece.to_owned()));
        }
    }

    fn write_arguments(&mut self, index: u64, piece: &str, out: &mut Vec<ModelEvent>) {
        let found = self.blocks.iter_mut().find(|block| block.index == index);
        if let Some(Content::Call { id, input, .. }) = found.map(|block| &mut block.content)
            && !piece.is_empty()
        {
            input.push_str(piece);
            out.push(ModelEvent::CallArguments {
                id: CallId(id.clone()),
                fragment: piece.to_owned(),
            });
        }
    }

    /// Reasoning as a delta has it: a piece of text, of the signature, or hidden altogether.
    fn think(&mut self, index: u64, reasoning: &Map<String, Json>, out: &mut Vec<ModelEvent>) {
        let field = |name| reasoning.get(name).map(text).unwrap_or_default();
        if let Some(hidden) = reasoning.get("redactedContent") {
            let hidden = json!({ "reasoningContent": { "redactedContent": hidden } });
            self.block(index, || Content::Other(hidden));
            return;
        }
        let block = self.block(index, || Content::Reasoning {
            text: String::new(),
            signature: String::new(),
        });
        if let Some(Content::Reasoning { text, signature }) = block {
            text.push_str(field("text"));
            signature.push_str(field("signature"));
            if !field("text").is_empty() {
                out.push(ModelEvent::Reasoning(field("text").to_owned()));
            }
        }
    }

    /// A block that came whole.
    fn whole(&mut self, index: u64, block: &Json, out: &mut Vec<ModelEvent>) {
        let reasoning = &block["reasoningContent"];
        if block["text"].is_string() {
            self.grow(index, block, out);
        } else if block["toolUse"].is_object() {
            self.open_call(index, &block["toolUse"], out);
            let input = block["toolUse"]["input"].to_string();
            self.write_arguments(index, &input, out);
        } else if let Some(reasoning) = reasoning["reasoningText"].as_object() {
            self.think(index, reasoning, out);
        } else {
            let content = Content::Other(block.clone());
            self.blocks.push(Block { index, content });
        }
    }

    fn reason(&self, word: &str) -> Result<FinishReason, WireError> {
        let calls = || {
            let mut blocks = self.blocks.iter();
            blocks.any(|block| matches!(block.content, Content::Call { .. }))
        };
        match word {
            "max_tokens" | "model_context_window_exceeded" => Ok(FinishReason::Length),
            "guardrail_intervened" | "content_filtered" => Ok(FinishReason::Refused),
            "malformed_model_output" | "malformed_tool_use" => {
                Err(WireError::Malformed(format!("it ended with {word}")))
            }
            _ if calls() => Ok(FinishReason::ToolCalls),
            _ => Ok(FinishReason::Stop),
        }
    }

    fn raw(&mut self) -> Option<RawTurn> {
        let blocks: Vec<Json> = self
            .blocks
            .drain(..)
            .map(|block| block.content.into_json())
            .collect();
        (!blocks.is_empty()).then(|| RawTurn {
            protocol: WireProtocol::Converse,
            provider: self.provider.clone(),
            model: self.model.clone(),
            body: Json::Array(blocks),
        })
    }
}

impl Decoder for ConverseDecoder {
    fn frame(&mut self, frame: &Frame, out: &mut Vec<ModelEvent>) -> Result<(), WireError> {
        let Some(event) = frame.event.as_deref() else {
            return Ok(());
        };
        let data: Json = serde_json::from_str(&frame.data)
            .map_err(|error| WireError::Malformed(format!("an event is not JSON: {error}")))?;
        let index = data["contentBlockIndex"].as_u64().unwrap_or(0);
        match event {
            "messageStart" => self.begin(),
            "contentBlockStart" => {
                self.begin();
                if data["start"]["toolUse"].is_object() {
                    self.open_call(index, &data["start"]["toolUse"], out);
                }
            }
            "contentBlockDelta" => {
                self.begin();
                self.grow(index, &data["delta"], out);
            }
            "messageStop" => {
                self.progress = Progress::Stopped(text(&data["stopReason"]).to_owned());
            }
            "metadata" => count(&data["usage"], out),
            EXCEPTION => return Err(failure(&data)),
            // `contentBlockStop`, and whatever is added to the protocol later.
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Vec<ModelEvent>) -> Result<(), WireError> {
        let reason = match &self.progress {
            Progress::Nothing => return Err(WireError::Empty),
            Progress::UnderWay => {
                let open = self.blocks.iter().filter_map(|block| match &block.content {
                    Content::Call { name, .. } => Some(name.clone()),
                    Content::Text(_) | Content::Reasoning { .. } | Content::Other(_) => None,
                });
                return Err(WireError::Cut {
                    open_calls: open.collect(),
                });
            }
            Progress::Stopped(word) => self.reason(word)?,
        };
        let raw = self.raw();
        out.push(ModelEvent::Finished { reason, raw });
        Ok(())
    }

    fn document(&mut self, body: &Json, out: &mut Vec<ModelEvent>) -> Result<(), WireError> {
        let Some(content) = body["output"]["message"]["content"].as_array() else {
            return Err(match VendorError::from_body(body) {
                Some(said) => said.into(),
                None => WireError::Malformed("a message without content".to_owned()),
            });
        };
        for (index, block) in (0..).zip(content) {
            self.whole(index, block, out);
        }
        count(&body["usage"], out);
        self.progress = Progress::Stopped(text(&body["stopReason"]).to_owned());
        self.end(out)
    }
}

impl Content {
    /// The block as it is sent back.
    fn into_json(self) -> Json {
        match self {
            Self::Text(text) => json!({ "text": text }),
            Self::Call { id, name, input } => {
                // Text that is not JSON stays text: the history has repaired arguments, and a replay
                // takes those.
                let input = match input.trim() {
                    "" => json!({}),
                    written => serde_json::from_str(written).unwrap_or_else(|_| json!(input)),
                };
                json!({ "toolUse": { "toolUseId": id, "name": name, "input": input } })
            }
            Self::Reasoning { text, signature } => {
                let mut fields = json!({ "text": text });
                if !signature.is_empty() {
                    fields["signature"] = json!(signature);
                }
                json!({ "reasoningContent": { "reasoningText": fields } })
            }
            Self::Other(block) => block,
        }
    }
}

/// Input that came from the cache or went into it is not part of the plain input here.
fn count(usage: &Json, out: &mut Vec<ModelEvent>) {
    if !usage.is_object() {
        return;
    }
    let tokens = |name: &str| usage[name].as_u64().unwrap_or(0);
    out.push(ModelEvent::Usage {
        usage: Usage {
            input_tokens: tokens("inputTokens"),
            output_tokens: tokens("outputTokens"),
            cache_read_tokens: tokens("cacheReadInputTokens"),
            cache_write_tokens: tokens("cacheWriteInputTokens"),
            reasoning_tokens: 0,
        },
        cost_usd: None,
    });
}

fn text(value: &Json) -> &str {
    value.as_str().unwrap_or_default()
}
