//! What the server says: answers, errors, raw frames and broken bytes.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::answer::Answer;

/// One scripted answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// A well-formed completion in the protocol of the request, streamed when that asks for a stream.
    Answer(Answer),
    /// An HTTP error in the shape of the protocol.
    Error(Failure),
    /// Stream frames passed through as they are. A server-sent event gets its blank line. In Bedrock
    /// Converse a frame is the event's name, a space and the payload, and is put into a binary frame; a
    /// name that ends in `Exception` makes it an exception.
    Frames(Vec<String>),
    /// A body passed through as it is.
    Bytes(RawReply),
    /// A JSON document with status 200, for routes of a vendor beside its model.
    Json(Value),
    /// A completion that repeats the last user message.
    Echo,
}

/// An HTTP error answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failure {
    /// HTTP status.
    pub status: u16,
    /// Whole JSON body; the vendor's error object when absent.
    #[serde(default)]
    pub body: Option<Value>,
    /// Words inside the vendor's error object.
    #[serde(default)]
    pub message: Option<String>,
    /// The vendor's name for the error (`type`, `status` or exception); follows from the HTTP status
    /// when absent.
    #[serde(default)]
    pub kind: Option<String>,
    /// Whole seconds, sent as the `retry-after` header, and inside the body where the vendor does so.
    #[serde(default)]
    pub retry_after_seconds: Option<u64>,
}

/// A body that need not be valid in any way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawReply {
    /// HTTP status.
    #[serde(default = "ok_status")]
    pub status: u16,
    /// Value of the `content-type` header.
    #[serde(default = "json_type")]
    pub content_type: String,
    /// What is sent.
    pub body: RawBody,
}

/// Text, or a list of byte values where the bytes are not text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum RawBody {
    /// Sent as UTF-8.
    Text(String),
    /// Sent as they are.
    Bytes(Vec<u8>),
}

/// Fails with the HTTP `status`.
pub fn error(status: u16) -> Failure {
    Failure {
        status,
        body: None,
        message: None,
        kind: None,
        retry_after_seconds: None,
    }
}

/// Streams `frames` untouched, for instance `data: {"half": `.
pub fn frames(frames: impl IntoIterator<Item = impl Into<String>>) -> Reply {
    Reply::Frames(frames.into_iter().map(Into::into).collect())
}

/// Sends `body` untouched with status 200, labelled as JSON.
pub fn bytes(body: impl Into<Vec<u8>>) -> RawReply {
    RawReply {
        status: ok_status(),
        content_type: json_type(),
        body: RawBody::Bytes(body.into()),
    }
}

/// Sends a JSON document with status 200.
pub fn json(document: Value) -> Reply {
    Reply::Json(document)
}

/// Repeats the last user message.
pub fn echo() -> Reply {
    Reply::Echo
}

impl Failure {
    /// Sends a `retry-after` header of whole seconds.
    pub fn retry_after(mut self, seconds: u64) -> Self {
        self.retry_after_seconds = Some(seconds);
        self
    }

    /// Replaces the whole error body.
    pub fn body(mut self, body: Value) -> Self {
        self.body = Some(body);
        self
    }

    /// Sets the words inside the vendor's error object.
    pub fn message(mut self, message: impl Into<String>) -> Self {
        self.message = Some(message.into());
        self
    }

    /// Sets the vendor's name for the error.
    pub fn kind(mut self, kind: impl Into<String>) -> Self {
        self.kind = Some(kind.into());
        self
    }
}

impl RawReply {
    /// Sets the HTTP status.
    pub fn status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    /// Sets the `content-type` header.
    pub fn content_type(mut self, content_type: impl Into<String>) -> Self {
        self.content_type = content_type.into();
        self
    }
}

impl RawBody {
    pub(super) fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Text(text) => text.as_bytes(),
            Self::Bytes(bytes) => bytes,
        }
    }
}

fn ok_status() -> u16 {
    200
}

fn json_type() -> String {
    "application/json".to_owned()
}
