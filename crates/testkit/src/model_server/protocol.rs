//! Which vendor protocol a path belongs to.

use std::fmt;

/// The wire protocols a model vendor may speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// OpenAI chat completions, and everything that imitates it.
    ChatCompletions,
    /// OpenAI Responses.
    Responses,
    /// Anthropic Messages.
    Anthropic,
    /// Google generateContent.
    Gemini,
    /// Amazon Bedrock Converse.
    Converse,
}

impl Protocol {
    /// Recognises a protocol by the end of the path, so that any base path may come before it.
    pub fn of_path(path: &str) -> Option<Self> {
        let last = path.rsplit('/').next().unwrap_or_default();
        if path.ends_with("/chat/completions") {
            Some(Self::ChatCompletions)
        } else if last == "responses" {
            Some(Self::Responses)
        } else if last == "messages" || Self::is_invoked(path) {
            Some(Self::Anthropic)
        } else if last.ends_with(":generateContent") || last.ends_with(":streamGenerateContent") {
            Some(Self::Gemini)
        } else if last == "converse" || last == "converse-stream" {
            Some(Self::Converse)
        } else {
            None
        }
    }

    /// Whether Amazon hands the request on to the model: the path says more, and answers come in its frames.
    pub(super) fn is_invoked(path: &str) -> bool {
        path.ends_with("/invoke") || path.ends_with("/invoke-with-response-stream")
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ChatCompletions => "chat completions",
            Self::Responses => "responses",
            Self::Anthropic => "anthropic messages",
            Self::Gemini => "gemini",
            Self::Converse => "bedrock converse",
        })
    }
}
