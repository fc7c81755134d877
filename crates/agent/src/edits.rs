//! What a turn did to files, read from its calls and their results: which code was changed and not
//! checked since, and which edits came to nothing.

use std::collections::HashMap;
use std::path::Path;

use hermes_core::{CallId, Message, Part, ToolCall};

use crate::batch::present::says_failed;

/// Tools that change files.
const EDITORS: [&str; 2] = ["write_file", "patch"];
/// Tools that run something.
pub(crate) const RUNNERS: [&str; 2] = ["terminal", "execute_code"];
/// Programs that only look around or move things: running them checks nothing.
const LOOKERS: [&str; 24] = [
    "ls", "cat", "cd", "pwd", "echo", "git", "grep", "rg", "find", "head", "tail", "less", "wc",
    "tree", "stat", "file", "which", "mkdir", "touch", "cp", "mv", "rm", "sed", "awk",
];
/// Files that are read, not run: there is nothing to check about them.
const PROSE: [&str; 21] = [
    "md", "mdx", "rst", "txt", "adoc", "tex", "csv", "tsv", "json", "jsonl", "yaml", "yml", "toml",
    "ini", "xml", "svg", "html", "log", "lock", "pdf", "env",
];
/// The same, by the beginning of their names.
const PAPERS: [&str; 6] = [
    "license",
    "licence",
    "copying",
    "notice",
    "authors",
    "changelog",
];
/// Lines of a patch that name a file.
const NAMED: [&str; 3] = ["*** Update File: ", "*** Add File: ", "*** Delete File: "];

/// What became of the files a turn touched.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Edits {
    /// Code that was changed, with nothing run since that could have shown a mistake.
    pub(crate) unchecked: Vec<String>,
    /// Files whose last edit failed.
    pub(crate) failed: Vec<String>,
}

/// Reads the messages of a turn, in order.
pub(crate) fn review<'a>(turn: impl Iterator<Item = &'a Message>) -> Edits {
    let mut open: HashMap<&CallId, &ToolCall> = HashMap::new();
    let mut edits = Edits::default();
    for part in turn.flat_map(|message| &message.parts) {
        match part {
            Part::ToolCall(call) => {
                open.insert(&call.id, call);
            }
            Part::ToolResult {
                call,
                content,
                failed,
                ..
            } => {
                if let Some(call) = open.remove(call) {
                    edits.take(call, *failed || says_failed(content));
                }
            }
            Part::Text { .. } | Part::Reasoning { .. } | Part::Media(_) => {}
        }
    }
    edits
}

impl Edits {
    fn take(&mut self, call: &ToolCall, failed: bool) {
        if EDITORS.contains(&call.name.as_str()) {
            for path in paths(call) {
                self.failed.retain(|known| *known != path);
                if failed {
                    self.failed.push(path);
                } else if is_code(&path) && !self.unchecked.contains(&path) {
                    self.unchecked.push(path);
                }
            }
        } else if RUNNERS.contains(&call.name.as_str()) && !failed && is_check(call) {
            self.unchecked.clear();
        }
    }
}

fn paths(call: &ToolCall) -> Vec<String> {
    let argument = |name: &str| call.arguments.get(name)?.as_str();
    let named = argument("patch").unwrap_or_default().lines();
    let named = named.filter_map(|line| NAMED.iter().find_map(|label| line.strip_prefix(label)));
    argument("path")
        .into_iter()
        .chain(named)
        .map(|path| path.trim().to_owned())
        .collect()
}

fn is_code(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    let path = Path::new(&lower);
    let name = path.file_name().and_then(|name| name.to_str());
    let ending = path.extension().and_then(|ending| ending.to_str());
    let paper = name.is_some_and(|name| PAPERS.iter().any(|paper| name.starts_with(paper)));
    !paper && !ending.is_some_and(|ending| PROSE.contains(&ending))
}

/// Whether a run could have shown a mistake: it did more than look.
fn is_check(call: &ToolCall) -> bool {
    let Some(command) = call.arguments.get("command").and_then(|it| it.as_str()) else {
        // A program of the model's own.
        return call.name != "terminal";
    };
    command
        .split(['\n', ';', '|', '&'])
        .filter_map(|part| part.split_whitespace().next())
        .any(|program| {
            let name = program.rsplit('/').next().unwrap_or(program);
            !LOOKERS.contains(&name)
        })
}

#[cfg(test)]
mod tests {
    use hermes_core::Role;
    use serde_json::{Value as Json, json};

    use super::*;

    fn done(calls: &[(&str, Json, &str, bool)]) -> Edits {
        let messages: Vec<Message> = calls
            .iter()
            .enumerate()
            .map(|(at, (name, arguments, content, failed))| {
                let id = CallId(at.to_string());
                let (name, failed) = ((*name).to_owned(), *failed);
                Message {
                    role: Role::Tool,
                    parts: vec![
                        Part::ToolCall(ToolCall {
                            id: id.clone(),
                            name: name.clone(),
                            arguments: arguments.clone(),
                        }),
                        Part::ToolResult {
                            call: id,
                            name,
                            content: (*content).to_owned(),
                            failed,
                        },
                    ],
                    raw: None,
                }
            })
            .collect();
        review(messages.iter())
    }

    fn write(path: &str, failed: bool) -> (&'static str, Json, &'static str, bool) {
        ("write_file", json!({"path": path}), "written", failed)
    }

    fn run(command: &str, result: &'static str) -> (&'static str, Json, &'static str, bool) {
        ("terminal", json!({"command": command}), result, false)
    }

    #[test]
    fn code_counts_until_something_ran_without_a_mistake() {
        assert_eq!(done(&[write("src/a.rs", false)]).unchecked, ["src/a.rs"]);
        for (command, result, unchecked) in [
            ("cargo test", "ok", 0),
            ("cd sub && ./check.sh", r#"{"output":"","exit_code":0}"#, 0),
            ("cargo test", r#"{"output":"","exit_code":101}"#, 1),
            ("git diff | cat", "a diff", 1),
            ("/bin/ls -l; pwd", "files", 1),
        ] {
            let edits = done(&[write("a.py", false), run(command, result)]);
            assert_eq!(edits.unchecked.len(), unchecked, "{command} {result}");
        }
        let later = done(&[run("cargo test", "ok"), write("a.rs", false)]);
        assert_eq!(later.unchecked, ["a.rs"], "a check of what came before");
    }

    #[test]
    fn prose_and_papers_need_no_check_and_a_patch_names_its_files() {
        let prose = ["README.md", "data.JSON", "LICENSE", "CHANGELOG"];
        for path in prose {
            assert_eq!(done(&[write(path, false)]), Edits::default(), "{path}");
        }
        let patch = "*** Begin Patch\n*** Update File: src/a.rs\n@@\n*** Add File: notes.md\n";
        let edits = done(&[("patch", json!({"patch": patch}), "done", false)]);
        assert_eq!(edits.unchecked, ["src/a.rs"]);
    }

    #[test]
    fn a_failed_edit_is_forgotten_once_it_worked() {
        let edits = done(&[
            write("a.rs", true),
            write("b.rs", true),
            write("a.rs", false),
        ]);
        assert_eq!(edits.failed, ["b.rs"]);
        assert_eq!(edits.unchecked, ["a.rs"]);
    }
}
