//! A skill that was fetched and is not on the disk yet.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::error::{HeadFault, HubError, SourceError};
use super::file_path::{FilePath, PathFault};
use super::identifier::Identifier;
use super::name::{SkillName, slug};
use super::sources::SourceName;
use crate::frontmatter::{Form, Frontmatter};
use crate::guard::{Content, Depth, Entry, Report, ScanError, Trust, scan};
use crate::library::{SKILL_FILE, SUPPORT};
use crate::skill::Skill;

/// Most bytes of one file.
pub(super) const LARGEST_FILE: usize = 1024 * 1024;
/// Most bytes of a skill.
pub(super) const LARGEST_TOTAL: usize = 8 * 1024 * 1024;
/// Most files of a skill.
pub(super) const MOST_FILES: usize = 200;
/// Digits of the reference's hash of a skill.
const REFERENCE_DIGITS: usize = 16;

/// A file of a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct File {
    pub(super) bytes: Vec<u8>,
    pub(super) executable: bool,
}

/// The files of a skill, within limits.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Files {
    all: BTreeMap<FilePath, File>,
    total: usize,
}

impl Files {
    pub(super) fn add(&mut self, path: FilePath, file: File) -> Result<(), SourceError> {
        if file.bytes.len() > LARGEST_FILE {
            return Err(SourceError::TooLarge {
                what: path.to_string(),
                limit: LARGEST_FILE,
            });
        }
        if self.all.len() >= MOST_FILES {
            return Err(SourceError::TooManyFiles { limit: MOST_FILES });
        }
        self.total = self.total.saturating_add(file.bytes.len());
        if self.total > LARGEST_TOTAL {
            return Err(SourceError::TooLarge {
                what: "the skill".to_owned(),
                limit: LARGEST_TOTAL,
            });
        }
        self.check_tree(&path)?;
        self.all.insert(path, file);
        Ok(())
    }

    /// A name may not be taken twice, also not as a directory.
    fn check_tree(&self, path: &FilePath) -> Result<(), SourceError> {
        let refuse = |fault| {
            Err(SourceError::BadPath {
                entry: path.to_string(),
                fault,
            })
        };
        if self.all.contains_key(path) {
            return refuse(PathFault::Duplicate);
        }
        let text = path.as_str();
        let is_below = |above: &str, below: &str| {
            below
                .strip_prefix(above)
                .is_some_and(|rest| rest.starts_with('/'))
        };
        let clash = self
            .all
            .keys()
            .any(|other| is_below(other.as_str(), text) || is_below(text, other.as_str()));
        if clash {
            return refuse(PathFault::FileAndDirectory);
        }
        Ok(())
    }

    pub(super) fn get(&self, path: &FilePath) -> Option<&File> {
        self.all.get(path)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&FilePath, &File)> {
        self.all.iter()
    }

    pub(super) fn retain(&mut self, keep: impl Fn(&FilePath) -> bool) {
        self.all.retain(|path, _| keep(path));
        self.total = self.all.values().map(|file| file.bytes.len()).sum();
    }

    /// The hash of all paths and bytes.
    pub(super) fn hash(&self) -> String {
        let mut digest = Sha256::new();
        for (path, file) in &self.all {
            for part in [path.as_str().as_bytes(), &file.bytes] {
                digest.update((part.len() as u64).to_le_bytes());
                digest.update(part);
            }
        }
        format!("sha256:{}", hex(digest))
    }

    /// The hash the reference has for the same: shorter, and with what is in a directory before what is beside it.
    pub(super) fn reference_hash(&self) -> String {
        let mut all: Vec<(&FilePath, &File)> = self.all.iter().collect();
        all.sort_by(|(one, _), (other, _)| one.as_str().split('/').cmp(other.as_str().split('/')));
        let mut digest = Sha256::new();
        for (path, file) in all {
            digest.update(path.as_str().as_bytes());
            digest.update([0]);
            digest.update(&file.bytes);
        }
        let whole = hex(digest);
        format!("sha256:{}", whole.get(..REFERENCE_DIGITS).unwrap_or(&whole))
    }

    /// Whether these are the files a hash of a list stands for, whoever wrote it.
    pub(super) fn are(&self, hash: &str) -> bool {
        hash == self.hash() || hash == self.reference_hash()
    }
}

fn hex(digest: Sha256) -> String {
    let bytes = digest.finalize();
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Where a skill comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct Origin {
    pub source: SourceName,
    pub identifier: Identifier,
    pub trust: Trust,
    /// What the place says beside: repository, path, version and the like.
    pub metadata: Map<String, Value>,
}

/// A skill with everything that belongs to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Bundle {
    /// The name it gives itself, made fit for a directory.
    pub name: SkillName,
    pub origin: Origin,
    pub(super) files: Files,
    /// Files the author says are not part of it.
    pub(super) left_out: Vec<FilePath>,
}

impl Bundle {
    /// Takes files that have a `SKILL.md` with a text in it and a head that everybody reads alike.
    pub(super) fn new(origin: Origin, files: Files) -> Result<Self, HubError> {
        let not_a_skill = || HubError::NotASkill {
            identifier: origin.identifier.to_string(),
        };
        let text = files.get(&FilePath::skill()).ok_or_else(not_a_skill)?;
        let text = String::from_utf8_lossy(&text.bytes).into_owned();
        let skill = Skill::parse(&text, origin.identifier.last_part());
        if skill.body.trim().is_empty() {
            return Err(not_a_skill());
        }
        check_head(&text).map_err(|fault| HubError::BadHead {
            identifier: origin.identifier.to_string(),
            fault,
        })?;
        let own = slug(&skill.name);
        let name = match own.as_str() {
            "" => slug(origin.identifier.last_part()),
            _ => own,
        };
        Ok(Self {
            name: SkillName::new(&name)?,
            origin,
            files,
            left_out: Vec::new(),
        })
    }

    /// The text of `SKILL.md`.
    pub fn text(&self) -> String {
        let file = self.files.get(&FilePath::skill());
        file.map(|file| String::from_utf8_lossy(&file.bytes).into_owned())
            .unwrap_or_default()
    }

    /// What it says about itself.
    pub fn skill(&self) -> Skill {
        Skill::parse(&self.text(), self.name.as_str())
    }

    /// Its files and their sizes.
    pub fn files(&self) -> impl Iterator<Item = (&FilePath, usize)> {
        self.files
            .iter()
            .map(|(path, file)| (path, file.bytes.len()))
    }

    /// What its files say.
    pub fn contents(&self) -> impl Iterator<Item = (&FilePath, &[u8])> {
        self.files
            .iter()
            .map(|(path, file)| (path, file.bytes.as_slice()))
    }

    /// Files that are left out because the author says so.
    pub fn left_out(&self) -> &[FilePath] {
        &self.left_out
    }

    /// The `SKILL.md` of another skill that would be found below this one. What lies in the directories for support
    /// is not looked through for skills.
    pub(super) fn second_skill(&self) -> Option<&FilePath> {
        let mut paths = self.files.iter().map(|(path, _)| path);
        paths.find(|path| {
            let mut parts = path.as_str().split('/');
            let first = parts.next().unwrap_or_default();
            parts.next_back() == Some(SKILL_FILE) && !SUPPORT.contains(&first)
        })
    }

    /// The hash of its files.
    pub fn content_hash(&self) -> String {
        self.files.hash()
    }

    /// Looks for dangers.
    pub fn scan(&self, depth: Depth) -> Result<Report, ScanError> {
        let entries: Vec<Entry<'_>> = self
            .files
            .iter()
            .map(|(path, file)| Entry {
                path: path.to_string(),
                content: Content::File {
                    bytes: &file.bytes,
                    executable: file.executable,
                },
            })
            .collect();
        scan(&entries, depth)
    }

    /// The same skill under another name, in its `SKILL.md` too: lists show the name that stands there, and commands
    /// are made of it.
    pub(super) fn renamed(mut self, name: SkillName) -> Result<Self, HubError> {
        let own = self.text();
        // A number is a name only in quotes.
        let written = [name.to_string(), format!("\"{name}\"")];
        let mut texts = written.iter().map(|written| with_name(&own, written));
        // There are more ways to write a name in YAML than are looked for: what counts is how it is read.
        let bears = |text: &String| {
            check_head(text).is_ok() && Skill::parse(text, "").name == name.as_str()
        };
        let text = texts.find(bears).ok_or_else(|| HubError::BadHead {
            identifier: self.origin.identifier.to_string(),
            fault: HeadFault::StubbornName,
        })?;
        if let Some(file) = self.files.all.get_mut(&FilePath::skill()) {
            let total = self.files.total.saturating_sub(file.bytes.len());
            file.bytes = text.into_bytes();
            self.files.total = total.saturating_add(file.bytes.len());
        }
        self.name = name;
        Ok(self)
    }
}

/// What comes from elsewhere has to say what it is. Files of the user are read as far as they can be; a stranger's
/// that is broken would be listed under a name nobody gave it.
fn check_head(text: &str) -> Result<(), HeadFault> {
    let read = Frontmatter::parse(text);
    match read.form {
        Form::Absent => return Err(HeadFault::Absent),
        Form::Lines => return Err(HeadFault::NotYaml),
        Form::Yaml => {}
    }
    for field in ["name", "description"] {
        if read.text(field).is_none() {
            return Err(HeadFault::Missing(field));
        }
    }
    Ok(())
}

/// A `SKILL.md` with another name in it, and with no other; everything else stays as it is written.
fn with_name(text: &str, name: &str) -> String {
    let read = Frontmatter::parse(text);
    let line = format!("name: {name}\n");
    if read.head.is_empty() {
        return format!("---\n{line}---\n\n{text}");
    }
    let mut head = String::new();
    let (mut replaced, mut dropping) = (false, false);
    for old in read.head.split_inclusive('\n') {
        let continues = old.starts_with([' ', '\t']);
        if !continues && !old.trim().is_empty() {
            dropping = gives_name(old);
            if dropping && !replaced {
                replaced = true;
                head.push_str(&line);
            }
        }
        // The lines below a name belong to it; a blank one does no harm.
        if !dropping || old.trim().is_empty() {
            head.push_str(old);
        }
    }
    if !replaced {
        head.insert_str(0, &line);
    }
    text.replacen(read.head, &head, 1)
}

/// Whether a line at the head gives the name, with or without quotes and spaces around the key.
fn gives_name(line: &str) -> bool {
    let key = line.split_once(':').map(|(key, _)| key.trim());
    key.is_some_and(|key| key.trim_matches(['"', '\'']) == "name")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> File {
        File {
            bytes: text.as_bytes().to_vec(),
            executable: false,
        }
    }

    #[test]
    fn a_skill_has_limits() {
        let mut files = Files::default();
        let path = |text: &str| FilePath::new(text).unwrap();
        let large = File {
            bytes: vec![0; LARGEST_FILE + 1],
            executable: false,
        };
        assert!(files.add(path("a"), large).is_err());
        files.add(path("a"), file("x")).unwrap();
        assert!(files.add(path("a"), file("x")).is_err());
        assert!(files.add(path("a/b"), file("x")).is_err());
        files.add(path("c/d"), file("x")).unwrap();
        assert!(files.add(path("c"), file("x")).is_err());
        for number in 2..MOST_FILES {
            files.add(path(&format!("f{number}")), file("")).unwrap();
        }
        assert!(matches!(
            files.add(path("one-more"), file("")),
            Err(SourceError::TooManyFiles { .. })
        ));
    }

    #[test]
    fn the_hash_tells_files_apart() {
        let hash = |all: &[(&str, &str)]| {
            let mut files = Files::default();
            for (path, text) in all {
                files.add(FilePath::new(path).unwrap(), file(text)).unwrap();
            }
            files.hash()
        };
        assert_eq!(
            hash(&[("a", "b"), ("c", "d")]),
            hash(&[("c", "d"), ("a", "b")])
        );
        assert_ne!(hash(&[("a", "bc")]), hash(&[("ab", "c")]));
        assert_eq!(hash(&[]).len(), "sha256:".len() + 64);
    }

    // LN-32
    #[test]
    fn files_are_known_by_our_hash_and_by_that_of_the_reference() {
        let mut files = Files::default();
        for (path, text) in [("SKILL.md", "x\n"), ("a-b.md", "2"), ("a/b.md", "1")] {
            files.add(FilePath::new(path).unwrap(), file(text)).unwrap();
        }
        // As the reference wrote it for these files.
        assert!(files.are("sha256:439cf81fb155a206"));
        assert!(files.are(&files.hash()));
        for other in ["", "sha256:", "sha256:439cf81fb155a207"] {
            assert!(!files.are(other), "{other}");
        }
    }

    #[test]
    fn another_name_stands_in_the_text_too() {
        assert_eq!(
            with_name("---\nname: old\nversion: 1\n---\n\nname: x", "new"),
            "---\nname: new\nversion: 1\n---\n\nname: x"
        );
        assert_eq!(
            with_name("---\na: b\n---\nx", "new"),
            "---\nname: new\na: b\n---\nx"
        );
        assert_eq!(with_name("x", "new"), "---\nname: new\n---\n\nx");
        for old in [
            "\"name\": old\n",
            "'name' : old\n",
            "name : old\nname: older\n",
            "name: >\n  old\n  and more\n",
        ] {
            assert_eq!(
                with_name(
                    &format!("---\na: b\n{old}# name: c\nnames: d\n---\nx"),
                    "new"
                ),
                "---\na: b\nname: new\n# name: c\nnames: d\n---\nx"
            );
        }
    }
}
