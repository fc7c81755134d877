//! The conversation as messages of blocks.

use hermes_core::Media;
use serde_json::{Value as Json, json};

use super::media::{block, text};
use super::replay::{Place, Replay};
use crate::wire::Dialect;
use crate::wire::chat::media::{left_out, note};
use crate::wire::legal::{
    Answer, Assistant, CLOSING, OPENING, Piece, Turn, UserPart, ends_with_model,
};
use crate::wire::naming::wire_name;

/// Screenshots are large and soon outdated: only this many are sent.
const LATEST_SCREENSHOTS: usize = 3;

/// Stands where the provider wants text and there is none.
const NO_TEXT: &str = "(no text)";

/// The messages of a conversation, the first of which is the user's.
pub(super) fn write(turns: &[Turn<'_>], replay: &Replay<'_>, dialect: &Dialect<'_>) -> Vec<Json> {
    let mut writer = Writer {
        messages: Vec::new(),
        outdated: screenshots(turns).saturating_sub(LATEST_SCREENSHOTS),
        replay,
        dialect,
    };
    if !matches!(turns.first(), Some(Turn::User(_))) {
        writer.push("user", vec![text(OPENING)]);
    }
    let running = running_loop(turns);
    for (index, turn) in turns.iter().enumerate() {
        match turn {
            Turn::User(parts) => writer.user(parts),
            Turn::Assistant(assistant) if index >= running => {
                writer.assistant(assistant, Place::RunningLoop);
            }
            Turn::Assistant(assistant) => writer.assistant(assistant, Place::Earlier),
        }
    }
    // Newer models refuse to go on from words of their own.
    if ends_with_model(turns) {
        writer.push("user", vec![text(CLOSING)]);
    }
    writer.messages
}

/// Where the tool loop under way begins: at the last time the person spoke after the model was done.
/// Words said while tools run are part of the loop.
fn running_loop(turns: &[Turn<'_>]) -> usize {
    let within = |turn: &Turn<'_>| match turn {
        Turn::User(_) => false,
        Turn::Assistant(assistant) => !assistant.answers.is_empty(),
    };
    (0..turns.len())
        .rev()
        .find(|&index| {
            let before = index.checked_sub(1).and_then(|index| turns.get(index));
            matches!(turns.get(index), Some(Turn::User(_))) && !before.is_some_and(within)
        })
        .unwrap_or(0)
}

fn screenshots(turns: &[Turn<'_>]) -> usize {
    turns
        .iter()
        .map(|turn| match turn {
            Turn::User(_) => 0,
            Turn::Assistant(assistant) => assistant
                .answers
                .iter()
                .flat_map(|answer| &answer.media)
                .filter(|media| is_picture(media))
                .count(),
        })
        .sum()
}

fn is_picture(media: &Media) -> bool {
    media.mime.starts_with("image/")
}

struct Writer<'a> {
    messages: Vec<Json>,
    /// Screenshots still to be left out, oldest first.
    outdated: usize,
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
            .and_then(|message| message.get_mut("content")?.as_array_mut());
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

    fn assistant(&mut self, turn: &Assistant<'_>, place: Place) {
        let blocks = self
            .replay
            .blocks(turn, place)
            .unwrap_or_else(|| self.neutral(turn));
        self.push("assistant", blocks);
        if !turn.answers.is_empty() {
            let results = turn.answers.iter().map(|one| self.result(one)).collect();
            self.push("user", results);
        }
    }

    /// A turn of another issuer: thinking first, calls last.
    fn neutral(&self, turn: &Assistant<'_>) -> Vec<Json> {
        let mut thinking = Vec::new();
        let mut said = Vec::new();
        let mut calls = Vec::new();
        for piece in &turn.pieces {
            match piece {
                Piece::Text(words) => said.push(text(words)),
                Piece::Media(media) => said.push(text(&note(media, "was made here"))),
                Piece::Reasoning(thought) if self.replay.takes_foreign_thinking() => {
                    thinking.push(json!({ "type": "thinking", "thinking": thought }));
                }
                Piece::Reasoning(_) => {}
                Piece::Call(call) => calls.push(json!({
                    "type": "tool_use",
                    "id": wire_name(&call.id),
                    "name": call.name,
                    "input": call.arguments,
                })),
            }
        }
        if said.is_empty() && calls.is_empty() {
            said.push(text(NO_TEXT));
        }
        thinking.into_iter().chain(said).chain(calls).collect()
    }

    fn result(&mut self, answer: &Answer<'_>) -> Json {
        let mut content = Vec::new();
        if !answer.content.trim().is_empty() {
            content.push(text(&answer.content));
        }
        for media in &answer.media {
            content.push(self.result_media(media));
        }
        let mut result = json!({
            "type": "tool_result",
            "tool_use_id": wire_name(&answer.id),
            "content": match content.as_slice() {
                [] => json!(NO_TEXT),
                [only] if only["type"] == "text" => only["text"].clone(),
                _ => Json::Array(content),
            },
        });
        if answer.failed {
            result["is_error"] = json!(true);
        }
        result
    }

    fn result_media(&mut self, media: &Media) -> Json {
        if is_picture(media) && self.outdated > 0 {
            self.outdated -= 1;
            return text(&note(media, "is outdated and left out"));
        }
        let quirks = &self.dialect.quirks;
        if quirks.text_only_tool_results || quirks.no_tool_images {
            return text(&left_out(media));
        }
        block(media, self.dialect)
    }
}
