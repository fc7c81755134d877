//! Reading an answer of chat completions, as tolerantly as servers are different.

use hermes_core::{FinishReason, ModelEvent, RawTurn, Usage, WireProtocol};
use serde_json::{Map, Value as Json, json};

use super::calls::Calls;
use super::piece::Piece;
use super::{ollama, tokens};
use crate::error::VendorError;
use crate::wire::{Decoder, Frame, WireError};

/// Most characters of a frame that are quoted in an error.
const MOST_QUOTED: usize = 200;

/// Reads one answer of `model` at `provider`.
pub fn decoder(provider: &str, model: &str) -> impl Decoder + use<> {
    ChatDecoder {
        provider: provider.to_owned(),
        model: model.to_owned(),
        ..ChatDecoder::default()
    }
}

#[derive(Default)]
struct ChatDecoder {
    provider: String,
    model: String,
    /// The server's name for the answer.
    answer: String,
    content: String,
    refusal: String,
    reasoning: String,
    reasoning_content: String,
    details: Vec<Json>,
    calls: Calls,
    usage: Option<(Usage, Option<f64>)>,
    finish: Option<FinishReason>,
    /// `[DONE]` came; whatever follows is not part of the answer.
    done: bool,
}

impl Decoder for ChatDecoder {
    fn frame(&mut self, frame: &Frame, out: &mut Vec<ModelEvent>) -> Result<(), WireError> {
        let data = frame.data.trim();
        if self.done || data.is_empty() {
            return Ok(());
        }
        if data == "[DONE]" {
            self.done = true;
            return Ok(());
        }
        if frame.event.is_none()
            && let Some(piece) = Piece::read(data)
        {
            self.piece(piece, out);
            return Ok(());
        }
        let chunk = ollama::chunk(parse(frame)?);
        self.chunk(&chunk, out)
    }

    fn end(&mut self, out: &mut Vec<ModelEvent>) -> Result<(), WireError> {
        let Some(finish) = self.finish.or(self.said_done()) else {
            return Err(if self.has_begun() {
                WireError::Cut {
                    open_calls: self.calls.names(),
                }
            } else {
                WireError::Empty
            });
        };
        self.calls.close(&self.answer, out);
        let reason = match finish {
            // Servers say either of the two whether or not there are calls.
            FinishReason::Stop | FinishReason::ToolCalls => self.ending(),
            FinishReason::Length | FinishReason::Refused | FinishReason::Paused => finish,
        };
        out.push(ModelEvent::Finished {
            reason,
            raw: Some(self.raw()),
        });
        Ok(())
    }

    fn document(&mut self, body: &Json, out: &mut Vec<ModelEvent>) -> Result<(), WireError> {
        let body = &ollama::chunk(body.clone());
        if body.get("choices").is_none()
            && let Some(error) = VendorError::from_body(body)
        {
            return Err(error.into());
        }
        self.chunk(body, out)?;
        if self.finish.is_none() && self.has_begun() {
            // A document is whole, whether or not it says why it ends.
            self.finish = Some(FinishReason::Stop);
        }
        self.end(out)
    }
}

/// The JSON of a frame; an `error` event is a failure whatever it holds.
pub(crate) fn parse(frame: &Frame) -> Result<Json, WireError> {
    let data = frame.data.trim();
    let parsed = serde_json::from_str::<Json>(data);
    if frame.event.as_deref() == Some("error") {
        let body = parsed.unwrap_or_else(|_| data.into());
        return Err(failure(&body).into());
    }
    match parsed {
        Ok(value @ Json::Object(_)) => Ok(value),
        Ok(_) | Err(_) => Err(WireError::Malformed(format!(
            "a frame is no JSON object: {}",
            data.chars().take(MOST_QUOTED).collect::<String>()
        ))),
    }
}

/// The failure in a body or in an `error` value; it counts as one even if it says nothing known.
pub(crate) fn failure(body: &Json) -> VendorError {
    VendorError::from_body(body).unwrap_or_else(|| VendorError {
        message: body.to_string().chars().take(MOST_QUOTED).collect(),
        ..VendorError::default()
    })
}

impl ChatDecoder {
    fn piece(&mut self, piece: Piece<'_>, out: &mut Vec<ModelEvent>) {
        if let (true, Some(answer)) = (self.answer.is_empty(), piece.answer) {
            answer.clone_into(&mut self.answer);
        }
        self.content.push_str(&piece.text);
        out.push(ModelEvent::Text(piece.text.into_owned()));
    }

    fn chunk(&mut self, chunk: &Json, out: &mut Vec<ModelEvent>) -> Result<(), WireError> {
        // Aggregators follow a reached limit with a complaint about it, in the chunk that also holds the
        // count; the limit is known by then. After any other end a failure is one.
        let about_limit = self.finish == Some(FinishReason::Length);
        if !about_limit && chunk.get("error").is_some_and(says_something) {
            return Err(failure(chunk).into());
        }
        if self.answer.is_empty()
            && let Some(id) = chunk.get("id").and_then(Json::as_str)
        {
            id.clone_into(&mut self.answer);
        }
        let choice = chunk
            .get("choices")
            .and_then(Json::as_array)
            .and_then(|choices| {
                choices
                    .iter()
                    .find(|choice| choice.get("index").and_then(Json::as_u64).unwrap_or(0) == 0)
            });
        if let Some(choice) = choice {
            self.choice(choice, out)?;
        }
        // Groq counts in a field of its own unless it is asked to.
        let counts = [chunk.get("usage"), chunk.pointer("/x_groq/usage")];
        let mut counts = counts.into_iter().flatten();
        if let Some((object, usage)) =
            counts.find_map(|object| Some((object, tokens::usage(object)?)))
        {
            let counted = (usage, tokens::cost(object));
            // Some servers repeat the count in every chunk.
            if self.usage != Some(counted) {
                self.usage = Some(counted);
                let (usage, cost_usd) = counted;
                out.push(ModelEvent::Usage { usage, cost_usd });
            }
        }
        Ok(())
    }

    fn choice(&mut self, choice: &Json, out: &mut Vec<ModelEvent>) -> Result<(), WireError> {
        if choice.get("error").is_some_and(says_something) {
            return Err(failure(choice).into());
        }
        match (choice.get("delta"), choice.get("message")) {
            (Some(delta @ Json::Object(_)), _) => self.delta(delta, out),
            // A whole message at the end of a stream repeats what the deltas said.
            (_, Some(message)) if !self.has_begun() => self.delta(message, out),
            _ => {}
        }
        match choice.get("finish_reason").and_then(Json::as_str) {
            Some("error") => {
                return Err(VendorError {
                    message: "the provider broke the answer off with an error".to_owned(),
                    ..VendorError::default()
                }
                .into());
            }
            Some(word) if !word.is_empty() => self.finish = Some(finish_reason(word)),
            Some(_) | None => {}
        }
        Ok(())
    }

    fn delta(&mut self, delta: &Json, out: &mut Vec<ModelEvent>) {
        self.think(delta, out);
        if let Some(content) = delta.get("content") {
            self.text(content, out);
        }
        if let Some(refusal) = delta.get("refusal").and_then(Json::as_str) {
            self.refusal.push_str(refusal);
        }
        match delta.get("tool_calls") {
            Some(Json::Array(pieces)) => {
                for piece in pieces.iter().filter(|piece| piece.is_object()) {
                    self.calls.take(piece, &self.answer, out);
                }
            }
            Some(piece @ Json::Object(_)) => self.calls.take(piece, &self.answer, out),
            Some(_) | None => {}
        }
        if let Some(piece @ Json::Object(_)) = delta.get("function_call") {
            self.calls
                .take(&json!({"index": 0, "function": piece}), &self.answer, out);
        }
    }

    /// Content is text, or a list of parts of which some are thinking.
    fn text(&mut self, content: &Json, out: &mut Vec<ModelEvent>) {
        match content {
            Json::String(text) if !text.is_empty() => {
                self.content.push_str(text);
                out.push(ModelEvent::Text(text.clone()));
            }
            Json::Array(parts) => {
                for part in parts {
                    if let Some(thinking) = part.get("thinking") {
                        let thinking = joined(thinking);
                        self.reasoning_content.push_str(&thinking);
                        emit_reasoning(thinking, out);
                    } else {
                        self.text(part.get("text").unwrap_or(part), out);
                    }
                }
            }
            _ => {}
        }
    }

    /// Thinking comes under two names and in structured details, often in several at once; it is told
    /// once.
    fn think(&mut self, delta: &Json, out: &mut Vec<ModelEvent>) {
        let field = |name: &str| delta.get(name).and_then(Json::as_str).unwrap_or("");
        let (content, plain) = (field("reasoning_content"), field("reasoning"));
        self.reasoning_content.push_str(content);
        self.reasoning.push_str(plain);
        let mut from_details = String::new();
        if let Some(Json::Array(details)) = delta.get("reasoning_details") {
            for detail in details.iter().filter_map(Json::as_object) {
                for key in ["text", "summary"] {
                    from_details.push_str(detail.get(key).and_then(Json::as_str).unwrap_or(""));
                }
                self.detail(detail);
            }
        }
        let told = [content, plain, &from_details]
            .into_iter()
            .find(|text| !text.is_empty())
            .unwrap_or("")
            .to_owned();
        emit_reasoning(told, out);
    }

    /// Adds a piece of a detail to the one it continues: same kind, same place.
    fn detail(&mut self, piece: &Map<String, Json>) {
        let continued = self
            .details
            .last_mut()
            .and_then(Json::as_object_mut)
            .filter(|last| {
                let mergeable = ["reasoning.text", "reasoning.summary"]
                    .contains(&piece.get("type").and_then(Json::as_str).unwrap_or(""));
                mergeable
                    && last.get("type") == piece.get("type")
                    && last.get("index") == piece.get("index")
            });
        let Some(last) = continued else {
            self.details.push(Json::Object(piece.clone()));
            return;
        };
        for (key, value) in piece {
            match (last.get_mut(key), value) {
                (Some(Json::String(text)), Json::String(more))
                    if key == "text" || key == "summary" =>
                {
                    text.push_str(more);
                }
                (Some(_), Json::Null) => {}
                (Some(_), Json::String(none)) if none.is_empty() => {}
                _ => {
                    last.insert(key.clone(), value.clone());
                }
            }
        }
    }

    fn has_begun(&self) -> bool {
        let texts = [
            &self.content,
            &self.refusal,
            &self.reasoning,
            &self.reasoning_content,
        ];
        !self.calls.is_empty()
            || !self.details.is_empty()
            || texts.iter().any(|text| !text.is_empty())
    }

    /// How an answer ended that only says that it is done: some servers leave the reason out. A call that is not
    /// whole, and thinking without an answer, broke off all the same.
    fn said_done(&self) -> Option<FinishReason> {
        let speaks = !(self.content.is_empty() && self.refusal.is_empty());
        let whole = match self.calls.is_empty() {
            true => speaks,
            false => self.calls.are_whole(),
        };
        (self.done && whole).then_some(FinishReason::Stop)
    }

    fn ending(&self) -> FinishReason {
        if !self.calls.is_empty() {
            FinishReason::ToolCalls
        } else if self.content.is_empty() && !self.refusal.is_empty() {
            FinishReason::Refused
        } else {
            FinishReason::Stop
        }
    }

    /// The message as it would have come without streaming.
    fn raw(&mut self) -> RawTurn {
        let mut body = Map::new();
        body.insert("role".to_owned(), "assistant".into());
        let content = if self.content.is_empty() {
            Json::Null
        } else {
            std::mem::take(&mut self.content).into()
        };
        body.insert("content".to_owned(), content);
        let texts = [
            ("refusal", &mut self.refusal),
            ("reasoning", &mut self.reasoning),
            ("reasoning_content", &mut self.reasoning_content),
        ];
        for (key, text) in texts {
            if !text.is_empty() {
                body.insert(key.to_owned(), std::mem::take(text).into());
            }
        }
        if !self.details.is_empty() {
            let details = std::mem::take(&mut self.details);
            body.insert("reasoning_details".to_owned(), details.into());
        }
        if !self.calls.is_empty() {
            body.insert("tool_calls".to_owned(), self.calls.raw());
        }
        RawTurn {
            protocol: WireProtocol::ChatCompletions,
            provider: self.provider.clone(),
            model: self.model.clone(),
            body: Json::Object(body),
        }
    }
}

fn finish_reason(word: &str) -> FinishReason {
    match word {
        "tool_calls" | "function_call" | "tool_use" => FinishReason::ToolCalls,
        "length" | "max_tokens" | "model_length" => FinishReason::Length,
        "content_filter" | "refusal" | "safety" | "sensitive" => FinishReason::Refused,
        _ => FinishReason::Stop,
    }
}

fn emit_reasoning(text: String, out: &mut Vec<ModelEvent>) {
    if !text.is_empty() {
        out.push(ModelEvent::Reasoning(text));
    }
}

/// The text of a string, of a part, or of a list of either.
fn joined(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        Json::Array(items) => items.iter().map(joined).collect(),
        Json::Object(part) => part.get("text").map(joined).unwrap_or_default(),
        Json::Null | Json::Bool(_) | Json::Number(_) => String::new(),
    }
}

/// Whether an `error` value is more than a server's habit of always having the field.
pub(crate) fn says_something(error: &Json) -> bool {
    match error {
        Json::Null | Json::Bool(false) => false,
        Json::String(text) => !text.is_empty(),
        Json::Object(fields) => !fields.is_empty(),
        Json::Bool(true) | Json::Number(_) | Json::Array(_) => true,
    }
}
