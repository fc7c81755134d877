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
//! | `helper`, `title` | calls beside the conversation |
//!
//! A session at rest is rows in the store. Every step of a turn writes its rows before the next one
//! starts; the token of a turn reaches every model call and every tool.

mod asker;
mod batch;
mod compaction;
mod engine;
mod explain;
mod helper;
mod lane;
mod ledger;
mod prompt;
mod references;
mod repair;
mod session;
mod think;
mod title;
mod toolbox;
pub mod toolsets;
mod turn;

pub use engine::{Engine, Routes, Services, SessionFacts, SessionSpec, ToolSource};
pub use prompt::{PromptPart, PromptQuestion, PromptSize, Tier, prompt_size};
pub use session::Session;
