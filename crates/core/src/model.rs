//! The seam to a model: one request in, a stream of events out.

use std::sync::Arc;
use std::time::Duration;

use futures_core::Stream;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::{CallId, Message, RawTurn, ToolSpec, Usage};

/// Everything one model call needs.
///
/// The prefix (system text, tools, earlier messages) is shared, so that consecutive requests of a
/// session are built from the same bytes.
#[derive(Debug, Clone)]
pub struct ModelRequest {
    /// The model's name at its provider.
    pub model: String,
    /// The conversation, for providers that keep one on the same machine.
    pub conversation: String,
    /// The system prompt.
    pub system: Arc<str>,
    /// The tools on offer, in a fixed order.
    pub tools: Arc<[ToolSpec]>,
    /// The conversation so far.
    pub messages: Vec<Arc<Message>>,
    /// How to answer.
    pub settings: ModelSettings,
}

/// How a model should answer; absent means the provider's default.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ModelSettings {
    /// Most tokens of the answer.
    pub max_output_tokens: Option<u32>,
    /// Randomness of the answer.
    pub temperature: Option<f64>,
    /// How hard to think.
    pub effort: Option<Effort>,
    /// Whether tools may or must be called.
    pub tool_choice: ToolChoice,
    /// How long the provider should remember the prefix, where that is chosen by the caller.
    pub cache: CacheLife,
}

/// How hard a model should think. What a provider does not know is mapped to its nearest level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effort {
    /// Not at all.
    Off,
    /// As little as possible.
    Minimal,
    /// A little.
    Low,
    /// The usual amount.
    Medium,
    /// A lot.
    High,
    /// More than high.
    ExtraHigh,
    /// The highest level most models have.
    Max,
    /// Beyond it, on the few models that offer it.
    Ultra,
}

/// How long a provider remembers a prefix that was marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CacheLife {
    /// Five minutes, renewed by use.
    #[default]
    Short,
    /// An hour, at a higher price for writing.
    Long,
}

/// How long a call may be silent. The limits of what the user set are final.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// Up to the first event.
    pub first_event: Duration,
    /// Between two events.
    pub idle: Duration,
    /// For the whole call.
    pub total: Duration,
}

/// Whether tools may or must be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ToolChoice {
    /// The model decides.
    #[default]
    Auto,
    /// No tool this time.
    None,
    /// At least one call.
    Required,
}

/// One piece of an answer under way.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelEvent {
    /// More text.
    Text(String),
    /// More readable reasoning.
    Reasoning(String),
    /// A tool call begins.
    CallStarted {
        /// The model's name for the call.
        id: CallId,
        /// The tool.
        name: String,
    },
    /// More of a call's argument text.
    CallArguments {
        /// The call.
        id: CallId,
        /// The next piece of JSON text.
        fragment: String,
    },
    /// What the call used so far; the last one counts.
    Usage {
        /// Tokens.
        usage: Usage,
        /// What the provider says it cost, in US dollars.
        cost_usd: Option<f64>,
    },
    /// The answer is complete. Always the last event of a call that did not fail.
    Finished {
        /// Why it ended.
        reason: FinishReason,
        /// The turn in the provider's own form.
        raw: Option<RawTurn>,
    },
}

/// Why an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FinishReason {
    /// The model was done.
    Stop,
    /// It wants tools.
    ToolCalls,
    /// It ran into the output limit.
    Length,
    /// The provider withheld the answer.
    Refused,
    /// The provider paused in the middle; another call with what came so far goes on.
    Paused,
}

/// A model behind one wire protocol.
///
/// The engine calls `stream` once for each attempt and reads it to the end or drops it; dropping it or
/// firing `cancel` ends the request. An implementation never retries: what to do after an error is
/// decided in one place, by the engine.
pub trait ModelClient: Send + Sync {
    /// How calls of this client fail; classified by the engine's failover.
    type Error: std::error::Error + Send + Sync + 'static;

    /// Starts a call.
    fn stream(
        &self,
        request: ModelRequest,
        patience: Patience,
        cancel: CancellationToken,
    ) -> impl Stream<Item = Result<ModelEvent, Self::Error>> + Send;
}
