//! Reading an answer block by block.

use hermes_core::{CallId, FinishReason, ModelEvent, RawTurn, Usage, WireProtocol};
use serde_json::{Map, Value as Json, json};

use crate::error::VendorError;
use crate::wire::converse::frames::{self, EXCEPTION};
use crate::wire::{Decoder, Frame, WireError};

/// How far an answer has come.
#[derive(Clone, Copy)]
enum Progress {
    Nothing,
    UnderWay,
    Stopped(FinishReason),
}

/// One block of the answer, growing.
struct Block {
    index: u64,
    /// The block as it will be replayed.
    fields: Map<String, Json>,
    /// Argument text that came in pieces.
    written: String,
    state: BlockState,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum BlockState {
    Open,
    Closed,
}

pub(super) struct MessagesDecoder {
    provider: String,
    model: String,
    progress: Progress,
    blocks: Vec<Block>,
    usage: Usage,
}

impl MessagesDecoder {
    pub(super) fn new(provider: &str, model: &str) -> Self {
        Self {
            provider: provider.to_owned(),
            model: model.to_owned(),
            progress: Progress::Nothing,
            blocks: Vec::new(),
            usage: Usage::default(),
        }
    }

    fn take(
        &mut self,
        kind: &str,
        data: &Json,
        out: &mut Vec<ModelEvent>,
    ) -> Result<(), WireError> {
        match kind {
            "message_start" => {
                self.begin();
                self.count(&data["message"]["usage"], out);
            }
            "content_block_start" => {
                self.begin();
                let index = self.index(data);
                self.open(index, &data["content_block"], out);
            }
            "content_block_delta" => {
                self.begin();
                let index = self.index(data);
                self.grow(index, &data["delta"], out);
            }
            "content_block_stop" => {
                let index = self.index(data);
                if let Some(block) = self.find(index) {
                    block.close(out);
                }
            }
            "message_delta" => {
                self.count(&data["usage"], out);
                if let Some(reason) = data["delta"]["stop_reason"].as_str() {
                    self.stop(reason);
                }
            }
            "message_stop" => match self.progress {
                Progress::Nothing | Progress::UnderWay => self.stop("end_turn"),
                Progress::Stopped(_) => {}
            },
            "error" => return Err(failure(data)),
            // `ping`, and whatever is added to the protocol later.
            _ => {}
        }
        Ok(())
    }

    fn begin(&mut self) {
        if let Progress::Nothing = self.progress {
            self.progress = Progress::UnderWay;
        }
    }

    fn stop(&mut self, reason: &str) {
        self.progress = Progress::Stopped(match reason {
            "max_tokens" | "model_context_window_exceeded" => FinishReason::Length,
            "refusal" => FinishReason::Refused,
            "pause_turn" => FinishReason::Paused,
            // Imitators say that they are done where they mean a call, and the other way round.
            _ if self.blocks.iter().any(Block::is_call) => FinishReason::ToolCalls,
            _ => FinishReason::Stop,
        });
    }

    fn index(&self, data: &Json) -> u64 {
        let last = || self.blocks.last().map_or(0, |block| block.index);
        data["index"].as_u64().unwrap_or_else(last)
    }

    fn find(&mut self, index: u64) -> Option<&mut Block> {
        self.blocks
            .iter_mut()
            .rfind(|block| block.index == index && block.state == BlockState::Open)
    }

    fn open(&mut self, index: u64, content: &Json, out: &mut Vec<ModelEvent>) {
        let mut fields = content.as_object().cloned().unwrap_or_default();
        if fields.get("type").is_some_and(|kind| kind == "tool_use")
            && fields.get("id").and_then(Json::as_str).unwrap_or_default() == ""
        {
            fields.insert(
                "id".to_owned(),
                json!(format!("call_{}", self.blocks.len())),
            );
        }
        let block = Block {
            index,
            fields,
            written: String::new(),
            state: BlockState::Open,
        };
        match block.kind() {
            "text" => push_text(block.text("text"), ModelEvent::Text, out),
            "thinking" => push_text(block.text("thinking"), ModelEvent::Reasoning, out),
            "tool_use" => out.push(ModelEvent::CallStarted {
                id: block.id(),
                name: block.text("name").to_owned(),
            }),
            _ => {}
        }
        self.blocks.push(block);
    }

    fn grow(&mut self, index: u64, delta: &Json, out: &mut Vec<ModelEvent>) {
        let kind = delta["type"].as_str().unwrap_or_default();
        if self.find(index).is_none() {
            // Some imitators do not announce their blocks; a call cannot begin without its name.
            match kind {
                "text_delta" => self.open(index, &json!({ "type": "text" }), out),
                "thinking_delta" => self.open(index, &json!({ "type": "thinking" }), out),
                _ => return,
            }
        }
        if let Some(block) = self.find(index) {
            block.grow(kind, delta, out);
        }
    }

    /// Counts only grow: later reports repeat, correct upwards or leave out what came before.
    fn count(&mut self, usage: &Json, out: &mut Vec<ModelEvent>) {
        if !usage.is_object() {
            return;
        }
        let details = &usage["output_tokens_details"];
        let thinking = ["thinking_tokens", "reasoning_tokens"]
            .iter()
            .find_map(|name| details.get(name))
            .unwrap_or(&Json::Null);
        let now = &mut self.usage;
        for (known, reported) in [
            (&mut now.input_tokens, &usage["input_tokens"]),
            (&mut now.output_tokens, &usage["output_tokens"]),
            (
                &mut now.cache_read_tokens,
                &usage["cache_read_input_tokens"],
            ),
            (
                &mut now.cache_write_tokens,
                &usage["cache_creation_input_tokens"],
            ),
            (&mut now.reasoning_tokens, thinking),
        ] {
            *known = reported.as_u64().unwrap_or(0).max(*known);
        }
        out.push(ModelEvent::Usage {
            usage: self.usage,
            cost_usd: None,
        });
    }

    fn raw(&mut self) -> Option<RawTurn> {
        let blocks: Vec<Json> = self
            .blocks
            .drain(..)
            .map(|block| Json::Object(block.fields))
            .collect();
        (!blocks.is_empty()).then(|| RawTurn {
            protocol: WireProtocol::Anthropic,
            provider: self.provider.clone(),
            model: self.model.clone(),
            body: Json::Array(blocks),
        })
    }
}

impl Decoder for MessagesDecoder {
    fn frame(&mut self, frame: &Frame, out: &mut Vec<ModelEvent>) -> Result<(), WireError> {
        let data = frame.data.trim();
        if data.is_empty() || data == "[DONE]" {
            return Ok(());
        }
        let data: Json = serde_json::from_str(data)
            .map_err(|error| WireError::Malformed(format!("an event is not JSON: {error}")))?;
        if frame.event.as_deref() == Some(EXCEPTION) {
            return Err(frames::failure(&data));
        }
        let kind = match (data["type"].as_str(), &frame.event) {
            _ if data["error"].is_object() => "error",
            (Some(kind), _) => kind,
            (None, Some(event)) => event,
            (None, None) => "",
        };
        self.take(kind, &data, out)
    }

    fn end(&mut self, out: &mut Vec<ModelEvent>) -> Result<(), WireError> {
        match self.progress {
            Progress::Nothing => Err(WireError::Empty),
            Progress::UnderWay => Err(WireError::Cut {
                open_calls: self
                    .blocks
                    .iter()
                    .filter(|block| block.is_call())
                    .map(|block| block.text("name").to_owned())
                    .collect(),
            }),
            Progress::Stopped(reason) => {
                for block in &mut self.blocks {
                    block.close(out);
                }
                let raw = self.raw();
                out.push(ModelEvent::Finished { reason, raw });
                Ok(())
            }
        }
    }

    fn document(&mut self, body: &Json, out: &mut Vec<ModelEvent>) -> Result<(), WireError> {
        if body["type"] == "error" || body["error"].is_object() {
            return Err(failure(body));
        }
        let Some(content) = body["content"].as_array() else {
            return Err(WireError::Malformed("a message without content".to_owned()));
        };
        for (index, block) in (0..).zip(content) {
            self.open(index, block, out);
        }
        self.count(&body["usage"], out);
        self.stop(body["stop_reason"].as_str().unwrap_or("end_turn"));
        self.end(out)
    }
}

impl Block {
    fn kind(&self) -> &str {
        self.text("type")
    }

    fn text(&self, field: &str) -> &str {
        self.fields
            .get(field)
            .and_then(Json::as_str)
            .unwrap_or_default()
    }

    fn id(&self) -> CallId {
        CallId(self.text("id").to_owned())
    }

    fn is_call(&self) -> bool {
        self.kind() == "tool_use"
    }

    fn grow(&mut self, kind: &str, delta: &Json, out: &mut Vec<ModelEvent>) {
        let piece = |field: &str| delta[field].as_str().unwrap_or_default();
        match kind {
            "text_delta" => {
                self.append("text", piece("text"));
                push_text(piece("text"), ModelEvent::Text, out);
            }
            "thinking_delta" => {
                self.append("thinking", piece("thinking"));
                push_text(piece("thinking"), ModelEvent::Reasoning, out);
            }
            "signature_delta" => self.append("signature", piece("signature")),
            "input_json_delta" => {
                let fragment = piece("partial_json");
                self.written.push_str(fragment);
                if self.is_call() && !fragment.is_empty() {
                    out.push(ModelEvent::CallArguments {
                        id: self.id(),
                        fragment: fragment.to_owned(),
                    });
                }
            }
            "citations_delta" => {
                let citations = self.fields.entry("citations").or_insert(json!([]));
                if !citations.is_array() {
                    *citations = json!([]);
                }
                if let Some(list) = citations.as_array_mut() {
                    list.push(delta["citation"].clone());
                }
            }
            _ => {}
        }
    }

    fn append(&mut self, field: &str, piece: &str) {
        match self.fields.get_mut(field) {
            Some(Json::String(text)) => text.push_str(piece),
            Some(_) | None => {
                self.fields.insert(field.to_owned(), json!(piece));
            }
        }
    }

    /// Puts written arguments in place. Text that is not JSON stays text: the history gets repaired
    /// arguments, and a replay takes those.
    fn close(&mut self, out: &mut Vec<ModelEvent>) {
        if self.state == BlockState::Closed {
            return;
        }
        self.state = BlockState::Closed;
        if !self.written.is_empty() {
            let input = serde_json::from_str(&self.written)
                .unwrap_or_else(|_| Json::String(std::mem::take(&mut self.written)));
            self.fields.insert("input".to_owned(), input);
        } else if self.is_call() {
            let input = self.fields.entry("input").or_insert(json!({}));
            if !matches!(input, Json::Object(none) if none.is_empty()) {
                let fragment = input.to_string();
                out.push(ModelEvent::CallArguments {
                    id: self.id(),
                    fragment,
                });
            }
        }
    }
}

fn push_text(text: &str, event: fn(String) -> ModelEvent, out: &mut Vec<ModelEvent>) {
    if !text.is_empty() {
        out.push(event(text.to_owned()));
    }
}

fn failure(data: &Json) -> WireError {
    let mut vendor = VendorError::from_body(data).unwrap_or_default();
    vendor.request_id = data["request_id"].as_str().map(str::to_owned);
    WireError::Vendor(vendor)
}
