//! The files beside a `SKILL.md`.

use std::fs;
use std::io::Read as _;
use std::path::{Component, Path};

use super::ViewError;
use crate::library::{SUPPORT, is_text};

/// Most files that are listed.
const MOST: usize = 200;
const DEEPEST: usize = 6;
/// Most bytes of a file that is read.
const LARGEST: u64 = 1024 * 1024;

/// The files of a skill by the directory they lie in, each with its path from the skill's directory.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Linked {
    pub references: Vec<String>,
    pub templates: Vec<String>,
    pub assets: Vec<String>,
    pub scripts: Vec<String>,
}

/// A file of a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileText {
    /// Its path from the skill's directory.
    pub path: String,
    /// Its ending, such as `.md`.
    pub kind: String,
    /// What it says; nothing when it is no text.
    pub text: Option<String>,
    pub bytes: u64,
}

impl Linked {
    pub(crate) fn of(directory: &Path) -> Self {
        let mut left = MOST;
        let mut listed = |name: &str| {
            let mut found = Vec::new();
            list(directory, name, 0, &mut left, &mut found);
            found
        };
        Self {
            references: listed("references"),
            templates: listed("templates"),
            assets: listed("assets"),
            scripts: listed("scripts"),
        }
    }

    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = &String> {
        let [references, templates, assets, scripts] = [
            &self.references,
            &self.templates,
            &self.assets,
            &self.scripts,
        ];
        references
            .iter()
            .chain(templates)
            .chain(assets)
            .chain(scripts)
    }
}

fn list(root: &Path, below: &str, depth: usize, left: &mut usize, found: &mut Vec<String>) {
    // A link may lead out of the skill, where not even names are anybody's business.
    let is_directory = fs::symlink_metadata(root.join(below)).is_ok_and(|facts| facts.is_dir());
    if !is_directory {
        return;
    }
    let mut names: Vec<String> = fs::read_dir(root.join(below))
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| !name.starts_with('.'))
        .collect();
    names.sort();
    for name in names {
        let path = format!("{below}/{name}");
        let facts = fs::symlink_metadata(root.join(&path));
        let Ok(facts) = facts else { continue };
        if facts.is_dir() && depth < DEEPEST {
            list(root, &path, depth + 1, left, found);
        } else if !facts.is_dir() && *left > 0 {
            *left -= 1;
            found.push(path);
        }
    }
}

/// Reads a file below the directory of a skill, links followed only as far as they stay inside.
pub(super) fn read(directory: &Path, path: &str) -> Result<FileText, ViewError> {
    let outside = || ViewError::Outside {
        path: path.to_owned(),
    };
    if !is_plain(path) {
        return Err(outside());
    }
    let missing = || ViewError::NoFile {
        path: path.to_owned(),
        available: Linked::of(directory).all().cloned().collect(),
    };
    let root = directory.canonicalize().map_err(|_| missing())?;
    let real = directory.join(path).canonicalize().map_err(|_| missing())?;
    if !real.starts_with(&root) || hidden_below(&root, &real) {
        return Err(outside());
    }
    let facts = fs::metadata(&real).map_err(|_| missing())?;
    if !facts.is_file() {
        return Err(missing());
    }
    let kind = real.extension().and_then(|ending| ending.to_str());
    let mut read = FileText {
        path: path.to_owned(),
        kind: kind.map(|ending| format!(".{ending}")).unwrap_or_default(),
        text: None,
        bytes: facts.len(),
    };
    let mut bytes = Vec::new();
    fs::File::open(&real)
        .and_then(|file| file.take(LARGEST + 1).read_to_end(&mut bytes))
        .map_err(|_| missing())?;
    let is_text = is_text(&bytes);
    if is_text && bytes.len() as u64 > LARGEST {
        return Err(ViewError::TooLarge {
            path: path.to_owned(),
        });
    }
    read.text = is_text.then(|| String::from_utf8(bytes).ok()).flatten();
    Ok(read)
}

/// Whether a path goes down and nowhere else, past no hidden name.
pub(crate) fn is_plain(path: &str) -> bool {
    let mut parts = Path::new(path).components().peekable();
    parts.peek().is_some()
        && parts.all(|part| match part {
            Component::Normal(name) => !name.to_string_lossy().starts_with('.'),
            Component::CurDir => true,
            Component::Prefix(_) | Component::RootDir | Component::ParentDir => false,
        })
}

/// Whether a path lies in one of the directories that hold what belongs to a skill.
pub(crate) fn is_support(path: &str) -> bool {
    let mut parts = Path::new(path).components();
    let first = parts.next().and_then(|part| part.as_os_str().to_str());
    is_plain(path) && first.is_some_and(|name| SUPPORT.contains(&name)) && parts.next().is_some()
}

fn hidden_below(root: &Path, real: &Path) -> bool {
    let below = real.strip_prefix(root).unwrap_or(real);
    let mut parts = below.components();
    parts.any(|part| part.as_os_str().to_string_lossy().starts_with('.'))
}
