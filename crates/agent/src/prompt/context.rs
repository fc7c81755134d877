//! The user's own files: who the agent is (`SOUL.md`), and the rules of the project it works in.

use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};

use super::inside::{self, Project};
use super::{Facts, scan};
use crate::extent::SHORT_BELOW;

/// What files of the user add to the prompt, if anything.
#[derive(Default)]
pub(super) struct Section {
    pub(super) text: String,
    pub(super) warnings: Vec<String>,
}

/// Files of a project, in the order they are looked for; the first one that says something counts.
const PROJECT_FILES: [&str; 4] = ["AGENTS.md", "agents.md", "CLAUDE.md", "claude.md"];
/// What another program reads along with a folder of rules, behind them.
const CURSOR_FILE: &str = ".cursorrules";
/// Our own files, which may also lie in a directory above, up to the root of the repository.
const OWN_FILES: [&str; 2] = [".hermes.md", "HERMES.md"];
/// Most characters of a hint about a subdirectory.
const MOST_OF_HINT: usize = 8_000;
/// Most files that are read together.
const MOST_FILES: usize = 100;
/// How far up from a touched file hints are looked for.
const MOST_LEVELS: usize = 5;

/// The user's description of the agent. It is their own file: planted words are only warned about.
pub(super) fn soul(facts: &Facts<'_>) -> Section {
    let path = facts.home.join("SOUL.md");
    let mut warnings = Vec::new();
    let text = inside::own(&path, &mut warnings).unwrap_or_default();
    let shown = path.display().to_string();
    let (text, about) = cut(&path, &shown, &text, limit(facts));
    warnings.extend(about);
    let found = scan::scan(&text).found;
    if !found.is_empty() {
        warnings.push(format!(
            "{} holds {}; it is used as it is",
            path.display(),
            found.join(", ")
        ));
    }
    Section { text, warnings }
}

/// The rules of the project, from the first file that says something.
pub(super) fn project(facts: &Facts<'_>) -> Section {
    let limit = limit(facts);
    let mut warnings = Vec::new();
    let project = Project {
        directory: facts.directory,
        home: facts.home,
        rules: facts.rules,
    };
    for sources in sources(project) {
        let mut rules = String::new();
        // Files that are read together share the room that there is for one.
        let mut left = limit;
        for (number, path) in sources.iter().enumerate() {
            if left == 0 || number == MOST_FILES {
                warnings.push(format!(
                    "{} and what comes behind it ({} files in all) is left out: there is room for {limit} \
                     characters in {MOST_FILES} files",
                    path.display(),
                    sources.len() - number
                ));
                break;
            }
            let Some(text) = read_rules(path, project, &mut warnings) else {
                continue;
            };
            let shown = path
                .strip_prefix(facts.directory)
                .unwrap_or(path)
                .display()
                .to_string();
            let (text, about) = cleaned(path, &shown, &text, left);
            left = left.saturating_sub(text.chars().count());
            rules.push_str(&format!("\n\n## {shown}\n\n{text}"));
            warnings.extend(about);
        }
        if !rules.is_empty() {
            let text = format!("These are the rules of the project you work in:{rules}");
            return Section { text, warnings };
        }
    }
    Section {
        text: String::new(),
        warnings,
    }
}

/// Most characters of what the user has to say in one place.
fn limit(facts: &Facts<'_>) -> usize {
    let set = facts.config.context_file_max_chars;
    set.map_or_else(|| by_window(facts.window), |set| set as usize)
}

/// Six percent of the window, in characters. Where the window is small they are not made more than that.
fn by_window(window: u32) -> usize {
    let least = match window < SHORT_BELOW {
        true => 1_000,
        false => 20_000,
    };
    (window as usize * 4 * 6 / 100).clamp(least, 500_000)
}

/// The files that may hold rules, those that are read together in one list, the most important first.
fn sources(project: Project<'_>) -> Vec<Vec<PathBuf>> {
    let directory = project.directory;
    let single = own_files(project)
        .into_iter()
        .chain(PROJECT_FILES.map(|name| directory.join(name)));
    let mut sources: Vec<Vec<PathBuf>> = single.map(|path| vec![path]).collect();
    let cursor = std::iter::once(directory.join(CURSOR_FILE));
    sources.push(cursor.chain(cursor_rules(directory)).collect());
    sources
}

/// `.hermes.md` here and above, up to the root of the repository; outside of one only here.
fn own_files(project: Project<'_>) -> Vec<PathBuf> {
    let root = project.root();
    project
        .directory
        .ancestors()
        .take_while(|level| level.starts_with(root))
        .flat_map(|level| OWN_FILES.map(|name| level.join(name)))
        .collect()
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

/// Rules, masked and cut.
fn cleaned(path: &Path, shown: &str, text: &str, limit: usize) -> (String, Vec<String>) {
    let mut warnings = Vec::new();
    let scanned = scan::scan(text);
    if !scanned.found.is_empty() {
        warnings.push(format!(
            "{}: masked what looks like planted instructions ({})",
            path.display(),
            scanned.found.join(", ")
        ));
    }
    let (text, about) = cut(path, shown, &scanned.text, limit);
    warnings.extend(about);
    (text, warnings)
}

/// The text without its middle where it is too long, and a warning about that.
fn cut(path: &Path, shown: &str, text: &str, limit: usize) -> (String, Option<String>) {
    let length = text.chars().count();
    if length <= limit {
        return (text.trim().to_owned(), None);
    }
    let warning = format!(
        "{} has {length} characters; only {limit} fit and the middle was left out",
        path.display()
    );
    let head: String = text.chars().take(limit * 7 / 10).collect();
    let tail: String = text.chars().skip(length - limit / 5).collect();
    let text = format!("{head}\n\n[The middle was left out; read {shown} for it.]\n\n{tail}");
    (text, Some(warning))
}

/// What stands behind the front matter, whose lines may end in either way.
fn without_front_matter(text: &str) -> &str {
    let mut end = 0;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        end += line.len();
        match (number, line.trim_end() == "---") {
            (0, false) => return text,
            (0, true) | (_, false) => {}
            (_, true) => return text.get(end..).unwrap_or_default(),
        }
    }
    text
}

/// The text of a file of rules without its front matter, if it says anything.
fn read_rules(path: &Path, project: Project<'_>, warnings: &mut Vec<String>) -> Option<String> {
    let text = project.read(path, warnings)?;
    let rules = without_front_matter(&text);
    (!rules.trim().is_empty()).then(|| rules.to_owned())
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
        project: Project<'_>,
        history: impl FnOnce() -> Box<dyn Iterator<Item = &'h str> + 'h>,
    ) -> Option<String> {
        let directory = project.directory;
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
            // A result is no place for warnings; whoever opens the directory itself gets them.
            let mut unread = Vec::new();
            let found = PROJECT_FILES
                .iter()
                .chain([&CURSOR_FILE])
                .map(|name| level.join(name))
                .find_map(|path| Some((read_rules(&path, project, &mut unread)?, path)));
            let Some((text, path)) = found else {
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
