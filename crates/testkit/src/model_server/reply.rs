//! What the server says: answers, errors, raw frames and broken bytes.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// One scripted answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// A well-formed completion, streamed when the request asks for a stream.
    Answer(Answer),
    /// An HTTP error.
    Error(Failure),
    /// Server-sent events passed through as they are; each gets its blank line.
    Frames(Vec<String>),
    /// A body passed through as it is.
    Bytes(RawReply),
    /// A completion that repeats the last user message.
    Echo,
}

/// A completion in protocol-neutral form.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Answer {
    /// Visible text.
    pub text: Option<String>,
    /// Reasoning shown before the text.
    pub reasoning: Option<String>,
    /// Tools the model wants to run.
    pub tool_calls: Vec<ToolCall>,
    /// Overrides `stop`, or `tool_calls` when there are any.
    pub finish_reason: Option<String>,
    /// Overrides the fixed default of 100 prompt and 20 completion tokens.
    pub usage: Option<Usage>,
}

/// One tool call inside an [`Answer`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolCall {
    /// Made up from the request number and the position when absent.
    #[serde(default)]
    pub id: Option<String>,
    /// Name of the tool.
    pub name: String,
    /// Arguments; a JSON string is sent verbatim, so broken JSON can be scripted.
    pub arguments: Value,
}

/// Token counts as a vendor would bill them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Usage {
    /// Tokens of the request.
    pub prompt_tokens: u64,
    /// Tokens of the answer.
    pub completion_tokens: u64,
    /// Part of the prompt that came from the vendor's cache.
    #[serde(default)]
    pub cached_tokens: u64,
    /// Part of the answer that was reasoning.
    #[serde(default)]
    pub reasoning_tokens: u64,
}

impl Default for Usage {
    fn default() -> Self {
        Self {
            prompt_tokens: 100,
            completion_tokens: 20,
            cached_tokens: 0,
            reasoning_tokens: 0,
        }
    }
}

/// An HTTP error answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failure {
    /// HTTP status.
    pub status: u16,
    /// JSON body; an OpenAI-shaped error object when absent.
    #[serde(default)]
    pub body: Option<Value>,
    /// Whole seconds, sent as the `retry-after` header.
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

/// Answers with `content`.
pub fn text(content: impl Into<String>) -> Answer {
    Answer {
        text: Some(content.into()),
        ..Answer::default()
    }
}

/// Answers with one call of the tool `name`.
pub fn tool_call(name: impl Into<String>, arguments: Value) -> Answer {
    Answer::default().and_tool_call(name, arguments)
}

/// Fails with the HTTP `status`.
pub fn error(status: u16) -> Failure {
    Failure {
        status,
        body: None,
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

/// Repeats the last user message.
pub fn echo() -> Reply {
    Reply::Echo
}

impl Answer {
    /// Adds reasoning before the text.
    pub fn reasoning(mut self, content: impl Into<String>) -> Self {
        self.reasoning = Some(content.into());
        self
    }

    /// Adds text, for instance before tool calls.
    pub fn text(mut self, content: impl Into<String>) -> Self {
        self.text = Some(content.into());
        self
    }

    /// Adds a tool call after those already there.
    pub fn and_tool_call(mut self, name: impl Into<String>, arguments: Value) -> Self {
        self.tool_calls.push(ToolCall {
            id: None,
            name: name.into(),
            arguments,
        });
        self
    }

    /// Sets the finish reason, for instance `length`.
    pub fn finish_reason(mut self, reason: impl Into<String>) -> Self {
        self.finish_reason = Some(reason.into());
        self
    }

    /// Sets the token counts.
    pub fn usage(mut self, usage: Usage) -> Self {
        self.usage = Some(usage);
        self
    }
}

impl Failure {
    /// Sends a `retry-after` header of whole seconds.
    pub fn retry_after(mut self, seconds: u64) -> Self {
        self.retry_after_seconds = Some(seconds);
        self
    }

    /// Replaces the default error body.
    pub fn body(mut self, body: Value) -> Self {
        self.body = Some(body);
        self
    }

    pub(super) fn json(&self) -> Value {
        self.body
            .clone()
            .unwrap_or_else(|| error_body("scripted_error", &format!("scripted {}", self.status)))
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

/// The error object OpenAI-compatible vendors send.
pub(super) fn error_body(kind: &str, message: &str) -> Value {
    json!({"error": {"message": message, "type": kind, "code": null, "param": null}})
}

fn ok_status() -> u16 {
    200
}

fn json_type() -> String {
    "application/json".to_owned()
}
