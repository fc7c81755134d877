//! Questions put to a person, and who answered.

use std::time::Duration;

use futures_core::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use tokio_util::sync::CancellationToken;

use crate::{Form, QuestionId, SessionId};

/// A question that work is waiting on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// Names the question in the answer.
    pub id: QuestionId,
    /// The conversation it belongs to.
    pub session: SessionId,
    /// What is asked.
    pub kind: QuestionKind,
    /// How long an answer is waited for; silence then counts as no.
    pub deadline: Duration,
}

/// What is asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum QuestionKind {
    /// May this be done?
    Approval {
        /// The exact action.
        action: String,
        /// Why it needs asking, every reason.
        reasons: Vec<String>,
        /// The parts of the action that gave the reasons, as byte ranges.
        marks: Vec<(usize, usize)>,
        /// How far a yes may reach.
        reach: Reach,
        /// Whether the person may have something else done instead, in the same words the action is in.
        editable: bool,
        /// Whose yes counts.
        decider: Decider,
    },
    /// What was meant?
    Clarify {
        /// The question.
        question: String,
        /// Answers to pick from; free text is always possible.
        choices: Vec<String>,
    },
    /// A value that must not reach the transcript.
    Secret {
        /// What it is for.
        prompt: String,
    },
    /// Several values at once.
    Form(Form),
}

/// How far a yes may reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reach {
    /// This action only.
    Once,
    /// The like of it in this session.
    Session,
    /// The like of it from now on.
    Always,
}

/// Whose yes counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decider {
    /// The person's alone: others do not even see the question.
    Person,
    /// Also that of a program the person lets answer in their place.
    Anyone,
}

/// What was said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// Yes, this time.
    AllowOnce,
    /// Yes, for the rest of the session.
    AllowSession,
    /// Yes, from now on.
    AllowAlways,
    /// No.
    Deny {
        /// Why not, in the person's words.
        reason: Option<String>,
    },
    /// Not this, but the action as it stands here. Counts as a yes for this once, and as a no where nothing can
    /// be changed.
    Instead(String),
    /// Free text or a picked choice.
    Text(String),
    /// The values of a form, by the names of its fields.
    Filled(Map<String, Json>),
    /// Neither yes nor no: the question was put away. Counts as a no wherever there is nothing between the two.
    Dismiss,
}

/// Who decided. The model is never told that a person refused when nobody was asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnsweredBy {
    /// A person, by the name the front end knows.
    Person(String),
    /// A program that the person lets answer in their place, by its name. It never counts as the person.
    Program(String),
    /// A rule of the configuration.
    Rule(String),
    /// Nobody could be asked, or nobody answered in time.
    Runtime,
    /// Nobody: what wanted to know was stopped before an answer came.
    Stopped,
}

impl Answer {
    /// No, without a word.
    pub fn no() -> Self {
        Self::Deny { reason: None }
    }
}

/// An answer and who gave it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// What was said.
    pub answer: Answer,
    /// Who said it.
    pub by: AnsweredBy,
}

/// Puts questions to a person.
///
/// The engine calls `ask` from the turn that waits; several questions may be open at once. An
/// implementation answers `Deny` by `Runtime` when there is nobody to ask, when the deadline passes
/// and when `cancel` fires; it never fails.
pub trait Asker: Send + Sync {
    /// Asks and waits.
    fn ask(&self, question: Question, cancel: CancellationToken) -> BoxFuture<'_, Reply>;
}
