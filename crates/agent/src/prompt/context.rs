//! The user's own files: who the agent is (`SOUL.md`), and the rules of the project it works in.

use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};

use super::{Facts, scan};

/// A file that became part of the prompt.
pub(super) struct Section {
    pub(super) text: String,
    pub(super) warnings: Vec<String>,
}

/// Files of a project, in the order they are looked for; the first one that exists counts.
const PROJECT_FILES: [&[&str]; 3] = [
    &["AGENTS.md", "agents.md"],
    &["CLAUDE.md", "claude.md"],
    &[".cursorrules"],
];
/// Our own files, which may also lie in a directory above, up to the root of the repository.
const OWN_FILES: [&str; 2] = [".hermes.md", "HERMES.md"];
/// Most characters of a hint about a subdirectory.
const MOST_OF_HINT: usize = 8_000;
/// A file longer than this is not read at all.
const MOST_BYTES: u64 = 8 * 1024 * 1024;
/// How far up from a touched file hints are looked for.
const MOST_LEVELS: usize = 5;

/// The user's description of the agent. It is their own file: planted words are only warned about.
pub(super) fn soul(home: &Path) -> Option<Section> {
    let path = home.join("SOUL.md");
    let text = read(&path)?;
    let found = scan::scan(&text).found;
    let warnings = match found.as_slice() {
        [] => Vec::new(),
        found => vec![format!(
            "{} holds {}; it is used as it is",
            path.display(),
            found.join(", ")
        )],
    };
    Some(Section { text, warnings })
}

/// The rules of the project, from the first file there is.
pub(super) fn project(facts: &Facts<'_>) -> Option<Section> {
    let limit = facts
        .config
        .context_file_max_chars
        .map_or_else(|| by_window(facts.window), |set| set as usize);
    let sources = sources(facts.directory)?;
    let mut section = Section {
        text: "These are the rules of the project you work in:".to_owned(),
        warnings: Vec::new(),
    };
    for path in sources {
        let Some(text) = read(&path) else {
            continue;
        };
        let shown = path
            .strip_prefix(facts.directory)
            .unwrap_or(&path)
            .display()
            .to_string();
        let (text, warnings) = cleaned(&path, &shown, &text, limit);
        section.text.push_str(&format!("\n\n## {shown}\n\n{text}"));
        section.warnings.extend(warnings);
    }
    Some(section)
}

/// Six percent of the window, in characters.
fn by_window(window: u32) -> usize {
    (window as usize * 4 * 6 / 100).clamp(20_000, 500_000)
}

fn sources(directory: &Path) -> Option<Vec<PathBuf>> {
    if let Some(own) = own_file(directory) {
        return Some(vec![own]);
    }
    for names in PROJECT_FILES {
        let found = names
            .iter()
            .map(|name| directory.join(name))
            .find(|path| path.is_file());
        if let Some(path) = found {
            let cursor = path.file_name().is_some_and(|name| name == ".cursorrules");
            let mut all = vec![path];
            if cursor {
                all.extend(cursor_rules(directory));
            }
            return Some(all);
        }
    }
    let rules = cursor_rules(directory);
    (!rules.is_empty()).then_some(rules)
}

/// `.hermes.md` here or above, up to the root of the repository; outside of one only here.
fn own_file(directory: &Path) -> Option<PathBuf> {
    let root = directory
        .ancestors()
        .find(|path| path.join(".git").exists());
    for level in directory.ancestors() {
        let found = OWN_FILES
            .iter()
            .map(|name| level.join(name))
            .find(|path| path.is_file());
        if found.is_some() {
            return found;
        }
        if root.is_none_or(|root| root == level) {
            return None;
        }
    }
    None
}

fn cursor_rules(directory: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(directory.join(".cursor/rules")) else {
        return Vec::new();
    };
    let mut rules: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "mdc"))
        .collect();
    rules.sort();
    rules
}

/// A file's text without its front matter, masked and cut.
fn cleaned(path: &Path, shown: &str, text: &str, limit: usize) -> (String, Vec<String>) {
    let mut warnings = Vec::new();
    let scanned = scan::scan(without_front_matter(text));
    if !scanned.found.is_empty() {
        warnings.push(format!(
            "{}: masked what looks like planted instructions ({})",
            path.display(),
            scanned.found.join(", ")
        ));
    }
    let length = scanned.text.chars().count();
    if length <= limit {
        return (scanned.text.trim().to_owned(), warnings);
    }
    warnings.push(format!(
        "{} has {length} characters; only {limit} fit and the middle was left out",
        path.display()
    ));
    let head: String = scanned.text.chars().take(limit * 7 / 10).collect();
    let tail: String = scanned.text.chars().skip(length - limit / 5).collect();
    let text = format!("{head}\n\n[The middle was left out; read {shown} for it.]\n\n{tail}");
    (text, warnings)
}

fn without_front_matter(text: &str) -> &str {
    let Some(rest) = text.strip_prefix("---\n") else {
        return text;
    };
    match rest.find("\n---\n") {
        Some(end) => rest.get(end + 5..).unwrap_or_default(),
        None => text,
    }
}

fn read(path: &Path) -> Option<String> {
    let facts = std::fs::metadata(path).ok()?;
    if !facts.is_file() || facts.len() > MOST_BYTES {
        return None;
    }
    let bytes = std::fs::read(path).ok()?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    (!text.trim().is_empty()).then_some(text)
}

/// Begins what is told about a subdirectory; a history that holds it was told already.
const HINT: &str = "[Rules for this directory, from ";

/// Directories whose rules a session was told.
#[derive(Debug, Default)]
pub(crate) struct Hints {
    told: Option<HashSet<PathBuf>>,
}

impl Hints {
    /// The rules of the directory a path lies in, for the result of the tool that touched it. The
    /// working directory itself is in the prompt already.
    pub(crate) fn about<'h>(
        &mut self,
        touched: &Path,
        directory: &Path,
        history: impl FnOnce() -> Box<dyn Iterator<Item = &'h str> + 'h>,
    ) -> Option<String> {
        let whole = directory.join(touched);
        let start = if whole.is_dir() {
            whole.as_path()
        } else {
            whole.parent()?
        };
        let below = start.strip_prefix(directory).ok()?;
        if below
            .components()
            .any(|part| !matches!(part, Component::Normal(_)))
        {
            return None;
        }
        let told = self
            .told
            .get_or_insert_with(|| told_in(history(), directory));
        let mut out = String::new();
        let levels: Vec<&Path> = start
            .ancestors()
            .take(MOST_LEVELS)
            .take_while(|level| *level != directory)
            .collect();
        for level in levels.into_iter().rev() {
            if !told.insert(level.to_owned()) {
                continue;
            }
            let found = PROJECT_FILES
                .iter()
                .flat_map(|names| names.iter())
                .map(|name| level.join(name))
                .find(|path| path.is_file());
            let Some((path, text)) = found.and_then(|path| Some((path.clone(), read(&path)?)))
            else {
                continue;
            };
            let shown = path
                .strip_prefix(directory)
                .unwrap_or(&path)
                .display()
                .to_string();
            let (text, _) = cleaned(&path, &shown, &text, MOST_OF_HINT);
            out.push_str(&format!("\n\n{HINT}{shown}:]\n{text}"));
        }
        (!out.is_empty()).then_some(out)
    }
}

fn told_in<'h>(texts: impl Iterator<Item = &'h str>, directory: &Path) -> HashSet<PathBuf> {
    texts
        .flat_map(str::lines)
        .filter_map(|line| line.strip_prefix(HINT)?.strip_suffix(":]"))
        .filter_map(|file| Some(directory.join(file).parent()?.to_owned()))
        .collect()
}

#[cfg(test)]
#[path = "context_tests.rs"]
mod tests;
