//! What front ends and the engine say to each other: operations in, events out.

use serde::{Deserialize, Serialize};

use crate::{
    Answer, CallId, Effort, InboxId, Media, MessageId, Question, QuestionId, SessionId, TurnId,
    Usage,
};

/// What a front end asks of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum Op {
    /// A message; starts a turn, or waits for the running one.
    UserMessage {
        /// The text.
        text: String,
        /// Pictures and files.
        media: Vec<Media>,
    },
    /// A message that calls for skills; starts a turn, or waits for the running one.
    UseSkills {
        /// Their names.
        skills: Vec<String>,
        /// What is to be done with all of them, when they are a bundle; may be empty.
        instruction: String,
        /// What was typed behind them; may be empty.
        text: String,
        /// Pictures and files.
        media: Vec<Media>,
    },
    /// A remark for the running turn, seen before its next model call.
    Steer {
        /// The remark.
        text: String,
    },
    /// What stands in the inbox is said. Its rows are taken in the step that writes what they become; when one of
    /// them is gone, somebody else said it and nothing happens.
    FromInbox {
        /// The rows.
        rows: Vec<InboxId>,
        /// What they say together: a message, one that calls for skills, or a remark.
        said: Box<Op>,
    },
    /// Stop the running turn. Travels on the control lane.
    Interrupt,
    /// The answer to a question. Travels on the control lane.
    Answer {
        /// The question.
        question: QuestionId,
        /// What was said.
        answer: Answer,
    },
    /// Use another model from the next call on.
    SetModel {
        /// The model, as the user names it.
        model: String,
        /// The provider, when it is not implied.
        provider: Option<String>,
    },
    /// Change how actions are approved.
    SetMode(RunMode),
    /// Make the history shorter now.
    Compact {
        /// What the summary should dwell on; what the user asked for lately when absent.
        focus: Option<String>,
    },
    /// Make what came before the last exchanges shorter now.
    CompactBefore {
        /// Exchanges at the end that stay word for word.
        exchanges: u32,
    },
    /// Tell what making the history shorter would do; nothing is changed.
    PreviewCompact {
        /// Exchanges that would stay; as many as usual when absent.
        exchanges: Option<u32>,
    },
    /// Think this hard from the next call on; as the settings say when absent.
    SetEffort {
        /// How hard.
        effort: Option<Effort>,
    },
    /// Offer these toolsets from the next turn on; those of the settings when absent.
    SetToolsets {
        /// Their names.
        sets: Option<Vec<String>>,
    },
    /// Speak like this from the next turn on; as the settings say when absent.
    SetPersonality {
        /// The name of the personality; none when empty.
        name: Option<String>,
    },
    /// Take back the last exchanges.
    Undo {
        /// How many messages of the user.
        turns: u32,
    },
    /// Answer the last message again.
    Retry,
    /// Go on in a copy that starts after this message.
    Branch {
        /// The last message the copy keeps.
        after: MessageId,
    },
    /// End the session's task.
    Shutdown,
}

/// How actions are approved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunMode {
    /// Ask a person for everything that is not clearly harmless.
    Manual,
    /// Let a model judge first, and ask a person in doubt.
    Smart,
    /// Ask for nothing; hard blocks still hold.
    Off,
}

/// What a session tells whoever listens.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// A turn begins.
    TurnStarted {
        /// The turn.
        turn: TurnId,
    },
    /// More of the answer.
    TextDelta {
        /// The text.
        text: String,
    },
    /// More readable reasoning.
    ReasoningDelta {
        /// The text.
        text: String,
    },
    /// The model writes down what a tool is to do, which may take a while.
    ToolPreparing {
        /// The tool.
        name: String,
    },
    /// A tool starts.
    ToolStarted {
        /// The call.
        call: CallId,
        /// The tool.
        name: String,
        /// The arguments, redacted for display.
        arguments: serde_json::Value,
    },
    /// A running tool prints.
    ToolOutput {
        /// The call.
        call: CallId,
        /// What it printed.
        chunk: String,
    },
    /// A running tool changed a file, and its result does not say how.
    FileChanged {
        /// The call.
        call: CallId,
        /// The change, as a unified diff.
        diff: String,
    },
    /// A tool ended.
    ToolFinished {
        /// The call.
        call: CallId,
        /// Whether it failed, or what it did.
        failed: bool,
        /// The result as the model will see it, shortened for display; of what failed, why.
        summary: String,
    },
    /// Work waits for a person.
    Ask(Question),
    /// Somebody elsewhere answered a question; nobody waits for it here any more.
    Answered {
        /// The question.
        question: QuestionId,
        /// Who answered what, in one line.
        how: String,
    },
    /// Another model or provider answers from here on.
    RouteChanged {
        /// The provider now in use.
        provider: String,
        /// The model now in use.
        model: String,
        /// Why.
        reason: String,
    },
    /// The conversation goes on under another id.
    SessionChanged {
        /// The id from here on.
        session: SessionId,
    },
    /// A call of the model ended.
    Usage {
        /// What the turn has used so far.
        turn: Usage,
        /// What this call used: how full the context is.
        call: Usage,
    },
    /// The history was shortened.
    Compacted {
        /// Tokens before.
        before: u64,
        /// Tokens after.
        after: u64,
    },
    /// Something the user should know.
    Notice {
        /// The text, with a next step where there is one.
        text: String,
    },
    /// The turn is over.
    TurnFinished {
        /// The turn.
        turn: TurnId,
        /// Why it ended.
        why: TurnEnd,
        /// What it answered behind its last calls, as it is kept: what was shown and then thrown away is no part of
        /// it. Empty when there is no answer.
        answer: String,
    },
}

/// Why a turn ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "why", rename_all = "snake_case")]
pub enum TurnEnd {
    /// The answer is complete.
    Done,
    /// The user stopped it.
    Interrupted,
    /// The iteration budget is spent.
    Budget,
    /// The model said nothing, even when it was asked again.
    Empty,
    /// It could not go on.
    Failed {
        /// What failed, in one line.
        message: String,
        /// The next step.
        hint: Option<String>,
    },
}
