//! What could be meant by a word that is being written.

use std::path::Path;

use hermes_agent::commands::all;
use hermes_tui::composer::complete::{Candidate, CommandEntry, Request, Subject};

use crate::commands::chat::commands::Place;

/// Entries of a directory that are looked at.
const MOST_ENTRIES: usize = 2_000;
/// What can be referred to besides files.
const REFERENCES: [(&str, &str); 6] = [
    ("@file:", "a file, or some of its lines: @file:PATH:10-25"),
    ("@folder:", "what is in a folder"),
    ("@diff", "what changed since the last commit"),
    ("@staged", "what is ready to be committed"),
    ("@git:", "the last commits: @git:3"),
    ("@url:", "a page"),
];

/// The commands of a terminal.
pub(super) fn commands() -> Vec<CommandEntry> {
    all()
        .filter(|command| Place::Screen.has(command))
        .map(|command| CommandEntry {
            name: command.name.to_owned(),
            aliases: command.aliases.iter().map(ToString::to_string).collect(),
            hint: command.hint.to_owned(),
            about: command.about.to_owned(),
            arguments: command.arguments.iter().map(ToString::to_string).collect(),
            asks: command.dynamic,
        })
        .collect()
}

/// Candidates for a word. Looks at the disk.
pub(super) fn candidates(request: &Request, directory: &Path) -> Vec<Candidate> {
    match &request.subject {
        Subject::Path => files("", &request.typed, directory),
        Subject::Reference => {
            let typed = request.typed.as_str();
            for start in ["@file:", "@folder:"] {
                if let Some(path) = typed.strip_prefix(start) {
                    return files(start, path, directory);
                }
            }
            let known = REFERENCES
                .iter()
                .map(|(value, about)| Candidate::new(*value, *about));
            let named = files("@file:", typed.trim_start_matches('@'), directory);
            known.chain(named).collect()
        }
        Subject::Argument { .. } | Subject::Command => Vec::new(),
    }
}

/// Files whose path begins as it is written; `before` stands in front of each.
fn files(before: &str, typed: &str, directory: &Path) -> Vec<Candidate> {
    let (folder, _) = typed
        .rsplit_once('/')
        .map_or(("", typed), |(folder, name)| (folder, name));
    let (shown, place) = match folder {
        "" if typed.starts_with('/') => ("/".to_owned(), Path::new("/").to_owned()),
        "" => (String::new(), directory.to_owned()),
        folder => (format!("{folder}/"), directory.join(folder)),
    };
    let Ok(entries) = std::fs::read_dir(place) else {
        return Vec::new();
    };
    let mut found: Vec<Candidate> = entries
        .take(MOST_ENTRIES)
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let is_folder = entry.path().is_dir();
            let end = if is_folder { "/" } else { "" };
            let about = if is_folder { "folder" } else { "" };
            Some(Candidate::new(format!("{before}{shown}{name}{end}"), about))
        })
        .collect();
    found.sort_by(|one, other| one.value.cmp(&other.value));
    found
}
