//! All built-in tools at once, for whoever only tells of them.

use hermes_core::{Tool, ToolSpec};

use crate::skills;
use crate::web::{WebExtract, WebSearch};
use crate::workplace::Limits;
use crate::{
    Clarify, ExecuteCode, FileServices, FileTools, MemoryTool, Process, SessionSearch, Terminal,
    Todo,
};

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
        WebSearch::described(),
        WebExtract::described(),
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
