//! The conversation as messages of blocks.

use hermes_core::Media;
use serde_json::{Value as Json, json};

use super::media::{block, text};
use super::replay::Replay;
use crate::wire::Dialect;
use crate::wire::chat::media::{left_out, note};
use crate::wire::legal::{
    Answer, Assistant, CLOSING, OPENING, Piece, Turn, UserPart, ends_with_model,
};
use crate::wire::naming::wire_name;

/// Screenshots are large and soon outdated: when some are left out, this many of the latest stay.
const LATEST_SCREENSHOTS: usize = 3;
/// So many are left out at once. Each time the provider's cache is lost from the first of them on, so it happens
/// seldom; and with those that stay it is fewer than the 20 from which on pictures must be small.
const OUTDATED_AT_ONCE: usize = 16;

/// Stands where the provider wants text and there is none.
const NO_TEXT: &str = "(no text)";

/// The messages of a conversation, the first of which is the user's.
pub(super) fn write(turns: &[Turn<'_>], replay: &Replay<'_>, dialect: &Dialect<'_>) -> Vec<Json> {
    let mut writer = Writer {
        messages: Vec::new(),
        outdated: outdated(screenshots(turns)),
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
    // Newer models refuse to go on from words of their own.
    if ends_with_model(turns) {
        writer.push("user", vec![text(CLOSING)]);
    }
    writer.messages
}

/// How many of so many screenshots are left out.
fn outdated(screenshots: usize) -> usize {
    screenshots.saturating_sub(LATEST_SCREENSHOTS) / OUTDATED_AT_ONCE * OUTDATED_AT_ONCE
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

    fn assistant(&mut self, turn: &Assistant<'_>) {
        let blocks = self
            .replay
            .blocks(turn)
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
