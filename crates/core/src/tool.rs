//! Tools: what the model is told about one, and the seam it is called through.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures_core::future::BoxFuture;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::{Asker, CallId, Media, RunMode, SessionId, TurnId};

/// What the model sees of a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// The name the model calls it by.
    pub name: String,
    /// What it does and when to use it.
    pub description: String,
    /// JSON schema of the arguments.
    pub parameters: serde_json::Value,
    /// What calling it may change.
    pub effect: Effect,
}

/// What a call may change; decides approvals, parallel runs and replays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Looks only; may run beside others and be repeated.
    ReadOnly,
    /// Changes something, but doing it twice equals doing it once.
    Idempotent,
    /// Changes something.
    Mutating,
}

/// A call the model asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The model's name for this call.
    pub id: CallId,
    /// The tool.
    pub name: String,
    /// The arguments; always an object once repaired.
    pub arguments: serde_json::Value,
}

/// What a call produced.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolResult {
    /// What the model sees; capped by the caller, never by the tool.
    pub content: String,
    /// Pictures and files for models that can see them.
    pub media: Vec<Media>,
}

/// How a call ended when it did not produce a result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ToolError {
    /// The model is told and can try something else.
    #[error("{message}")]
    ForModel {
        /// What the model is told.
        message: String,
    },
    /// The outcome is not known: it may or may not have happened, and must not be repeated blindly.
    #[error("it is not known whether the call took effect: {message}")]
    OutcomeUnknown {
        /// What was seen.
        message: String,
    },
    /// The deadline passed.
    #[error("no result within {} s", limit.as_secs())]
    TimedOut {
        /// The limit that passed.
        limit: Duration,
    },
    /// The user or the turn stopped it.
    #[error("stopped")]
    Cancelled,
}

/// A result or the reason there is none.
pub type ToolOutcome = Result<ToolResult, ToolError>;

/// Whether a tool can be offered now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Availability {
    /// It can be called.
    Ready,
    /// It cannot, and this is what would change that.
    Missing {
        /// What is missing, and the next step.
        reason: String,
    },
}

/// How the engine handles calls of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Handling {
    /// What may run beside a call.
    pub beside: Beside,
    /// How long a call may take.
    pub deadline: Duration,
    /// Most characters of a result that reach the model; the rest goes to a file.
    pub max_chars: usize,
    /// Whether results are somebody else's words, to be fenced off as data.
    pub untrusted: bool,
}

impl Default for Handling {
    fn default() -> Self {
        Self {
            beside: Beside::Nothing,
            deadline: Duration::from_secs(420),
            max_chars: 100_000,
            untrusted: false,
        }
    }
}

/// What may run beside a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beside {
    /// Nothing: everything asked for earlier ends first, and later calls wait.
    Nothing,
    /// Any call that says the same.
    Anything,
    /// As `Anything`, except calls whose `Tool::touches` is the same or inside the other, or not known.
    OtherPaths,
}

/// On whose behalf a call is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Origin {
    /// The conversation.
    #[default]
    Conversation,
    /// A look back behind the answer; nobody reads along and nobody can be asked.
    Review,
    /// Tidying skills up, beside all conversations.
    Curator,
}

/// What a call may know about where it runs.
#[derive(Clone)]
pub struct ToolContext {
    /// The conversation.
    pub session: SessionId,
    /// The turn.
    pub turn: TurnId,
    /// The call.
    pub call: CallId,
    /// The directory relative paths start from.
    pub directory: PathBuf,
    /// Ends the call; children of the call hang below it.
    pub cancel: CancellationToken,
    /// When the caller stops waiting.
    pub deadline: Duration,
    /// Puts questions to the person behind the session.
    pub asker: Arc<dyn Asker>,
    /// How actions are approved.
    pub mode: RunMode,
    /// Whether a person is there to ask.
    pub attended: bool,
    /// Whether the session can be spoken to again after this turn. A run that answers once cannot, and
    /// nothing it starts can report back.
    pub lasting: bool,
    /// On whose behalf it is made.
    pub origin: Origin,
    /// Whether another tool made the call, such as a script: the result goes to it and not into the
    /// conversation.
    pub nested: bool,
    /// What the session offers its tools.
    pub host: Arc<dyn ToolHost>,
}

/// What a session offers its tools while they run.
///
/// Tools call it from `Tool::call`, possibly several at once. Everything ends soon after the token of the
/// call fires.
pub trait ToolHost: Send + Sync {
    /// Shows what a running call prints. Waits while the listener is behind.
    fn show<'a>(&'a self, context: &'a ToolContext, chunk: String) -> BoxFuture<'a, ()>;

    /// Tells the person behind the session something they should know, whatever the model makes of the result.
    /// Waits while the listener is behind.
    fn tell<'a>(&'a self, context: &'a ToolContext, text: String) -> BoxFuture<'a, ()>;

    /// Shows how a call changed a file, as a unified diff, where the model need not see that. Waits while the listener
    /// is behind.
    fn changed<'a>(&'a self, context: &'a ToolContext, diff: String) -> BoxFuture<'a, ()> {
        let _ = (context, diff);
        Box::pin(std::future::ready(()))
    }

    /// Asks a helper model, as `auxiliary` in the settings names the task. `None` when it gave nothing.
    fn consult<'a>(
        &'a self,
        context: &'a ToolContext,
        question: Consultation,
    ) -> BoxFuture<'a, Option<String>>;

    /// The names of the tools the session was offered.
    fn offered(&self) -> Vec<String>;

    /// Calls another tool of the session on behalf of a running one. A name that was not offered is
    /// refused.
    fn call<'a>(
        &'a self,
        name: &'a str,
        arguments: serde_json::Value,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, ToolOutcome>;
}

/// A question to a helper model.
#[derive(Debug, Clone, PartialEq)]
pub struct Consultation {
    /// The task, as `auxiliary` in the settings names it.
    pub task: &'static str,
    /// What the helper is told about its job.
    pub system: String,
    /// The question.
    pub question: String,
    /// Most tokens of the answer.
    pub most_tokens: u32,
    /// How freely it is worded; 0 is not at all.
    pub temperature: f64,
    /// How long the answer is waited for.
    pub limit: Duration,
}

/// Something that happened in a session and may change what a tool answers next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notice<'a> {
    /// The conversation was made shorter: what a tool told the model earlier may not be in it any more.
    Compacted,
    /// The tool of this name is about to be called.
    Called(&'a str),
}

/// Something the model can call.
///
/// The engine tells every tool of a session by `noticed` what happens in it. It calls `spec` and
/// `availability` while it puts a request together and `call` once for each call it has approved, possibly several at once for tools that say so. `call` must end soon after
/// `context.cancel` fires, leaving no child behind. The engine owns deadlines, size limits and
/// retries; a tool never retries a mutation by itself.
pub trait Tool: Send + Sync {
    /// What the model is told. Must not change within a session.
    fn spec(&self) -> &ToolSpec;

    /// How the engine handles its calls.
    fn handling(&self) -> Handling {
        Handling::default()
    }

    /// The server it belongs to, by its name in the settings; nothing for tools of this program.
    fn server(&self) -> Option<&str> {
        None
    }

    /// Whether it can be offered. Must not block.
    fn availability(&self) -> Availability {
        Availability::Ready
    }

    /// Hears of something that happened. Must not block.
    fn noticed(&self, notice: Notice<'_>) {
        let _ = notice;
    }

    /// The files that a call is about, links not followed, and nothing when that cannot be told from the words. Asked
    /// right before and after the call, with the directory that its context has. Must not block.
    fn touches(&self, arguments: &serde_json::Value, directory: &Path) -> Option<Vec<PathBuf>> {
        let _ = (arguments, directory);
        None
    }

    /// Does it.
    fn call<'a>(
        &'a self,
        arguments: serde_json::Value,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, ToolOutcome>;
}
