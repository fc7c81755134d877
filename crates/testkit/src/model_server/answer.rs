//! A scripted answer in protocol-neutral form.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A completion: reasoning, then text, then tool calls, then whatever `then` lists.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Answer {
    /// Visible text.
    pub text: Option<String>,
    /// Reasoning shown before the text.
    pub reasoning: Option<String>,
    /// Seal of the reasoning: signature or encrypted content. Made up when absent, none when empty.
    pub signature: Option<String>,
    /// Tools the model wants to run.
    pub tool_calls: Vec<ToolCall>,
    /// Further parts, in this order.
    pub then: Vec<Part>,
    /// Why the answer ends: `stop`, `tool_calls`, `length` or `content_filter` in the vendor's own word,
    /// anything else as it is. Follows from the parts when absent.
    pub finish_reason: Option<String>,
    /// Overrides the fixed default of 100 prompt and 20 completion tokens.
    pub usage: Option<Usage>,
}

/// One part of an [`Answer`] that does not fit the usual order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// Visible text.
    Text(String),
    /// More reasoning, with a seal of its own.
    Reasoning(Reasoning),
    /// A tool call.
    ToolCall(ToolCall),
}

/// A piece of reasoning inside an [`Answer`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reasoning {
    /// The readable part.
    pub text: String,
    /// As in [`Answer::signature`].
    #[serde(default)]
    pub signature: Option<String>,
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
    /// The thought signature Gemini hangs on calls. There the first call gets a made-up one when this
    /// is absent and none when it is empty; chat completions send it only when it is set.
    #[serde(default)]
    pub signature: Option<String>,
}

/// Token counts as a vendor would bill them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Usage {
    /// Tokens of the request, cached ones included.
    pub prompt_tokens: u64,
    /// Tokens of the answer, reasoning included.
    pub completion_tokens: u64,
    /// Part of the prompt that came from the vendor's cache.
    #[serde(default)]
    pub cached_tokens: u64,
    /// Part of the prompt that was written to the vendor's cache.
    #[serde(default)]
    pub cache_write_tokens: u64,
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
            cache_write_tokens: 0,
            reasoning_tokens: 0,
        }
    }
}

impl Usage {
    /// Prompt tokens that neither came from the cache nor went into it.
    pub(super) fn fresh_tokens(self) -> u64 {
        self.prompt_tokens
            .saturating_sub(self.cached_tokens)
            .saturating_sub(self.cache_write_tokens)
    }

    pub(super) fn total_tokens(self) -> u64 {
        self.prompt_tokens + self.completion_tokens
    }
}

/// Why an answer ends; every protocol has words of its own for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Finish<'a> {
    Stop,
    ToolCalls,
    Length,
    ContentFilter,
    Verbatim(&'a str),
}

/// Answers with `content`.
pub fn text(content: impl Into<String>) -> Answer {
    Answer::default().text(content)
}

/// Answers with one call of the tool `name`.
pub fn tool_call(name: impl Into<String>, arguments: Value) -> Answer {
    Answer::default().and_tool_call(name, arguments)
}

impl Answer {
    /// Adds reasoning before the text.
    pub fn reasoning(mut self, content: impl Into<String>) -> Self {
        self.reasoning = Some(content.into());
        self
    }

    /// Sets the seal of the reasoning; an empty one sends none.
    pub fn signature(mut self, signature: impl Into<String>) -> Self {
        self.signature = Some(signature.into());
        self
    }

    /// Adds text, for instance before tool calls.
    pub fn text(mut self, content: impl Into<String>) -> Self {
        self.text = Some(content.into());
        self
    }

    /// Adds a tool call after those already there.
    pub fn and_tool_call(self, name: impl Into<String>, arguments: Value) -> Self {
        self.and_call(ToolCall::new(name, arguments))
    }

    /// Adds a tool call with an id or a signature of its own.
    pub fn and_call(mut self, call: ToolCall) -> Self {
        self.tool_calls.push(call);
        self
    }

    /// Appends text after everything else.
    pub fn then_text(mut self, content: impl Into<String>) -> Self {
        self.then.push(Part::Text(content.into()));
        self
    }

    /// Appends reasoning after everything else.
    pub fn then_reasoning(mut self, content: impl Into<String>) -> Self {
        self.then.push(Part::Reasoning(Reasoning {
            text: content.into(),
            signature: None,
        }));
        self
    }

    /// Appends a tool call after everything else.
    pub fn then_call(mut self, call: ToolCall) -> Self {
        self.then.push(Part::ToolCall(call));
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

    pub(super) fn finish(&self) -> Finish<'_> {
        let calls = !self.tool_calls.is_empty()
            || self
                .then
                .iter()
                .any(|part| matches!(part, Part::ToolCall(_)));
        match self.finish_reason.as_deref() {
            None if calls => Finish::ToolCalls,
            None | Some("stop") => Finish::Stop,
            Some("tool_calls") => Finish::ToolCalls,
            Some("length") => Finish::Length,
            Some("content_filter") => Finish::ContentFilter,
            Some(other) => Finish::Verbatim(other),
        }
    }
}

impl ToolCall {
    /// A call of the tool `name` with a made-up id.
    pub fn new(name: impl Into<String>, arguments: Value) -> Self {
        Self {
            id: None,
            name: name.into(),
            arguments,
            signature: None,
        }
    }

    /// Sets the id.
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Sets the thought signature; an empty one sends none.
    pub fn signature(mut self, signature: impl Into<String>) -> Self {
        self.signature = Some(signature.into());
        self
    }
}
