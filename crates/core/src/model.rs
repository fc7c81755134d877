//! The seam to a model: one request in, a stream of events out.

use std::sync::Arc;
use std::time::Duration;

use futures_core::Stream;
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
    /// How hard to think, in the provider-neutral words (`low`, `medium`, `high`, …).
    pub reasoning_effort: Option<String>,
    /// Whether tools may or must be called.
    pub tool_choice: ToolChoice,
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
    Usage(Usage),
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
}

/// A model behind one wire protocol.
///
/// The engine calls `stream` once for each attempt and reads it to the end or drops it; dropping it or
/// firing `cancel` ends the request. An implementation never retries: what to do after an error is
/// decided in one place, by the engine.
pub trait ModelClient: Send + Sync {
    /// How calls of this client fail; classified by the engine's failover.
    type Error: std::error::Error + Send + Sync + 'static;

    /// Starts a call. `first_byte` is the longest wait for the first event.
    fn stream(
        &self,
        request: ModelRequest,
        first_byte: Duration,
        cancel: CancellationToken,
    ) -> impl Stream<Item = Result<ModelEvent, Self::Error>> + Send;
}
