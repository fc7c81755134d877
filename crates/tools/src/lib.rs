//! The built-in tools.
//!
//! A tool reads its arguments into a struct of its own, does one thing and answers in words. Deadlines,
//! size limits, approvals and retries belong to the engine.

mod arguments;
mod checkpoints;
mod clarify;
mod code;
mod edit;
mod files;
mod guard;
mod patch;
mod process;
mod read_file;
mod search_files;
mod terminal;
pub mod texts;
mod todo;
mod workplace;
mod write_file;

use hermes_core::{Tool, ToolSpec};

pub use checkpoints::{
    CheckpointError, CheckpointSettings, Checkpoints, ProjectStatus, Pruned, Restored, Snapshot,
    Status,
};
pub use clarify::Clarify;
pub use code::{CodeSettings, ExecuteCode};
pub use files::{FileLimits, FileRegistry, FileSandbox, FileServices, FileTools};
pub use guard::{Guard, GuardSettings, Remembers, Tirith};
pub use process::Process;
pub use terminal::Terminal;
pub use todo::Todo;
pub use workplace::{Confined, Defined, LazyConfined, Limits, Sudo, Workplace};

/// What the model is told of all built-in tools.
pub fn specs() -> Vec<ToolSpec> {
    let mut specs = vec![
        Clarify::new().spec().clone(),
        Todo::from_history(&[]).spec().clone(),
        Terminal::described(Limits::default()),
        Process::described(),
        ExecuteCode::described(),
    ];
    let files = FileTools::new(FileServices::default()).tools();
    specs.extend(files.iter().map(|tool| tool.spec().clone()));
    specs
}
