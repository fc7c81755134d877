//! The conversation engine: operations in, events out.
//!
//! | module | holds |
//! |---|---|
//! | `engine` | what all sessions share |
//! | `session` | one task a session, with its lanes |
//! | `turn` | the state machine of a turn, one file a step |
//! | `prompt` | the system prompt and the user's context files |
//! | `references` | what a message refers to with `@` |
//! | `toolbox`, `toolsets`, `batch` | which tools are offered, and how they are run |
//! | `compaction` | making a long history shorter |
//! | `repair`, `think` | mending what models write |
//! | `failure` | what a result says about how it went |
//! | `edits` | which files a turn changed, and whether that was checked |
//! | `helper`, `title` | calls beside the conversation |
//! | `errand` | work beside it by a model with a few tools |
//! | `learning` | looking back behind the answer for what is worth keeping |
//! | `commands` | the slash commands of every surface, and what a line means |
//! | `prefill`, `dump` | messages in front of it, and requests on file |
//!
//! A session at rest is rows in the store. Every step of a turn writes its rows before the next one
//! starts; the token of a turn reaches every model call and every tool. What a surface looks like, how a provider is
//! spoken to and what a tool does are not its business.

mod asker;
mod batch;
pub mod commands;
mod compaction;
mod dump;
mod edits;
mod engine;
mod errand;
mod explain;
mod extent;
mod failure;
mod helper;
mod host;
mod joint;
mod lane;
mod learning;
mod ledger;
pub mod personality;
mod prefill;
mod prompt;
mod references;
mod repair;
mod session;
mod think;
mod title;
mod toolbox;
pub mod toolsets;
mod turn;
mod typed;

pub use compaction::room;
pub use dump::Dumps;
pub use engine::{
    Audience, Engine, Helpers, Routes, Services, SessionFacts, SessionSpec, ToolSource,
};
pub use explain::effort_level;
pub use failure::why_failed;
pub use learning::{MERGE_TASK, Merge, Merged};
pub use ledger::entry as ledger_entry;
pub use prompt::{PromptPart, PromptQuestion, PromptSize, Tier, prompt_size};
pub use references::{Git, Pages, Starting};
pub use session::Session;
pub use turn::tokens as message_tokens;
pub use typed::EXPLAINED;
