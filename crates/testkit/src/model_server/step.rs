//! One entry of a script: when it applies, what it says, and how slowly.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::answer::Answer;
use super::gate::Gate;
use super::record::RecordedRequest;
use super::reply::{Failure, RawReply, Reply};
use super::request::ModelRequest;

/// A scripted answer with its conditions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Requests this step is for; an empty matcher takes any.
    #[serde(default)]
    pub when: Matcher,
    /// What is sent.
    pub reply: Reply,
    /// Extra response headers.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// Pace and end of the answer.
    #[serde(default)]
    pub timing: Timing,
    /// Stays available after use. Put such a step last: it hides what follows it.
    #[serde(default)]
    pub repeat: bool,
    /// What the answer waits for, before its status line and before any pause. Only in code.
    #[serde(skip)]
    pub held: Option<Gate>,
}

/// Conditions on a request; all that are set must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Matcher {
    /// Text inside the last user message.
    pub last_user_contains: Option<String>,
    /// Exact model name.
    pub model: Option<String>,
    /// Number among the model requests, or among those of the route, counted from 1.
    pub nth_call: Option<u64>,
    /// Headers with their exact values.
    pub headers: BTreeMap<String, String>,
    /// Whether the request offers tools.
    pub offers_tools: Option<bool>,
    /// Text anywhere in the body.
    pub body_contains: Option<String>,
    /// Texts that all stand in the system prompt of chat completions.
    pub system_contains: Vec<String>,
    /// Texts none of which stands there.
    pub system_lacks: Vec<String>,
    /// Text inside the last message of chat completions, whoever it is from.
    pub last_contains: Option<String>,
}

/// How fast an answer comes and how it ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Timing {
    /// Pause before the status line.
    #[serde(rename = "before_headers_ms", with = "milliseconds")]
    pub before_headers: Duration,
    /// Pause between pieces of the body.
    #[serde(rename = "between_chunks_ms", with = "milliseconds")]
    pub between_chunks: Duration,
    /// Characters of text, reasoning or arguments per streamed delta; 16 when absent.
    pub chunk_chars: Option<usize>,
    /// Cuts the body into writes of this many bytes, across frame and character boundaries.
    pub write_bytes: Option<usize>,
    /// How the body ends.
    pub end: End,
}

/// How the body of an answer ends. A body that is not a stream counts as one frame.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// Properly.
    #[default]
    Complete,
    /// The connection is cut after this many frames.
    CloseAfter(usize),
    /// Nothing more comes after this many frames, and the connection stays open.
    HangAfter(usize),
}

impl Step {
    /// Wraps a reply that any request may take, once, at full speed.
    pub fn new(reply: impl Into<Reply>) -> Self {
        Self {
            when: Matcher::default(),
            reply: reply.into(),
            headers: BTreeMap::new(),
            timing: Timing::default(),
            repeat: false,
            held: None,
        }
    }

    /// Requires `fragment` in the last user message.
    pub fn when_user(mut self, fragment: impl Into<String>) -> Self {
        self.when.last_user_contains = Some(fragment.into());
        self
    }

    /// Requires this model name.
    pub fn when_model(mut self, model: impl Into<String>) -> Self {
        self.when.model = Some(model.into());
        self
    }

    /// Requires this to be the `nth` completion request, counted from 1.
    pub fn when_call(mut self, nth: u64) -> Self {
        self.when.nth_call = Some(nth);
        self
    }

    /// Requires a request header.
    pub fn when_header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.when.headers.insert(name.into(), value.into());
        self
    }

    /// Requires that tools are on offer.
    pub fn when_tools_offered(mut self) -> Self {
        self.when.offers_tools = Some(true);
        self
    }

    /// Requires that no tools are on offer.
    pub fn when_no_tools(mut self) -> Self {
        self.when.offers_tools = Some(false);
        self
    }

    /// Requires `fragment` anywhere in the body.
    pub fn when_body(mut self, fragment: impl Into<String>) -> Self {
        self.when.body_contains = Some(fragment.into());
        self
    }

    /// Requires `fragment` in the system prompt.
    pub fn when_system(mut self, fragment: impl Into<String>) -> Self {
        self.when.system_contains.push(fragment.into());
        self
    }

    /// Requires that `fragment` is not in the system prompt.
    pub fn when_system_lacks(mut self, fragment: impl Into<String>) -> Self {
        self.when.system_lacks.push(fragment.into());
        self
    }

    /// Requires `fragment` in the last message, such as the result of a tool.
    pub fn when_last(mut self, fragment: impl Into<String>) -> Self {
        self.when.last_contains = Some(fragment.into());
        self
    }

    /// Adds a response header.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.insert(name.into(), value.into());
        self
    }

    /// Pauses before the status line.
    pub fn delay(mut self, pause: Duration) -> Self {
        self.timing.before_headers = pause;
        self
    }

    /// Holds the answer back until `gate` is opened; the request is on record before.
    pub fn held(mut self, gate: &Gate) -> Self {
        self.held = Some(gate.clone());
        self
    }

    /// Pauses between pieces of the body.
    pub fn pace(mut self, pause: Duration) -> Self {
        self.timing.between_chunks = pause;
        self
    }

    /// Sets the characters per streamed delta.
    pub fn chunk_chars(mut self, characters: usize) -> Self {
        self.timing.chunk_chars = Some(characters);
        self
    }

    /// Cuts the body into writes of this many bytes, wherever that falls.
    pub fn write_bytes(mut self, bytes: usize) -> Self {
        self.timing.write_bytes = Some(bytes);
        self
    }

    /// Cuts the connection after this many frames.
    pub fn close_after(mut self, frames: usize) -> Self {
        self.timing.end = End::CloseAfter(frames);
        self
    }

    /// Goes silent after this many frames.
    pub fn hang_after(mut self, frames: usize) -> Self {
        self.timing.end = End::HangAfter(frames);
        self
    }

    /// Keeps the step after use.
    pub fn repeat(mut self) -> Self {
        self.repeat = true;
        self
    }
}

impl Matcher {
    pub(super) fn accepts(&self, http: &RecordedRequest, asked: &ModelRequest, call: u64) -> bool {
        let said = asked.last_user.as_deref();
        let user_fits = contains(said, self.last_user_contains.as_deref());
        let body = String::from_utf8_lossy(&http.body);
        user_fits
            && contains(Some(&body), self.body_contains.as_deref())
            && contains(asked.last_message.as_deref(), self.last_contains.as_deref())
            && self.fits_system(asked.system.as_deref().unwrap_or_default())
            && self
                .model
                .as_ref()
                .is_none_or(|model| *model == asked.model)
            && self.nth_call.is_none_or(|nth| nth == call)
            && self
                .offers_tools
                .is_none_or(|offers| offers == asked.offers_tools)
            && self
                .headers
                .iter()
                .all(|(name, value)| http.header(name) == Some(value))
    }
}

impl Matcher {
    fn fits_system(&self, system: &str) -> bool {
        let has = |fragment: &String| system.contains(fragment.as_str());
        self.system_contains.iter().all(has) && !self.system_lacks.iter().any(has)
    }
}

/// Whether `text` has the wanted fragment; nothing wanted is always there.
fn contains(text: Option<&str>, wanted: Option<&str>) -> bool {
    wanted.is_none_or(|fragment| text.is_some_and(|text| text.contains(fragment)))
}

impl<R: Into<Reply>> From<R> for Step {
    fn from(reply: R) -> Self {
        Self::new(reply)
    }
}

impl From<Answer> for Reply {
    fn from(answer: Answer) -> Self {
        Self::Answer(answer)
    }
}

impl From<Failure> for Reply {
    fn from(failure: Failure) -> Self {
        Self::Error(failure)
    }
}

impl From<RawReply> for Reply {
    fn from(raw: RawReply) -> Self {
        Self::Bytes(raw)
    }
}

/// Durations as whole milliseconds in scenario files.
mod milliseconds {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(value: &Duration, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u64(u64::try_from(value.as_millis()).unwrap_or(u64::MAX))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        u64::deserialize(from).map(Duration::from_millis)
    }
}
