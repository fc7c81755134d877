//! How a provider differs from its protocol. Data, filled from the provider's profile; encoders read
//! it and know no provider by name.

use serde::Deserialize;
use serde_json::{Map, Value as Json};

/// All differences of one provider for one model.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Quirks {
    /// What the limit of the answer is called (chat completions only).
    pub max_tokens_key: MaxTokensKey,
    /// Whether a temperature may be sent.
    pub temperature: Temperature,
    /// How effort is asked for.
    pub reasoning: ReasoningStyle,
    /// What of earlier thinking is sent back.
    pub replay: ReasoningReplay,
    /// Which schemas are accepted.
    pub schema: SchemaTarget,
    /// How a cacheable prefix is marked.
    pub cache: CacheStyle,
    /// The system text goes out under the role `developer`.
    pub developer_role: bool,
    /// Results of tools must be plain text: pictures in them follow in a message of their own where the
    /// protocol has one, else a note stands for them.
    pub text_only_tool_results: bool,
    /// Pictures in results of tools are left out with a note.
    pub no_tool_images: bool,
    /// Pictures are made smaller, to at most this many pixels along an edge.
    pub picture_edge: Option<u32>,
    /// The model cannot see: pictures are replaced by a note.
    pub no_images: bool,
    /// The user said whether the model sees, so nobody else is believed.
    #[serde(skip)]
    pub vision_set: bool,
    /// The model cannot call tools, and is offered none; calls of others are told in words.
    pub no_tools: bool,
    /// Answers come in one piece.
    pub no_streaming: bool,
    /// The long window must be asked for (Anthropic's protocol only).
    pub long_context: bool,
    /// Amazon Bedrock is in between: see `wire/anthropic/invoke.rs` (Anthropic's protocol only).
    pub invoke: bool,
    /// Preview features that are turned down here (Anthropic's protocol only).
    pub refused_betas: Vec<String>,
    /// Summaries of the thinking are not asked for (Responses only).
    pub no_summaries: bool,
    /// Ollama says what the model can do, and is asked before a conversation, wherever it is.
    pub asks_ollama: bool,
    /// Ollama's own interface is spoken, and the model runs with this window (chat completions only).
    pub ollama_window: Option<u32>,
    /// Sends the conversation's id in this field of the body.
    pub conversation_field: Option<String>,
    /// Sends the conversation's id in this header.
    pub conversation_header: Option<String>,
    /// Tools of ours that the provider has itself: it is told their names, and runs them (Responses only).
    pub own_tools: Vec<String>,
    /// Fields added to every body, last, over everything else. `{conversation}` in their texts is the
    /// conversation's id.
    pub extra_body: Map<String, Json>,
}

/// A preview feature that is asked for without anybody having set it (Anthropic's protocol only).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beta {
    /// Thinking between the calls of tools.
    InterleavedThinking,
    /// Arguments of calls as they are written.
    ToolStreaming,
    /// The long window.
    LongContext,
}

impl Beta {
    /// All of them.
    pub const ALL: [Self; 3] = [
        Self::InterleavedThinking,
        Self::ToolStreaming,
        Self::LongContext,
    ];

    /// What requests call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::InterleavedThinking => "interleaved-thinking-2025-05-14",
            Self::ToolStreaming => "fine-grained-tool-streaming-2025-05-14",
            Self::LongContext => "context-1m-2025-08-07",
        }
    }

    /// The one that a text in lower case speaks of, with or without its date.
    pub(crate) fn named_in(text: &str) -> Option<Self> {
        let dated = |c: char| c.is_ascii_digit() || c == '-';
        let is_named = |beta: &Self| text.contains(beta.name().trim_end_matches(dated));
        Self::ALL.into_iter().find(is_named)
    }
}

/// What the limit of the answer is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MaxTokensKey {
    /// `max_tokens`.
    #[default]
    MaxTokens,
    /// `max_completion_tokens`.
    MaxCompletionTokens,
}

/// Whether a temperature may be sent.
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Temperature {
    /// When the caller sets one.
    #[default]
    AsAsked,
    /// Never.
    Omit,
    /// Always this one.
    Fixed(f64),
}

/// How effort is asked for. The words in backquotes are fields of the body.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ReasoningStyle {
    /// The protocol's own way: nothing for chat completions, `reasoning` for Responses, `thinking` for
    /// Anthropic, `thinkingConfig` for Gemini.
    #[default]
    Native,
    /// Never.
    Omit,
    /// `reasoning_effort`, one of these levels; others go to the nearest. `off` leaves it out unless
    /// `none` is a level.
    Effort {
        /// The levels the provider knows, by its own words, lowest first.
        levels: Vec<String>,
        /// Sent when the user set nothing.
        #[serde(default)]
        default: Option<String>,
        /// Efforts, in the user's words, that leave it out.
        #[serde(default)]
        unsaid: Vec<String>,
    },
    /// `reasoning: {enabled, effort}`, as aggregators have it.
    Object {
        /// Effort sent when the user set nothing.
        #[serde(default)]
        default: Option<String>,
        /// Whether `off` is asked for by saying nothing.
        #[serde(default)]
        silent_off: bool,
    },
    /// `reasoning: {enabled}` and `verbosity`, for models behind aggregators that decide themselves how
    /// long to think and cannot be told not to.
    Verbosity {
        /// The levels, lowest first.
        levels: Vec<String>,
    },
    /// `thinking: {type: enabled|disabled}`, and `reasoning_effort` when there are levels.
    ThinkingSwitch {
        /// Another word for `enabled`.
        #[serde(default = "enabled")]
        on: String,
        /// The levels of `reasoning_effort`, lowest first; empty for none.
        #[serde(default)]
        levels: Vec<String>,
        /// Whether the field is left out when the user set nothing.
        #[serde(default)]
        only_when_set: bool,
    },
    /// `extra_body.google.thinking_config`, for Gemini behind chat completions.
    GoogleConfig,
    /// `reasoning_effort` and `think`, for local servers that know either.
    Local,
    /// Anthropic: `thinking: {type: adaptive}` and `output_config.effort`, whatever the model's name.
    Adaptive,
}

fn enabled() -> String {
    "enabled".to_owned()
}

/// What of earlier thinking is sent back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReasoningReplay {
    /// The protocol's own way: nothing for chat completions, signed items for the others.
    #[default]
    Native,
    /// Nothing.
    Never,
    /// `reasoning_content` on every assistant message, a single space where there was none.
    Content,
    /// `reasoning_details`, as they came.
    Details,
    /// Thinking blocks of every turn, signed or not.
    All,
    /// Thinking blocks without a signature only.
    Unsigned,
}

impl ReasoningReplay {
    /// The rule once sealed thinking was turned down. Whoever insists on thinking beside every answer goes on
    /// getting it: there it is plain text, and nobody who turned down a seal has said anything against that.
    pub(crate) fn without_seals(self) -> Self {
        match self {
            Self::Native | Self::Details | Self::Never => Self::Never,
            Self::Content | Self::All | Self::Unsigned => self,
        }
    }
}

/// Which tool schemas are accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SchemaTarget {
    /// What every provider takes.
    #[default]
    Common,
    /// Anthropic.
    Anthropic,
    /// Moonshot and Kimi.
    Moonshot,
    /// Gemini's list of allowed keys.
    Gemini,
    /// xAI.
    Xai,
    /// llama.cpp after it failed to make a grammar.
    LlamaCpp,
}

/// How a cacheable prefix is marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheStyle {
    /// Not at all: the provider finds stable bytes by itself.
    #[default]
    Automatic,
    /// `cache_control` on the blocks of Anthropic's protocol, cache points between those of Converse.
    Blocks,
    /// `cache_control` on text parts of chat completions.
    Envelope,
}
