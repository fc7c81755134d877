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
//! | `edits` | which files a turn changed, and whether that was checked |
//! | `helper`, `title` | calls beside the conversation |
//! | `commands` | the slash commands of every surface, and what a line means |
//! | `prefill`, `dump` | messages in front of it, and requests on file |
//!
//! A session at rest is rows in the store. Every step of a turn writes its rows before the next one
//! starts; the token of a turn reaches every model call and every tool.

mod asker;
mod batch;
pub mod commands;
mod compaction;
mod dump;
mod edits;
mod engine;
mod explain;
mod helper;
mod host;
mod lane;
mod ledger;
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

pub use dump::Dumps;
pub use engine::{Engine, Helpers, Routes, Services, SessionFacts, SessionSpec, ToolSource};
pub use ledger::entry as ledger_entry;
pub use prompt::{PromptPart, PromptQuestion, PromptSize, Tier, prompt_size};
pub use references::Pages;
pub use session::Session;
