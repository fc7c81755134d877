//! All rules over all files of a skill.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::report::{Finding, Report};
use super::rule::{Category, Looks, Rule, Severity};
use super::rules::{self, Rules};
use super::text::{self, Kind, Line};
use super::{invisible, python, structure};
use crate::skill::Skill;

/// The version of the rules: a report of another one is made anew.
pub const SCANNER: &str = "skills-guard-v1";
/// Larger files are not read.
pub const LARGEST_READ: u64 = 16 * 1024 * 1024;
/// Most files that are looked at.
const MOST_ENTRIES: usize = 2_000;
/// How deep directories are followed.
const DEEPEST: usize = 16;
/// Most findings of one rule and weight in one file; more say nothing more.
const MOST_ALIKE: usize = 10;
/// Most of those that a person accepts line by line, so that each of them has to be there. What goes beyond is more
/// than anybody reads, and accepted by nobody.
const MOST_ACCEPTED: usize = 1_000;
const SKILL_FILE: &str = "SKILL.md";

/// A file of a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry<'b> {
    /// Its path from the skill's directory, with slashes.
    pub path: String,
    pub content: Content<'b>,
}

/// What stands at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content<'b> {
    File {
        bytes: &'b [u8],
        executable: bool,
    },
    Link {
        /// Whether it leads out of the skill.
        escapes: bool,
    },
    /// A file that is too large to be read.
    Unread {
        size: u64,
    },
}

impl Content<'_> {
    pub(super) fn size(&self) -> u64 {
        match self {
            Self::File { bytes, .. } => bytes.len() as u64,
            Self::Link { .. } => 0,
            Self::Unread { size } => *size,
        }
    }
}

/// How closely is looked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// By the rules.
    Usual,
    /// Also at how Python reaches for names.
    Deep,
}

/// Why a skill could not be looked at.
#[derive(Debug, thiserror::Error)]
pub enum ScanError {
    #[error("{} cannot be read", path.display())]
    File {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("{} holds more than {MOST_ENTRIES} files or {DEEPEST} levels of directories", path.display())]
    TooMuch { path: PathBuf },
    #[error("the rules of the guard cannot be compiled")]
    Rules,
}

/// Looks at files that were read already.
pub fn scan(entries: &[Entry<'_>], depth: Depth) -> Result<Report, ScanError> {
    let rules = rules::compiled().ok_or(ScanError::Rules)?;
    let declared = declared(entries);
    let mut findings = structure::look(entries);
    for entry in entries {
        if let Content::File { bytes, .. } = &entry.content {
            let reading = text::read(bytes);
            for words in &reading.words {
                findings.extend(broken(rules, &entry.path, words, &declared));
            }
            // In what is no text such characters are chance.
            if let (true, Some(words)) = (reading.legible, reading.words.first()) {
                findings.extend(hidden(&entry.path, words));
            }
            if depth == Depth::Deep && entry.path.ends_with(".py") {
                let all = reading.words.iter();
                findings.extend(all.flat_map(|words| python::look(&entry.path, words)));
            }
        }
    }
    Ok(Report::new(findings))
}

/// The rules that the lines of a file break.
fn broken(rules: &Rules, path: &str, words: &str, declared: &BTreeSet<String>) -> Vec<Finding> {
    let kind = Kind::of(path);
    let mut kept = Kept::default();
    for line in text::lines(words, kind) {
        for rule in rules.broken_by(&line.text) {
            if rule.looks == Looks::InMarkdown && kind != Kind::Markdown {
                continue;
            }
            let severity = weight(rule, &line, declared);
            kept.add(rule.id, severity, path, || {
                let place = rules::place(rule, &line.text);
                let about = (rule.id, rule.category, severity);
                Finding::of_line(about, path, line.number, &line.text, place)
            });
        }
    }
    kept.findings
}

/// Findings of one file, of which as many alike are kept as can matter. Those of another weight count by themselves:
/// ten that weigh little must not hide one that weighs much.
#[derive(Default)]
struct Kept {
    findings: Vec<Finding>,
    alike: BTreeMap<(&'static str, Severity), usize>,
}

impl Kept {
    fn add(
        &mut self,
        id: &'static str,
        severity: Severity,
        path: &str,
        finding: impl FnOnce() -> Finding,
    ) {
        let seen = self.alike.entry((id, severity)).or_default();
        *seen += 1;
        let most = match severity {
            Severity::High => MOST_ACCEPTED,
            Severity::Critical | Severity::Medium | Severity::Low => MOST_ALIKE,
        };
        if *seen <= most {
            self.findings.push(finding());
        } else if severity == Severity::High && *seen == most + 1 {
            let what = format!("more than {most} lines that break {id}");
            let about = ("too_many_findings", Severity::Critical);
            self.findings
                .push(Finding::of_file(about, path, &what, String::new()));
        }
    }
}

/// How much a line that breaks a rule weighs where it stands.
fn weight(rule: &Rule, line: &Line, declared: &BTreeSet<String>) -> Severity {
    let mut severity = rule.severity;
    if line.fenced && rule.category.is_milder_in_fences() {
        severity = severity.lowered();
    }
    // A skill that says openly which key it needs may read that key.
    if rule.reads_variable && reads_only(&line.text, declared) {
        severity = severity.min(Severity::Medium);
    }
    severity
}

/// Whether every name of a secret in a line is one the skill asks for.
fn reads_only(line: &str, declared: &BTreeSet<String>) -> bool {
    const MARKS: [&str; 5] = ["KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL"];
    let mut names = line
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .filter(|word| !word.chars().any(|c| c.is_ascii_lowercase()))
        .filter(|word| MARKS.iter().any(|mark| word.contains(mark)))
        .peekable();
    names.peek().is_some() && names.all(|name| declared.contains(name))
}

/// The variables the skill asks for.
fn declared(entries: &[Entry<'_>]) -> BTreeSet<String> {
    let main = entries.iter().find(|entry| entry.path == SKILL_FILE);
    let Some(Content::File { bytes, .. }) = main.map(|entry| &entry.content) else {
        return BTreeSet::new();
    };
    let skill = Skill::parse(&String::from_utf8_lossy(bytes), "");
    let variables = skill.required_variables.into_iter();
    variables
        .map(|variable| variable.name.to_string())
        .collect()
}

/// Lines with characters nobody sees.
fn hidden(path: &str, text: &str) -> Vec<Finding> {
    if text.is_ascii() {
        return Vec::new();
    }
    let (id, severity) = ("invisible_unicode", Severity::High);
    let mut kept = Kept::default();
    for (number, line) in (1_u32..).zip(text.lines()) {
        let Some(character) = invisible::hidden(line, number == 1) else {
            continue;
        };
        kept.add(id, severity, path, || {
            let about = (id, Category::Injection, severity);
            let mut finding = Finding::of_line(about, path, number, line, None);
            finding.excerpt = format!(
                "a character nobody sees (U+{:04X}) in: {}",
                u32::from(character),
                finding.excerpt
            );
            finding
        });
    }
    kept.findings
}

/// Looks at a directory as it is on the disk. Links are named, never followed out of it.
pub fn scan_directory(root: &Path, depth: Depth) -> Result<Report, ScanError> {
    let mut files = Vec::new();
    walk(root, root, 0, &mut files)?;
    let entries: Vec<Entry<'_>> = files
        .iter()
        .map(|(path, found)| Entry {
            path: path.clone(),
            content: match found {
                Found::File { bytes, executable } => Content::File {
                    bytes,
                    executable: *executable,
                },
                Found::Link { escapes } => Content::Link { escapes: *escapes },
                Found::Unread { size } => Content::Unread { size: *size },
            },
        })
        .collect();
    scan(&entries, depth)
}

enum Found {
    File { bytes: Vec<u8>, executable: bool },
    Link { escapes: bool },
    Unread { size: u64 },
}

fn walk(
    root: &Path,
    directory: &Path,
    level: usize,
    files: &mut Vec<(String, Found)>,
) -> Result<(), ScanError> {
    let failed = |path: &Path, source| ScanError::File {
        path: path.to_owned(),
        source,
    };
    let listed = fs::read_dir(directory).map_err(|source| failed(directory, source))?;
    let mut paths = listed
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<io::Result<Vec<_>>>()
        .map_err(|source| failed(directory, source))?;
    paths.sort();
    for path in paths {
        if files.len() >= MOST_ENTRIES || level >= DEEPEST {
            return Err(ScanError::TooMuch {
                path: root.to_owned(),
            });
        }
        let shown = path.strip_prefix(root).unwrap_or(&path);
        let name = shown.to_string_lossy().replace('\\', "/");
        let about = fs::symlink_metadata(&path).map_err(|source| failed(&path, source))?;
        if about.is_symlink() {
            files.push((
                name,
                Found::Link {
                    escapes: escapes(root, &path),
                },
            ));
        } else if about.is_dir() {
            walk(root, &path, level + 1, files)?;
        } else if about.is_file() && about.len() <= LARGEST_READ {
            let bytes = fs::read(&path).map_err(|source| failed(&path, source))?;
            let executable = about.permissions().mode() & 0o111 != 0;
            files.push((name, Found::File { bytes, executable }));
        } else {
            files.push((name, Found::Unread { size: about.len() }));
        }
    }
    Ok(())
}

/// Whether a link leads out of the skill; one that leads nowhere may do so tomorrow.
fn escapes(root: &Path, link: &Path) -> bool {
    match (root.canonicalize(), link.canonicalize()) {
        (Ok(root), Ok(target)) => !target.starts_with(root),
        (Err(_), _) | (_, Err(_)) => true,
    }
}
