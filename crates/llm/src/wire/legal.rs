//! The conversation in an order every protocol accepts, whatever history came in.
//!
//! Histories are cut by crashes, joined by compaction and carried from one protocol to another. What
//! comes out of [`legal`] holds: users and assistants alternate on the wire, every call has a name, an
//! object of arguments and an id nobody else uses, and exactly one answer right behind it, in the order
//! of the calls. It depends only on earlier messages, so that a growing history keeps its first turns.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use hermes_core::{Media, Message, Part, RawTurn, Role, ToolCall, WireProtocol, without_halves};
use serde_json::{Map, Value as Json};

use super::naming::tool_name;

/// Stands for a tool whose name was lost.
pub const UNNAMED_TOOL: &str = "unnamed_tool";

/// Opens a conversation that does not begin with the person.
pub(crate) const OPENING: &str = "(the conversation goes on)";

/// Closes a conversation that ends with words of the model.
pub(crate) const CLOSING: &str = "(go on)";

/// What the model is told about a call whose result was lost.
pub const LOST_RESULT: &str =
    "The result of this call was lost; it is not known whether the call took effect.";

/// One turn of a legal conversation.
#[derive(Debug, Clone, PartialEq)]
pub enum Turn<'a> {
    /// What the person says. Never empty.
    User(Vec<UserPart<'a>>),
    /// What the model said, and what its tools answered.
    Assistant(Assistant<'a>),
}

/// A piece of what the person says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum UserPart<'a> {
    /// Text, not blank.
    Text(&'a str),
    /// A picture, sound or file.
    Media(&'a Media),
}

/// What the model said. Holds text, media or calls, unless it is kept for its raw turn alone.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Assistant<'a> {
    /// The pieces, in order.
    pub pieces: Vec<Piece<'a>>,
    /// One answer for each call among the pieces, in the same order.
    pub answers: Vec<Answer<'a>>,
    /// The turn in its issuer's form. Its calls may carry other ids than the pieces; the pieces count.
    pub raw: Option<Cow<'a, RawTurn>>,
}

/// A piece of what the model said.
#[derive(Debug, Clone, PartialEq)]
pub enum Piece<'a> {
    /// Text, not blank.
    Text(&'a str),
    /// Readable thinking, not blank.
    Reasoning(&'a str),
    /// A picture, sound or file.
    Media(&'a Media),
    /// A call.
    Call(Call<'a>),
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct Call<'a> {
    /// Unique in the conversation.
    pub id: Cow<'a, str>,
    /// The id in the history, which raw turns know the call by.
    pub original: &'a str,
    /// The tool, in characters that every provider allows; never empty.
    pub name: Cow<'a, str>,
    /// Always an object.
    pub arguments: Cow<'a, Json>,
}

/// What a tool answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer<'a> {
    /// The id of the call.
    pub id: Cow<'a, str>,
    /// The tool, named as in its call.
    pub name: Cow<'a, str>,
    /// What the model sees; may be empty.
    pub content: Cow<'a, str>,
    /// Whether the call failed.
    pub failed: bool,
    /// Pictures and files of the result.
    pub media: Vec<&'a Media>,
}

impl<'a> Assistant<'a> {
    /// The text, pieces joined by newlines.
    pub fn text(&self) -> String {
        let texts: Vec<&str> = self
            .pieces
            .iter()
            .filter_map(|piece| match piece {
                Piece::Text(text) => Some(*text),
                Piece::Reasoning(_) | Piece::Media(_) | Piece::Call(_) => None,
            })
            .collect();
        texts.join("\n")
    }

    /// The calls, in order.
    pub fn calls(&self) -> impl Iterator<Item = &Call<'a>> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Call(call) => Some(call),
            Piece::Text(_) | Piece::Reasoning(_) | Piece::Media(_) => None,
        })
    }

    /// The calls a raw turn has yet to come to.
    pub(super) fn expected(&self) -> Expected<'_> {
        Expected(self.calls().collect())
    }

    /// The raw turn, when this provider issued it by this protocol.
    pub fn issued_by(&self, protocol: WireProtocol, provider: &str) -> Option<&RawTurn> {
        self.raw
            .as_deref()
            .filter(|raw| raw.protocol == protocol && raw.provider == provider)
    }

    fn takes_more(&self) -> bool {
        self.answers.is_empty()
    }
}

/// The calls a raw turn has yet to come to, in the order of their answers.
pub(super) struct Expected<'a>(VecDeque<&'a Call<'a>>);

/// What a call of a raw turn is to the history.
pub(super) enum Met<'a> {
    /// The next one.
    Next(&'a Call<'a>),
    /// One that it no longer has: it would never get an answer.
    Gone,
    /// One that is answered later: the raw turn is in another order than the answers.
    Early,
}

impl<'a> Expected<'a> {
    pub(super) fn meet(&mut self, id: &Json) -> Met<'a> {
        match self.0.iter().position(|call| *id == *call.original) {
            Some(0) => self.0.pop_front().map_or(Met::Gone, Met::Next),
            Some(_) => Met::Early,
            None => Met::Gone,
        }
    }

    /// Whether all of them were met.
    pub(super) fn is_met(&self) -> bool {
        self.0.is_empty()
    }
}

/// Whether the model has the last word, which few providers take.
pub(crate) fn ends_with_model(turns: &[Turn<'_>]) -> bool {
    matches!(turns.last(), Some(Turn::Assistant(last)) if last.answers.is_empty())
}

/// The conversation as legal turns. Assistant rows without text, media and calls are dropped.
pub fn legal(messages: &[Arc<Message>]) -> Vec<Turn<'_>> {
    legal_keeping(messages, |_| false)
}

/// As [`legal`], but a row that only thinks is kept when `replayable` says that its raw turn can be
/// sent as it is.
pub fn legal_keeping(
    messages: &[Arc<Message>],
    replayable: impl Fn(&RawTurn) -> bool,
) -> Vec<Turn<'_>> {
    let mut repair = Repair::default();
    for message in messages {
        match message.role {
            Role::Assistant => repair.assistant(message, &replayable),
            // A system row in the middle of a history is legal nowhere but in a user's place.
            Role::System | Role::User | Role::Tool => repair.said(message),
        }
    }
    repair.turns
}

#[derive(Default)]
struct Repair<'a> {
    turns: Vec<Turn<'a>>,
    /// Calls without an answer, by the id of the history. Ids may come again in a later turn; a result
    /// belongs to the latest turn that used its id.
    open: HashMap<&'a str, VecDeque<Slot>>,
    used: HashSet<String>,
    /// Where to go on looking for a free number behind an id.
    numbers: HashMap<&'a str, u32>,
}

#[derive(Clone, Copy)]
struct Slot {
    turn: usize,
    answer: usize,
}

impl<'a> Repair<'a> {
    fn said(&mut self, message: &'a Message) {
        let tool = message.role == Role::Tool;
        // What follows a result in its message belongs to it, also when the result is dropped.
        let mut target = if tool { Target::Nowhere } else { Target::User };
        for part in &message.parts {
            match (part, target) {
                (Part::ToolResult { call, .. }, _) => {
                    target = match self.close(call.0.as_str(), part) {
                        Some(slot) => Target::Answer(slot),
                        None => Target::Nowhere,
                    };
                }
                (Part::Text { text }, _) if text.trim().is_empty() => {}
                (Part::Text { text }, Target::User) => self.user(UserPart::Text(text)),
                (Part::Media(media), Target::User) => self.user(UserPart::Media(media)),
                (Part::Text { text }, Target::Answer(slot)) => {
                    if let Some(answer) = self.answer(slot) {
                        let content = answer.content.to_mut();
                        if !content.is_empty() {
                            content.push_str("\n\n");
                        }
                        content.push_str(text);
                    }
                }
                (Part::Media(media), Target::Answer(slot)) => {
                    if let Some(answer) = self.answer(slot) {
                        answer.media.push(media);
                    }
                }
                (Part::Text { .. } | Part::Media(_), Target::Nowhere)
                | (Part::Reasoning { .. } | Part::ToolCall(_), _) => {}
            }
        }
    }

    fn user(&mut self, part: UserPart<'a>) {
        if let Some(Turn::User(parts)) = self.turns.last_mut() {
            parts.push(part);
        } else {
            self.turns.push(Turn::User(vec![part]));
        }
    }

    fn answer(&mut self, slot: Slot) -> Option<&mut Answer<'a>> {
        match self.turns.get_mut(slot.turn) {
            Some(Turn::Assistant(assistant)) => assistant.answers.get_mut(slot.answer),
            Some(Turn::User(_)) | None => None,
        }
    }

    /// Gives a result to its call; `None` when no call waits for it.
    fn close(&mut self, id: &'a str, part: &'a Part) -> Option<Slot> {
        let Part::ToolResult {
            content, failed, ..
        } = part
        else {
            return None;
        };
        let slot = self.open.get_mut(id)?.pop_front()?;
        let answer = self.answer(slot)?;
        answer.content = Cow::Borrowed(content);
        answer.failed = *failed;
        Some(slot)
    }

    fn assistant(&mut self, message: &'a Message, replayable: &impl Fn(&RawTurn) -> bool) {
        let speaks = message.parts.iter().any(|part| match part {
            Part::Text { text } => !text.trim().is_empty(),
            Part::Media(_) | Part::ToolCall(_) => true,
            Part::Reasoning { .. } | Part::ToolResult { .. } => false,
        });
        if !speaks && !message.raw.as_ref().is_some_and(replayable) {
            return;
        }
        let mut fresh: HashMap<&'a str, VecDeque<Slot>> = HashMap::new();
        let (turn, mut assistant) = self.begin(message);
        for part in &message.parts {
            let piece = match part {
                Part::Text { text } if !text.trim().is_empty() => Piece::Text(text),
                Part::Reasoning { text } if !text.trim().is_empty() => Piece::Reasoning(text),
                Part::Media(media) => Piece::Media(media),
                Part::ToolCall(call) => {
                    let call = self.call(call);
                    let answer = assistant.answers.len();
                    fresh
                        .entry(call.original)
                        .or_default()
                        .push_back(Slot { turn, answer });
                    assistant.answers.push(Answer {
                        id: call.id.clone(),
                        name: call.name.clone(),
                        content: Cow::Borrowed(LOST_RESULT),
                        failed: true,
                        media: Vec::new(),
                    });
                    Piece::Call(call)
                }
                Part::Text { .. } | Part::Reasoning { .. } | Part::ToolResult { .. } => continue,
            };
            assistant.pieces.push(piece);
        }
        self.open.extend(fresh);
        self.turns.push(Turn::Assistant(assistant));
    }

    /// The turn a row adds to: its own, or the one before it when that is an assistant's without calls.
    fn begin(&mut self, message: &'a Message) -> (usize, Assistant<'a>) {
        let raw = message.raw.as_ref();
        let previous = self
            .turns
            .pop_if(|turn| matches!(turn, Turn::Assistant(before) if before.takes_more()));
        let assistant = match previous {
            Some(Turn::Assistant(before)) => Assistant {
                raw: joined(before.raw.as_deref(), raw),
                ..before
            },
            Some(Turn::User(_)) | None => Assistant {
                raw: raw.map(Cow::Borrowed),
                ..Assistant::default()
            },
        };
        (self.turns.len(), assistant)
    }

    fn call(&mut self, call: &'a ToolCall) -> Call<'a> {
        let original = call.id.0.as_str();
        let name = match call.name.trim() {
            "" => Cow::Borrowed(UNNAMED_TOOL),
            name => tool_name(name),
        };
        Call {
            id: self.unique(original),
            original,
            name,
            arguments: object(&call.arguments),
        }
    }

    fn unique(&mut self, original: &'a str) -> Cow<'a, str> {
        let wanted = original.trim();
        if !wanted.is_empty() && self.used.insert(wanted.to_owned()) {
            return Cow::Borrowed(wanted);
        }
        let stem = if wanted.is_empty() { "call" } else { wanted };
        loop {
            let number = self.numbers.entry(stem).or_insert(1);
            *number += 1;
            let candidate = format!("{stem}_{number}");
            if self.used.insert(candidate.clone()) {
                return Cow::Owned(candidate);
            }
        }
    }
}

#[derive(Clone, Copy)]
enum Target {
    User,
    Answer(Slot),
    Nowhere,
}

/// Arguments as an object; some models send an object as text, and text that is none says nothing.
fn object(arguments: &Json) -> Cow<'_, Json> {
    match arguments {
        Json::Object(_) => Cow::Borrowed(arguments),
        Json::String(text) => match serde_json::from_str(&without_halves(text)) {
            Ok(Json::Object(object)) => Cow::Owned(Json::Object(object)),
            Ok(_) | Err(_) => Cow::Owned(Json::Object(Map::new())),
        },
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::Array(_) => {
            Cow::Owned(Json::Object(Map::new()))
        }
    }
}

/// The raw form of two rows that became one turn: lists of items of one issuer can be joined, anything
/// else has no raw form any more.
fn joined<'a>(before: Option<&RawTurn>, after: Option<&'a RawTurn>) -> Option<Cow<'a, RawTurn>> {
    let (before, after) = (before?, after?);
    let same = before.protocol == after.protocol
        && before.provider == after.provider
        && before.model == after.model;
    let (Json::Array(first), Json::Array(second)) = (&before.body, &after.body) else {
        return None;
    };
    same.then(|| {
        let items = first.iter().chain(second).cloned().collect();
        Cow::Owned(RawTurn {
            body: Json::Array(items),
            ..after.clone()
        })
    })
}
