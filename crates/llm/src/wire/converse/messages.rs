//! The conversation as messages of blocks.

use hermes_core::Media;
use serde_json::{Value as Json, json};

use super::media::{block, note, text};
use super::replay::Replay;
use crate::wire::Dialect;
use crate::wire::legal::{
    Answer, Assistant, CLOSING, OPENING, Piece, Turn, UserPart, ends_with_model,
};
use crate::wire::naming::wire_name;

/// Stands where the service wants text and there is none.
const NO_TEXT: &str = "(no text)";
/// Makers whose models can be told that a tool failed; the others reject the field.
const KNOW_FAILURE: [&str; 2] = ["claude", "nova"];

/// The messages of a conversation; the first and the last are the user's.
pub(super) fn write(
    turns: &[Turn<'_>],
    replay: &Replay<'_>,
    dialect: &Dialect<'_>,
    model: &str,
) -> Vec<Json> {
    let mut writer = Writer {
        messages: Vec::new(),
        knows_failure: KNOW_FAILURE.iter().any(|maker| model.contains(maker)),
        replay,
        dialect,
    };
    if !matches!(turns.first(), Some(Turn::User(_))) {
        writer.push("user", vec![text(OPENING)]);
    }
    for turn in turns {
        match turn {
            Turn::User(parts) => writer.user(parts),
            Turn::Assistant(assistant) => writer.assistant(assistant),
        }
    }
    if ends_with_model(turns) {
        writer.push("user", vec![text(CLOSING)]);
    }
    writer.messages
}

struct Writer<'a> {
    messages: Vec<Json>,
    knows_failure: bool,
    replay: &'a Replay<'a>,
    dialect: &'a Dialect<'a>,
}

impl Writer<'_> {
    /// Adds blocks, to the last message when it has the same role.
    fn push(&mut self, role: &str, mut blocks: Vec<Json>) {
        let last = self
            .messages
            .last_mut()
            .filter(|message| message["role"] == role)
            .and_then(|message| message["content"].as_array_mut());
        match last {
            Some(content) => content.append(&mut blocks),
            None => self
                .messages
                .push(json!({ "role": role, "content": blocks })),
        }
    }

    fn user(&mut self, parts: &[UserPart<'_>]) {
        let blocks = parts
            .iter()
            .map(|part| match part {
                UserPart::Text(said) => text(said),
                UserPart::Media(media) => block(media, self.dialect),
            })
            .collect();
        self.push("user", blocks);
    }

    fn assistant(&mut self, turn: &Assistant<'_>) {
        let blocks = self.replay.blocks(turn).unwrap_or_else(|| neutral(turn));
        self.push("assistant", blocks);
        if !turn.answers.is_empty() {
            let results = turn.answers.iter().map(|one| self.result(one)).collect();
            self.push("user", results);
        }
    }

    fn result(&self, answer: &Answer<'_>) -> Json {
        let mut content = Vec::new();
        if !answer.content.trim().is_empty() {
            content.push(text(&answer.content));
        }
        content.extend(answer.media.iter().map(|media| self.result_media(media)));
        if content.is_empty() {
            content.push(text(NO_TEXT));
        }
        let mut result = json!({ "toolUseId": wire_name(&answer.id), "content": content });
        if answer.failed && self.knows_failure {
            result["status"] = json!("error");
        }
        json!({ "toolResult": result })
    }

    fn result_media(&self, media: &Media) -> Json {
        let quirks = &self.dialect.quirks;
        if quirks.text_only_tool_results || quirks.no_tool_images {
            note(media, "left out: this provider takes text from tools")
        } else {
            block(media, self.dialect)
        }
    }
}

/// A turn of another issuer: words first, calls last, no thinking, because nobody here signed it.
fn neutral(turn: &Assistant<'_>) -> Vec<Json> {
    let mut said = Vec::new();
    let mut calls = Vec::new();
    for piece in &turn.pieces {
        match piece {
            Piece::Text(words) => said.push(text(words)),
            Piece::Media(media) => said.push(note(media, "was made here")),
            Piece::Reasoning(_) => {}
            Piece::Call(call) => calls.push(json!({
                "toolUse": {
                    "toolUseId": wire_name(&call.id),
                    "name": call.name,
                    "input": call.arguments,
                },
            })),
        }
    }
    if said.is_empty() && calls.is_empty() {
        said.push(text(NO_TEXT));
    }
    said.append(&mut calls);
    said
}
