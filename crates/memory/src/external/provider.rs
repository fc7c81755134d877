//! The seam: what an external memory can do.

use std::path::PathBuf;
use std::sync::Arc;

use futures_core::future::BoxFuture;
use hermes_core::{MessageId, ToolSpec};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::error::ProviderError;

/// An external memory.
///
/// [`External`](super::External) owns it and is the only caller. It calls `begin` once for a conversation, behind its
/// first message, where `manner` wants that. It asks `recall` before a turn and stops waiting when its limit passes; it calls `deliver` for one errand after the other, in order, and again later when that
/// failed for a passing reason; `call` is made for tools of `tools`. Everything may be dropped at any moment. A
/// provider retries nothing that may have taken effect.
pub trait Provider: Send + Sync {
    /// How it wants to be used.
    fn manner(&self) -> Manner;

    /// What the system prompt says about it; must not change within a session.
    fn prompt(&self) -> String;

    /// Its own tools.
    fn tools(&self) -> Vec<ToolSpec>;

    /// Makes ready for a conversation. What fails here is tried again when it is needed.
    fn begin<'a>(&'a self, _: &'a Scene) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(async { Ok(()) })
    }

    /// What is known that bears on a question. Nothing is no failure.
    fn recall<'a>(
        &'a self,
        question: &'a Question,
    ) -> BoxFuture<'a, Result<Option<String>, ProviderError>>;

    /// Takes something in.
    fn deliver<'a>(&'a self, delivery: &'a Delivery) -> BoxFuture<'a, Result<(), ProviderError>>;

    /// Carries a call of one of its tools out.
    fn call<'a>(
        &'a self,
        scene: &'a Scene,
        tool: &'a str,
        arguments: &'a Json,
    ) -> BoxFuture<'a, Result<Json, ProviderError>>;

    /// Tries the connection; says in a few words what is there.
    fn check(&self) -> BoxFuture<'_, Result<String, ProviderError>>;
}

/// How a provider wants to be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Manner {
    /// Whether it is told that a conversation began.
    pub begins: bool,
    /// Whether it is asked before turns at all.
    pub recalls: bool,
    /// Whether it is asked for the next turn behind the last one; at the message otherwise.
    pub ahead: bool,
    /// How many deliveries wait for one another before they are sent.
    pub hold: u64,
    /// Whether it is told that a conversation ended.
    pub ends: bool,
    /// Whether it is told what is written to the files.
    pub mirrors: bool,
    /// Whether it can forget a turn it was told of.
    pub forgets: bool,
}

impl Default for Manner {
    fn default() -> Self {
        Self {
            begins: false,
            recalls: true,
            ahead: false,
            hold: 1,
            ends: false,
            mirrors: true,
            forgets: false,
        }
    }
}

/// Where something is said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scene {
    /// The conversation.
    pub session: String,
    /// The directory it runs in.
    pub directory: PathBuf,
    /// Where it runs: `cli`, `telegram`, ….
    pub surface: String,
    /// Who speaks, where a surface serves several people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
}

/// What is asked before a turn.
#[derive(Clone)]
pub struct Question {
    pub scene: Scene,
    /// The message.
    pub text: String,
    /// The number of the turn it is asked for, from 1.
    pub turn: u64,
    /// Puts the message into other words, for a provider that wants that.
    pub rewriter: Option<Arc<dyn Rewriter>>,
}

/// Puts a message into words that a memory finds more with: a model, as a rule.
///
/// A provider asks it at most once for a question, while it recalls. It may be dropped at any moment.
pub trait Rewriter: Send + Sync {
    /// The words; nothing when there are none.
    fn rewritten<'a>(&'a self, message: &'a str) -> BoxFuture<'a, Option<String>>;
}

/// Both sides of a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    /// The row of the message.
    pub row: MessageId,
    pub user: String,
    pub assistant: String,
}

/// Something to take in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// The same for every attempt and for nothing else.
    pub token: String,
    /// Whether an earlier attempt may have been taken without our hearing of it.
    pub doubtful: bool,
    pub scene: Scene,
    pub errand: Errand,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Errand {
    /// A turn ended well.
    Turn { user: String, assistant: String },
    /// An entry of one of the two files was written.
    Written { target: String, content: String },
    /// An entry of one of the two files is gone, or says something else now.
    Removed { target: String, content: String },
    /// The user took a turn back that was told of under this token.
    TakenBack {
        #[serde(default)]
        turn: String,
        user: String,
        assistant: String,
    },
    /// What was said so far is to be made into memories: the conversation is over, or about to be made shorter.
    Ended,
}
