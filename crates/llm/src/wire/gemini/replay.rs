//! Sending a turn back the way it came, with its signatures.

use hermes_core::WireProtocol;
use serde_json::Value as Json;

use super::family::wire_model;
use crate::quirks::ReasoningReplay;
use crate::wire::Dialect;
use crate::wire::legal::{Assistant, Call};

/// The parts of a turn, and for each of its calls the provider's own id, if it has one.
pub(super) struct Replayed {
    pub(super) parts: Vec<Json>,
    pub(super) call_ids: Vec<Option<String>>,
}

/// The parts as they came; `None` when they cannot be sent to this provider and model.
pub(super) fn replay(turn: &Assistant<'_>, model: &str, dialect: &Dialect<'_>) -> Option<Replayed> {
    let raw = turn
        .issued_by(WireProtocol::Gemini, dialect.provider)
        .filter(|raw| wire_model(&raw.model) == wire_model(model))?;
    let keeps = Keeps::of(dialect.quirks.replay)?;
    let mut calls = Calls::of(turn);
    let mut parts = Vec::new();
    for part in raw.body.as_array()? {
        if part["functionCall"].is_object() {
            // A call that the history no longer has would never get an answer.
            parts.extend(calls.take(part));
        } else if keeps.part(part) {
            parts.push(part.clone());
        }
    }
    let call_ids = calls.ids()?;
    (!parts.is_empty()).then_some(Replayed { parts, call_ids })
}

/// Which parts without a call go back.
#[derive(Clone, Copy)]
enum Keeps {
    Signed,
    All,
}

impl Keeps {
    /// `None` when nothing the provider issued is sent back.
    fn of(rule: ReasoningReplay) -> Option<Self> {
        match rule {
            ReasoningReplay::Never => None,
            ReasoningReplay::All => Some(Self::All),
            // The other rules are those of other protocols.
            ReasoningReplay::Native
            | ReasoningReplay::Content
            | ReasoningReplay::Details
            | ReasoningReplay::Unsigned => Some(Self::Signed),
        }
    }

    fn part(self, part: &Json) -> bool {
        let signed = part["thoughtSignature"].is_string();
        let thought = part["thought"] == true;
        let blank = part["text"]
            .as_str()
            .is_some_and(|text| text.trim().is_empty());
        match self {
            Self::All => signed || !blank,
            Self::Signed => signed || !(blank || thought),
        }
    }
}

/// The calls of a turn that wait for their raw part.
struct Calls<'a> {
    waiting: Vec<(&'a Call<'a>, Match)>,
}

#[derive(Clone, PartialEq, Eq)]
enum Match {
    Waiting,
    Found(Option<String>),
}

impl<'a> Calls<'a> {
    fn of(turn: &'a Assistant<'a>) -> Self {
        Self {
            waiting: turn.calls().map(|call| (call, Match::Waiting)).collect(),
        }
    }

    /// The part of a call the history still has, found by the provider's id, else by name and
    /// arguments, else by name, because arguments may have been repaired. A repaired name counts: the
    /// answer goes by it.
    fn take(&mut self, part: &Json) -> Option<Json> {
        let function = &part["functionCall"];
        let id = function["id"].as_str();
        let same_name = |call: &Call<'_>| function["name"] == *call.name;
        let index = self
            .position(|call| id == Some(call.original))
            .or_else(|| {
                self.position(|call| same_name(call) && function["args"] == *call.arguments)
            })
            .or_else(|| self.position(same_name))?;
        let (call, state) = self.waiting.get_mut(index)?;
        *state = Match::Found(id.map(str::to_owned));
        let mut part = part.clone();
        if part["functionCall"]["name"] != *call.name {
            part["functionCall"]["name"] = Json::String(call.name.clone().into_owned());
        }
        if !part["functionCall"]["args"].is_object() {
            part["functionCall"]["args"] = call.arguments.clone().into_owned();
        }
        Some(part)
    }

    fn position(&self, fits: impl Fn(&Call<'_>) -> bool) -> Option<usize> {
        self.waiting
            .iter()
            .position(|(call, state)| *state == Match::Waiting && fits(call))
    }

    /// The provider's ids in the order of the calls; `None` when a call has no raw part.
    fn ids(self) -> Option<Vec<Option<String>>> {
        self.waiting
            .into_iter()
            .map(|(_, state)| match state {
                Match::Waiting => None,
                Match::Found(id) => Some(id),
            })
            .collect()
    }
}
