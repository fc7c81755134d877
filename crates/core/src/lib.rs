//! Types and seams of Hermes.
//!
//! What every other crate agrees on: ids, messages, tools, the operations and events between a front
//! end and the engine, the traits engines meet at, clock and randomness. Beside asking the machine for the time and
//! for random numbers nothing does IO, knows a vendor, or starts a task.

#![deny(missing_docs)]

mod ask;
mod clock;
mod embed;
mod failure;
mod fault;
mod form;
mod halves;
mod ids;
mod message;
mod model;
mod protocol;
mod random;
mod tool;
mod usage;

pub use ask::{Answer, AnsweredBy, Asker, Decider, Question, QuestionKind, Reach, Reply};
pub use clock::{Clock, LocalClock, ManualClock, SystemClock};
pub use embed::{Compared, EmbedError, Embedder};
pub use failure::{Failure, FailureKind, causes};
pub use fault::{caught, faults_are_caught};
pub use form::{FieldKind, FieldOption, Form, FormField, TextFormat};
pub use halves::{halves, without_halves};
pub use ids::{BadId, CallId, InboxId, MessageId, QuestionId, SessionId, TurnId};
pub use message::{Media, MediaReader, MediaSource, Message, Part, RawTurn, Role, WireProtocol};
pub use model::{
    CacheLife, Effort, FinishReason, ModelClient, ModelEvent, ModelRequest, ModelSettings,
    Patience, ToolChoice,
};
pub use protocol::{Event, Op, RunMode, TurnEnd};
pub use random::{Random, SeededRandom, SystemRandom};
pub use tool::{
    Availability, Beside, Consultation, Effect, Handling, Notice, Origin, Tool, ToolCall,
    ToolContext, ToolError, ToolHost, ToolOutcome, ToolResult, ToolSpec,
};
pub use usage::{CostStatus, Usage};
