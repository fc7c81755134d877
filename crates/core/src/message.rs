//! The message model: a neutral form that every part of the program reads, and beside it the exact
//! turn a provider sent, so that it can be replayed to that provider byte for byte.

use serde::{Deserialize, Serialize};

use crate::{CallId, ToolCall};

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Instructions.
    System,
    /// The person.
    User,
    /// The model.
    Assistant,
    /// The answer to a tool call.
    Tool,
}

impl Role {
    /// The word that stands for it on disk and on the wire.
    pub fn word(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }

    /// The role of a word; `None` for words of other programs.
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::System, Self::User, Self::Assistant, Self::Tool]
            .into_iter()
            .find(|role| role.word() == word)
    }
}

/// One message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said, in order.
    pub parts: Vec<Part>,
    /// The turn as the provider sent it; only for assistant messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<RawTurn>,
}

/// One piece of a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Part {
    /// Plain text.
    Text {
        /// The text.
        text: String,
    },
    /// The model's thinking, for display; the replayable form is in the raw turn.
    Reasoning {
        /// The readable part.
        text: String,
    },
    /// A picture, sound or file.
    Media(Media),
    /// The model asks for a tool.
    ToolCall(ToolCall),
    /// What a tool answered.
    ToolResult {
        /// The call this answers.
        call: CallId,
        /// The tool's name.
        name: String,
        /// What the model sees.
        content: String,
        /// Whether the call failed.
        #[serde(default)]
        failed: bool,
    },
}

/// A picture, sound or file inside a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Media {
    /// The media type, such as `image/png`.
    pub mime: String,
    /// Where the bytes are.
    pub source: MediaSource,
    /// The file name, when there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// Reads media that messages refer to by hash.
///
/// Encoders call it while they build a request; `None` means the file is gone, and the model is told so.
pub trait MediaReader: Send + Sync {
    /// The bytes of a blob.
    fn read(&self, hash: &str) -> Option<Vec<u8>>;
}

/// Where the bytes of a medium are. Never inside the message itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MediaSource {
    /// In the blob store, by SHA-256 in hex.
    Blob(String),
    /// At an address the provider fetches.
    Url(String),
}

/// The wire protocols a raw turn can be replayed to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WireProtocol {
    /// OpenAI chat completions and everything that imitates it.
    ChatCompletions,
    /// OpenAI Responses.
    Responses,
    /// Anthropic Messages.
    Anthropic,
    /// Gemini native.
    Gemini,
    /// Amazon Bedrock Converse.
    Converse,
}

/// A provider's own form of an assistant turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RawTurn {
    /// The protocol it came by; another protocol gets the neutral form instead.
    pub protocol: WireProtocol,
    /// The provider that issued it: another one cannot read its signatures.
    #[serde(default)]
    pub provider: String,
    /// The model that produced it: signatures and encrypted reasoning are bound to it.
    pub model: String,
    /// The items exactly as received.
    pub body: serde_json::Value,
}

impl Message {
    /// A message of one text.
    pub fn text(role: Role, text: impl Into<String>) -> Self {
        Self {
            role,
            parts: vec![Part::Text { text: text.into() }],
            raw: None,
        }
    }

    /// All plain text of the message, pieces joined by newlines.
    pub fn plain_text(&self) -> String {
        let mut out = String::new();
        for part in &self.parts {
            let text = match part {
                Part::Text { text } | Part::ToolResult { content: text, .. } => text,
                Part::Reasoning { .. } | Part::Media(_) | Part::ToolCall(_) => continue,
            };
            if !out.is_empty() {
                out.push('\n');
            }
            out.push_str(text);
        }
        out
    }

    /// The tools the message asks for.
    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.parts.iter().filter_map(|part| match part {
            Part::ToolCall(call) => Some(call),
            Part::Text { .. }
            | Part::Reasoning { .. }
            | Part::Media(_)
            | Part::ToolResult { .. } => None,
        })
    }
}
