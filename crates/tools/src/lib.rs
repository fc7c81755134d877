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
mod lsp;
mod memory;
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

use hermes_core::{Origin, Tool, ToolContext, ToolSpec};
use hermes_store::JournalOrigin;

pub use hermes_exec::guidance::NOT_AN_ERROR;

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
    ApproveSkillError, Seen, SkillCaller, SkillServices, StagedSkill, approve_skill, skill_diff,
    skill_tools,
};
pub use staging::{Staged, Staging, StagingError, Subsystem, ToStage};
pub use stopwatch::Stopwatch;
pub use terminal::{DisabledTerminal, Terminal};
pub use todo::Todo;
pub use web::{Reach, WebReach, WebServices, web_tools};
pub use workplace::{Behind, Confined, Defined, LazyConfined, Limits, Sudo, Workplace};

/// Who a change is written down for.
fn origin(context: &ToolContext) -> JournalOrigin {
    match context.origin {
        Origin::Conversation => JournalOrigin::Foreground,
        Origin::Review => JournalOrigin::BackgroundReview,
        Origin::Curator => JournalOrigin::Curator,
    }
}

/// What the built-in tools are called, sorted, without making any of them.
pub fn names() -> &'static [&'static str] {
    &[
        "clarify",
        "execute_code",
        "memory",
        "patch",
        "process",
        "read_file",
        "search_files",
        "session_search",
        "skill_manage",
        "skill_view",
        "skills_list",
        "terminal",
        "todo",
        "web_extract",
        "web_search",
        "write_file",
    ]
}

/// What the model is told of all built-in tools.
pub fn specs() -> Vec<ToolSpec> {
    let mut specs = vec![
        Clarify::new().spec().clone(),
        Todo::from_history(&[]).spec().clone(),
        Terminal::described(Limits::default()),
        Process::described(),
        ExecuteCode::described(),
        MemoryTool::described(),
        SessionSearch::described(),
        web::WebSearch::described(),
        web::WebExtract::described(),
    ];
    specs.extend(skills::described());
    let files = FileTools::new(FileServices::default()).tools();
    specs.extend(files.iter().map(|tool| tool.spec().clone()));
    specs
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_list_of_names_is_that_of_the_tools() {
        let specs = super::specs().into_iter();
        let mut names: Vec<String> = specs.map(|spec| spec.name).collect();
        names.sort_unstable();
        assert_eq!(names, super::names());
    }
}
