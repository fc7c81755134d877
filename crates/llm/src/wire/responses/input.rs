//! A legal conversation as input items.

use std::collections::HashSet;

use hermes_core::{ModelRequest, RawTurn, WireProtocol};
use serde_json::{Map, Value as Json, json};

use crate::quirks::ReasoningReplay;
use crate::wire::Dialect;
use crate::wire::chat::arguments::{canonical, fitting};
use crate::wire::chat::media::{Shown, note, plain, show_answer, show_behind, show_user};
use crate::wire::legal::{Answer, Assistant, Call, OPENING, Piece, Turn, UserPart, legal_keeping};

/// Longest id of an item or a call.
const MOST_ID_BYTES: usize = 64;

/// All items of a request.
pub(super) fn items(request: &ModelRequest, dialect: &Dialect<'_>) -> Json {
    let mut input = Input {
        dialect,
        seen: HashSet::new(),
        items: Vec::new(),
    };
    // Encrypted items can be read only by the model that made them.
    let own = |raw: &RawTurn| {
        raw.protocol == WireProtocol::Responses
            && raw.provider == dialect.provider
            && raw.model == request.model
    };
    let thoughts = dialect.quirks.replay != ReasoningReplay::Never;
    for turn in legal_keeping(&request.messages, |raw| {
        thoughts && own(raw) && says_something(raw)
    }) {
        match turn {
            Turn::User(parts) => input.user(&parts),
            Turn::Assistant(assistant) => {
                match assistant.raw.as_deref().filter(|raw| own(raw)) {
                    Some(raw) => input.replay(&assistant, raw, thoughts),
                    None => input.neutral(&assistant),
                }
                for answer in &assistant.answers {
                    input.answer(answer);
                }
                let behind = show_behind(&assistant.answers, dialect);
                if !behind.is_empty() {
                    let behind = content(&behind);
                    input.items.push(json!({"role": "user", "content": behind}));
                }
            }
        }
    }
    if input.items.is_empty() {
        input
            .items
            .push(json!({"role": "user", "content": OPENING}));
    }
    Json::Array(input.items)
}

/// Whether a turn without neutral text would still send something.
fn says_something(raw: &RawTurn) -> bool {
    let items = raw.body.as_array();
    items.is_some_and(|items| {
        items
            .iter()
            .any(|item| reasoning(item).is_some() || spoken(item).is_some())
    })
}

struct Input<'a> {
    dialect: &'a Dialect<'a>,
    /// Ids of items already sent: a repeated one is rejected.
    seen: HashSet<String>,
    items: Vec<Json>,
}

impl Input<'_> {
    fn user(&mut self, parts: &[UserPart<'_>]) {
        let shown = show_user(parts, self.dialect);
        self.items
            .push(json!({"role": "user", "content": content(&shown)}));
    }

    fn answer(&mut self, answer: &Answer<'_>) {
        let shown = show_answer(answer, self.dialect);
        self.items.push(json!({
            "type": "function_call_output",
            "call_id": fitting(&answer.id, MOST_ID_BYTES),
            "output": content(&shown),
        }));
    }

    /// A turn another issuer made, or one without a raw form.
    fn neutral(&mut self, assistant: &Assistant<'_>) {
        for piece in &assistant.pieces {
            match piece {
                Piece::Text(text) => self.said(text),
                Piece::Media(media) => self.said(&note(media, "was made here")),
                Piece::Call(call) => self.call(call, None),
                Piece::Reasoning(_) => {}
            }
        }
    }

    fn said(&mut self, text: &str) {
        self.items
            .push(json!({"role": "assistant", "content": text}));
    }

    /// The items as they came. Which calls there are is decided by the neutral form: each has an answer.
    fn replay(&mut self, assistant: &Assistant<'_>, raw: &RawTurn, thoughts: bool) {
        let mut calls: Vec<&Call<'_>> = assistant.calls().collect();
        let mut has_spoken = false;
        for item in raw.body.as_array().into_iter().flatten() {
            if thoughts && let Some(reasoning) = reasoning(item) {
                self.items.push(reasoning);
            } else if let Some(message) = self.message(item) {
                has_spoken = true;
                self.items.push(message);
            } else if let Some(id) = item.get("call_id").and_then(Json::as_str)
                && let Some(place) = calls.iter().position(|call| call.original == id)
            {
                let call = calls.remove(place);
                self.call(call, item.get("arguments").and_then(Json::as_str));
            }
        }
        let text = assistant.text();
        if !has_spoken && !text.is_empty() {
            self.said(&text);
        }
        for call in calls {
            self.call(call, None);
        }
        // Thinking that led to nothing is refused.
        while self
            .items
            .last()
            .is_some_and(|item| item["type"] == "reasoning")
        {
            self.items.pop();
        }
    }

    fn message(&mut self, item: &Json) -> Option<Json> {
        let text = spoken(item)?;
        let mut message = Map::new();
        message.insert("type".to_owned(), "message".into());
        message.insert("role".to_owned(), "assistant".into());
        let id = item
            .get("id")
            .and_then(Json::as_str)
            .filter(|id| id.len() <= MOST_ID_BYTES && self.seen.insert((*id).to_owned()));
        if let Some(id) = id {
            message.insert("id".to_owned(), id.into());
        }
        let status = item.get("status").and_then(Json::as_str);
        message.insert("status".to_owned(), status.unwrap_or("completed").into());
        if let Some(phase) = item.get("phase").filter(|phase| phase.is_string()) {
            message.insert("phase".to_owned(), phase.clone());
        }
        message.insert(
            "content".to_owned(),
            json!([{"type": "output_text", "text": text}]),
        );
        Some(Json::Object(message))
    }

    /// A call; its issuer's text of the arguments is kept while it says the same.
    fn call(&mut self, call: &Call<'_>, issued: Option<&str>) {
        let arguments = issued
            .filter(|text| {
                serde_json::from_str(text).is_ok_and(|value: Json| value == *call.arguments)
            })
            .map_or_else(|| canonical(&call.arguments), str::to_owned);
        self.items.push(json!({
            "type": "function_call",
            "call_id": fitting(&call.id, MOST_ID_BYTES),
            "name": call.name,
            "arguments": arguments,
        }));
    }
}

/// A reasoning item as it can be sent back: without its id, which names something that was not stored.
fn reasoning(item: &Json) -> Option<Json> {
    if item.get("type").and_then(Json::as_str) != Some("reasoning") {
        return None;
    }
    let encrypted = item
        .get("encrypted_content")
        .and_then(Json::as_str)
        .filter(|text| !text.is_empty())?;
    let summary = item.get("summary").filter(|summary| summary.is_array());
    Some(json!({
        "type": "reasoning",
        "encrypted_content": encrypted,
        "summary": summary.cloned().unwrap_or_else(|| json!([])),
    }))
}

/// The text of a message item; `None` for other items and for messages without any.
fn spoken(item: &Json) -> Option<String> {
    if item.get("type").and_then(Json::as_str) != Some("message") {
        return None;
    }
    let text: String = item
        .get("content")
        .and_then(Json::as_array)?
        .iter()
        .filter(|part| part.get("type").and_then(Json::as_str) != Some("refusal"))
        .filter_map(|part| part.get("text").and_then(Json::as_str))
        .collect();
    (!text.trim().is_empty()).then_some(text)
}

fn content(shown: &[Shown]) -> Json {
    match plain(shown) {
        Some(text) => text.into(),
        None => shown
            .iter()
            .map(|piece| match piece {
                Shown::Text(text) => json!({"type": "input_text", "text": text}),
                Shown::Picture(url) => {
                    json!({"type": "input_image", "image_url": url, "detail": "auto"})
                }
            })
            .collect(),
    }
}
