//! The built-in tools.
//!
//! A tool reads its arguments into a struct of its own, does one thing and answers in words. Deadlines,
//! size limits, approvals and retries belong to the engine; starting processes and moving bytes to `exec`,
//! rules about what may be done to `policy`.

mod arguments;
mod built_in;
mod checkpoints;
mod clarify;
mod code;
mod edit;
mod files;
mod guard;
mod lsp;
mod memory;
mod origin;
mod patch;
mod process;
mod read_file;
mod search_files;
mod session_search;
mod skills;
mod staging;
mod stopwatch;
mod terminal;
pub mod texts;
mod todo;
mod web;
mod workplace;
mod write_file;

pub use hermes_exec::guidance::NOT_AN_ERROR;

pub use built_in::{names, specs};
pub use checkpoints::{
    CheckpointError, CheckpointSettings, Checkpoints, ProjectStatus, Pruned, Restored, Snapshot,
    Status,
};
pub use clarify::Clarify;
pub use code::{CodeSettings, ExecuteCode};
pub use files::{FileLimits, FileRegistry, FileSandbox, FileServices, FileTools};
pub use guard::{Guard, GuardSettings, Remembers, Tirith};
pub use lsp::{Diagnostics, Extent, FindProgram, LanguageServers, LspSettings, OwnServer};
pub use memory::{
    ApproveError, Marks, MemoryCaller, MemoryServices, MemoryTool, StagedChange, approve_memory,
};
pub use process::Process;
pub use session_search::{
    FillError, Filled, Neighbour, SearchServices, SessionSearch, fill_embeddings,
};
pub use skills::{
    ApproveSkillError, Person, Seen, SkillCaller, SkillServices, StagedSkill, approve_skill, equip,
    skill_diff, skill_tools,
};
pub use staging::{Staged, Staging, StagingError, Subsystem, ToStage};
pub use stopwatch::Stopwatch;
pub use terminal::{DisabledTerminal, Terminal};
pub use todo::Todo;
pub use web::{Reach, WebReach, WebServices, web_tools};
pub use workplace::{Behind, Confined, Defined, LazyConfined, Limits, Sudo, Workplace};
