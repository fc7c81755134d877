//! Looking for skills on the disk.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs::{self, Metadata};
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use super::snapshot::{Remembered, Stamp};
use crate::catalog::{Catalog, CatalogEntry};
use crate::conditions::Conditions;
use crate::frontmatter::Frontmatter;
use crate::roots::{Root, RootKind};
use crate::skill::{Skill, on_one_line};

pub(crate) const SKILL_FILE: &str = "SKILL.md";
const DESCRIPTION_FILE: &str = "DESCRIPTION.md";
/// Directories of a skill that hold what belongs to it and no further skills.
pub(crate) const SUPPORT: [&str; 4] = ["references", "templates", "scripts", "assets"];
/// Directories that hold no skills, whatever lies in them.
pub(crate) const SKIPPED: [&str; 16] = [
    ".git",
    ".github",
    ".hub",
    ".archive",
    ".curator_backups",
    ".sync",
    ".venv",
    "venv",
    "node_modules",
    "site-packages",
    "__pycache__",
    ".tox",
    ".nox",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
];
const DEEPEST: usize = 8;
const MOST_DIRECTORIES: usize = 20_000;
const MOST_SKILLS: usize = 5_000;
/// Most bytes of a file that is read.
pub(super) const LARGEST: u64 = 1024 * 1024;
/// Bytes looked at to tell text from other things.
pub(super) const LOOKED_AT: usize = 8 * 1024;
/// A file changed so shortly before it was looked at may change again without its time telling.
const UNSURE: Duration = Duration::from_secs(2);

/// Reads what there is; what is known of files that have not changed is taken over.
pub(super) fn look(
    roots: &[Root],
    known: Option<&(Arc<Catalog>, Remembered)>,
    now: Timestamp,
) -> (Catalog, Remembered) {
    let walk = walked(roots, now);
    let reader = Reader::new(known, &walk.remembered);
    let mut catalog = Catalog::default();
    let mut names = HashSet::new();
    for (root, group) in by_root(walk.found) {
        let entries: Vec<CatalogEntry> = group
            .into_iter()
            .filter_map(|(directory, category)| reader.skill(directory, category, &root))
            .filter(|entry| !names.contains(&entry.name))
            .collect();
        // Two of one name in one root are both there; those of a later root step back.
        names.extend(entries.iter().map(|entry| entry.name.clone()));
        catalog.entries.extend(entries);
    }
    catalog.entries.sort_by(|left, right| {
        let key = |entry: &CatalogEntry| (entry.category.clone(), entry.name.clone());
        key(left)
            .cmp(&key(right))
            .then_with(|| left.directory.cmp(&right.directory))
    });
    for (category, file) in walk.descriptions {
        if let Some(text) = read_text(&file)
            && let Some(description) = Frontmatter::parse(&text).text("description")
        {
            let known = catalog.categories.entry(category);
            known.or_insert_with(|| on_one_line(&description));
        }
    }
    (catalog, walk.remembered)
}

/// The directories that hold a skill, whether it can be read or not.
pub(super) fn directories(roots: &[Root], now: Timestamp) -> Vec<PathBuf> {
    let found = walked(roots, now).found.into_iter();
    found.map(|(_, (directory, _))| directory).collect()
}

fn walked(roots: &[Root], now: Timestamp) -> Walk {
    let sure_before = now
        .checked_sub(UNSURE)
        .map_or(i64::MIN, |limit| limit.as_nanosecond() as i64);
    let mut walk = Walk {
        sure_before,
        ..Walk::default()
    };
    for root in roots {
        walk.root = Some(root.clone());
        walk.visit(&root.path, "", 0);
    }
    if walk.directories >= MOST_DIRECTORIES || walk.found.len() >= MOST_SKILLS {
        tracing::warn!("there are too many skills or directories; some are left out");
    }
    walk
}

type Place = (PathBuf, String);

fn by_root(found: Vec<(Root, Place)>) -> Vec<(Root, Vec<Place>)> {
    let mut groups: Vec<(Root, Vec<Place>)> = Vec::new();
    for (root, place) in found {
        match groups.last_mut() {
            Some((last, places)) if *last == root => places.push(place),
            _ => groups.push((root, vec![place])),
        }
    }
    groups
}

#[derive(Default)]
struct Walk {
    root: Option<Root>,
    found: Vec<(Root, Place)>,
    /// Files that say what a category is for, with its name.
    descriptions: Vec<(String, PathBuf)>,
    remembered: Remembered,
    /// Directories seen, so that links cannot lead round in circles.
    seen: BTreeSet<(u64, u64)>,
    directories: usize,
    /// Nanoseconds since 1970; what changed later is not certain.
    sure_before: i64,
}

impl Walk {
    fn visit(&mut self, directory: &Path, category: &str, depth: usize) {
        let Some(facts) = self.stamp(directory).filter(Metadata::is_dir) else {
            return;
        };
        let limits = depth > DEEPEST
            || self.directories >= MOST_DIRECTORIES
            || self.found.len() >= MOST_SKILLS;
        if limits || !self.seen.insert((facts.dev(), facts.ino())) {
            return;
        }
        self.directories += 1;
        let mut names: Vec<String> = fs::read_dir(directory)
            .into_iter()
            .flatten()
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|name| !SKIPPED.contains(&name.as_str()))
            .collect();
        names.sort();
        let has = |file: &str| names.iter().any(|name| name == file);
        let is_skill = has(SKILL_FILE) && self.note_skill(directory, category, depth);
        if has(DESCRIPTION_FILE) && depth > 0 {
            let file = directory.join(DESCRIPTION_FILE);
            self.stamp(&file);
            self.descriptions.push((below(category, directory), file));
        }
        let inner = match depth {
            0 => String::new(),
            _ => below(category, directory),
        };
        for name in names {
            let support = is_skill && SUPPORT.contains(&name.as_str());
            if !support && !is_file_name(&name) {
                let path = directory.join(&name);
                if path.is_dir() {
                    self.visit(&path, &inner, depth + 1);
                }
            }
        }
    }

    fn note_skill(&mut self, directory: &Path, category: &str, depth: usize) -> bool {
        let file = directory.join(SKILL_FILE);
        let is_file = self.stamp(&file).is_some_and(|facts| facts.is_file());
        if let (true, Some(root)) = (is_file, &self.root) {
            // A root that is a skill itself lies in no category.
            let category = if depth == 0 { "" } else { category };
            let place = (directory.to_owned(), category.to_owned());
            self.found.push((root.clone(), place));
        }
        is_file
    }

    /// Remembers how a file or directory looked.
    fn stamp(&mut self, path: &Path) -> Option<Metadata> {
        let facts = fs::metadata(path).ok();
        let stamp = Stamp::of(facts.as_ref());
        let stamp = match stamp.changed < self.sure_before || facts.is_none() {
            true => stamp,
            false => Stamp::UNSURE,
        };
        self.remembered.push(path.to_owned(), stamp);
        facts
    }
}

/// Whether a directory of this name is never looked into, so that no skill can lie there.
pub(crate) fn is_passed_over(name: &str) -> bool {
    SKIPPED.contains(&name) || is_file_name(name)
}

/// Names that are those of files as a rule; asking the disk about each of them would cost the most.
fn is_file_name(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|ending| {
        matches!(
            ending.to_str(),
            Some("md" | "json" | "txt" | "yaml" | "yml" | "lock" | "py" | "sh" | "log")
        )
    })
}

fn below(category: &str, directory: &Path) -> String {
    let name = directory
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    match category {
        "" => name.to_owned(),
        category => format!("{category}/{name}"),
    }
}

/// Reads skills, except those that are known and have not changed.
struct Reader<'a> {
    known: HashMap<&'a Path, &'a CatalogEntry>,
    then: HashMap<&'a Path, Stamp>,
    now: HashMap<&'a Path, Stamp>,
}

impl<'a> Reader<'a> {
    fn new(known: Option<&'a (Arc<Catalog>, Remembered)>, now: &'a Remembered) -> Self {
        let entries = known.iter().flat_map(|(catalog, _)| &catalog.entries);
        Self {
            known: entries
                .map(|entry| (entry.directory.as_path(), entry))
                .collect(),
            then: known.map_or_else(HashMap::new, |(_, then)| then.stamps()),
            now: now.stamps(),
        }
    }

    fn skill(&self, directory: PathBuf, category: String, root: &Root) -> Option<CatalogEntry> {
        let file = directory.join(SKILL_FILE);
        let stamp = self.now.get(file.as_path());
        let stamp = stamp.filter(|stamp| **stamp != Stamp::UNSURE);
        let same = stamp.is_some() && stamp == self.then.get(file.as_path());
        if let (true, Some(known)) = (same, self.known.get(directory.as_path())) {
            return Some((*known).clone());
        }
        let text = read_skill(&file)?;
        let name = directory.file_name().and_then(|name| name.to_str());
        let skill = Skill::parse(&text, name.unwrap_or_default());
        Some(CatalogEntry {
            conditions: Conditions::of(&skill),
            name: match root.prefix() {
                Some(plugin) => format!("{plugin}:{}", skill.name),
                None => skill.name,
            },
            description: skill.description,
            category,
            directory,
            external: root.kind != RootKind::Own,
            tags: skill.tags,
        })
    }
}

/// The text of a `SKILL.md`; nothing when it is none.
pub(crate) fn read_skill(path: &Path) -> Option<String> {
    read_text(path).filter(|text| {
        let is_text = is_text(text.as_bytes());
        if !is_text {
            tracing::warn!(file = %path.display(), "the file is no text and was left out");
        }
        is_text
    })
}

/// Whether something that begins like this is a text: in whatever encoding, it holds no characters that steer a device
/// but those of terminals.
pub(crate) fn is_text(bytes: &[u8]) -> bool {
    let mut bytes = bytes.iter().take(LOOKED_AT);
    !bytes.any(|byte| matches!(byte, 0..=6 | 14..=26 | 28..=31))
}

/// The text of a file that is not too large for one that people and models read.
pub(crate) fn read_text(path: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(LARGEST + 1).read_to_end(&mut bytes));
    match read {
        Ok(length) if length as u64 <= LARGEST => {
            Some(String::from_utf8_lossy(&bytes).into_owned())
        }
        Ok(_) => {
            tracing::warn!(file = %path.display(), "the file is larger than a mebibyte and was left out");
            None
        }
        Err(error) => {
            tracing::warn!(file = %path.display(), %error, "the file was left out");
            None
        }
    }
}
