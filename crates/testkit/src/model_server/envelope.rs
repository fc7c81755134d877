//! What every protocol's writer needs: made-up ids and seals, and the parts of an answer in order.

use std::borrow::Cow;

use serde_json::Value;

use super::answer::{Answer, Part, ToolCall};
use super::request::ModelRequest;

const DEFAULT_CHUNK_CHARS: usize = 16;

/// Answers carry a fixed date so that recorded bytes compare equal.
pub(super) const CREATED: u64 = 1_700_000_000;

/// What an answer needs to know about its request.
pub(super) struct Envelope<'a> {
    pub(super) number: u64,
    pub(super) request: &'a ModelRequest,
    pub(super) chunk_chars: Option<usize>,
}

/// One part of an answer, with everything made up that the script left open.
pub(super) enum Piece<'a> {
    Reasoning {
        text: &'a str,
        /// `None` when the script wants it unsealed.
        signature: Option<String>,
    },
    Text(&'a str),
    Call {
        id: String,
        call: &'a ToolCall,
    },
}

impl Envelope<'_> {
    /// An id of this answer, such as `msg_3`.
    pub(super) fn id(&self, prefix: &str) -> String {
        format!("{prefix}{}", self.number)
    }

    /// An id of one part of this answer.
    pub(super) fn part_id(&self, prefix: &str, index: usize) -> String {
        format!("{prefix}{}_{index}", self.number)
    }

    /// The parts in the order they are sent.
    pub(super) fn pieces<'a>(&self, answer: &'a Answer) -> Vec<Piece<'a>> {
        let mut pieces = Vec::new();
        let mut calls = 0;
        let mut call_piece = |call: &'a ToolCall| {
            let made_up = || self.part_id("call_", calls);
            let id = call.id.clone().unwrap_or_else(made_up);
            calls += 1;
            Piece::Call { id, call }
        };
        if let Some(text) = &answer.reasoning {
            let signature = self.signature(answer.signature.as_deref(), 0);
            pieces.push(Piece::Reasoning { text, signature });
        }
        pieces.extend(answer.text.as_deref().map(Piece::Text));
        pieces.extend(answer.tool_calls.iter().map(&mut call_piece));
        for part in &answer.then {
            let piece = match part {
                Part::Text(text) => Piece::Text(text),
                Part::Reasoning(reasoning) => Piece::Reasoning {
                    text: &reasoning.text,
                    signature: self.signature(reasoning.signature.as_deref(), pieces.len()),
                },
                Part::ToolCall(call) => call_piece(call),
            };
            pieces.push(piece);
        }
        pieces
    }

    /// A seal: the given one, none for an empty one, and a made-up one when none is given. Vendors
    /// write seals in Base64, so the made-up one is valid Base64 too.
    pub(super) fn signature(&self, given: Option<&str>, index: usize) -> Option<String> {
        match given {
            Some("") => None,
            Some(given) => Some(given.to_owned()),
            None => Some(format!("c2VhbA{:06}{index:04}", self.number)),
        }
    }

    /// A text in the pieces it is streamed in.
    pub(super) fn chunks(&self, text: &str) -> Vec<String> {
        let size = self.chunk_chars.unwrap_or(DEFAULT_CHUNK_CHARS).max(1);
        let characters: Vec<char> = text.chars().collect();
        characters
            .chunks(size)
            .map(|chunk| chunk.iter().collect())
            .collect()
    }
}

impl ToolCall {
    /// The arguments as text, for protocols that send text.
    pub(super) fn argument_text(&self) -> String {
        match &self.arguments {
            Value::String(verbatim) => verbatim.clone(),
            arguments => arguments.to_string(),
        }
    }

    /// The arguments as a value, for protocols that send JSON; verbatim text is parsed if it can be.
    pub(super) fn argument_value(&self) -> Cow<'_, Value> {
        match &self.arguments {
            Value::String(verbatim) => match serde_json::from_str(verbatim) {
                Ok(value) => Cow::Owned(value),
                Err(_) => Cow::Borrowed(&self.arguments),
            },
            arguments => Cow::Borrowed(arguments),
        }
    }
}
