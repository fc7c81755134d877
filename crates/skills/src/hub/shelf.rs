//! Official skills that are there without being installed.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::bundle::{File, Files, LARGEST_FILE};
use super::error::SourceError;
use super::file_path::{FilePath, PathFault};
use crate::library::{SKILL_FILE, SKIPPED};
use crate::shipped::Shipped;

/// How deep a skill may lie: categories above it.
const DEEPEST: usize = 3;
/// Most directories that are looked into.
const MOST_DIRECTORIES: usize = 2_000;

/// A tree of directories with skills in it.
#[derive(Debug, Clone)]
pub struct Shelf {
    /// Where the trees are, the first one counting first; those that are not there count as empty.
    roots: Vec<PathBuf>,
    /// Skills that came with the program; they are unpacked when they are looked for.
    shipped: Shipped,
}

/// A skill on the shelf.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Shelved {
    /// Its path on the shelf, such as `security/one`.
    pub(super) path: String,
    /// The text of its `SKILL.md`.
    pub(super) text: String,
}

impl Shelf {
    pub fn new(roots: Vec<PathBuf>, shipped: Shipped) -> Self {
        Self { roots, shipped }
    }

    /// All skills, by path.
    pub(super) fn list(&self) -> Vec<Shelved> {
        let mut found: Vec<Shelved> = Vec::new();
        let mut add = |shelved: Shelved| {
            if !found.iter().any(|known| known.path == shelved.path) {
                found.push(shelved);
            }
        };
        for root in &self.roots {
            for path in directories(root) {
                if let Ok(text) = fs::read_to_string(root.join(&path).join("SKILL.md")) {
                    add(Shelved { path, text });
                }
            }
        }
        for skill in self.shipped.contents().skills {
            let text = skill.files.get("SKILL.md").map(Vec::as_slice);
            let text = String::from_utf8_lossy(text.unwrap_or_default()).into_owned();
            let path = skill.place;
            add(Shelved { path, text });
        }
        found.sort_by(|a, b| a.path.cmp(&b.path));
        found
    }

    /// The files of one skill, by its path or, when no other has it, its name.
    pub(super) fn take(&self, wanted: &str) -> Result<(String, Files), SourceError> {
        let all = self.list();
        let exact = all.iter().find(|one| one.path == wanted);
        let mut named = all
            .iter()
            .filter(|one| one.path.rsplit('/').next() == Some(wanted));
        let found = exact.or_else(|| {
            let first = named.next();
            first.filter(|_| named.next().is_none())
        });
        let Some(found) = found else {
            return Err(SourceError::NotFound {
                what: format!("official/{wanted}"),
            });
        };
        for root in &self.roots {
            let directory = root.join(&found.path);
            if directory.join("SKILL.md").is_file() {
                let files = read_directory(&directory)?;
                return Ok((found.path.clone(), files));
            }
        }
        let shipped = self.shipped.contents().skills.into_iter();
        let mut files = Files::default();
        let own = shipped.filter(|skill| skill.place == found.path);
        for (path, bytes) in own.flat_map(|skill| skill.files) {
            let executable = bytes.starts_with(b"#!");
            files.add(checked(&path)?, File { bytes, executable })?;
        }
        Ok((found.path.clone(), files))
    }
}

/// The directories below a root that hold a skill.
fn directories(root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut waiting = vec![(String::new(), 0)];
    let mut seen = 0;
    while let Some((relative, level)) = waiting.pop() {
        seen += 1;
        if seen > MOST_DIRECTORIES {
            break;
        }
        let Ok(entries) = fs::read_dir(root.join(&relative)) else {
            continue;
        };
        for entry in entries.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with('.') || !entry.path().is_dir() {
                continue;
            }
            let inner = if relative.is_empty() {
                name
            } else {
                format!("{relative}/{name}")
            };
            if entry.path().join("SKILL.md").is_file() {
                found.push(inner);
            } else if level + 1 < DEEPEST {
                waiting.push((inner, level + 1));
            }
        }
    }
    found
}

/// How the files of a directory are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// As they lie here; links are left out.
    Own,
    /// As somebody offers them: nothing but files and directories, without what tools leave behind.
    Offered,
}

/// The files of a directory on the disk, as a bundle has them. Links are left out.
pub(super) fn read_directory(directory: &Path) -> Result<Files, SourceError> {
    read(directory, Reading::Own)
}

/// The files of a directory on the disk, as a bundle has them.
pub(super) fn read(directory: &Path, reading: Reading) -> Result<Files, SourceError> {
    let offered = reading == Reading::Offered;
    // Before a whole disk is read because somebody named its root.
    if offered && !directory.join(SKILL_FILE).is_file() {
        let what = format!("a {SKILL_FILE} in it");
        return Err(SourceError::NotFound { what });
    }
    let mut files = Files::default();
    let mut waiting = vec![String::new()];
    while let Some(relative) = waiting.pop() {
        for entry in fs::read_dir(directory.join(&relative)).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if offered && SKIPPED.contains(&name.as_str()) {
                continue;
            }
            let inner = if relative.is_empty() {
                name
            } else {
                format!("{relative}/{name}")
            };
            let about = fs::symlink_metadata(entry.path()).map_err(unreadable)?;
            if about.is_dir() {
                checked(&inner)?;
                waiting.push(inner);
            } else if about.is_file() {
                if about.len() > LARGEST_FILE as u64 {
                    return Err(SourceError::TooLarge {
                        what: inner,
                        limit: LARGEST_FILE,
                    });
                }
                let file = File {
                    bytes: fs::read(entry.path()).map_err(unreadable)?,
                    executable: about.permissions().mode() & 0o111 != 0,
                };
                files.add(checked(&inner)?, file)?;
            } else if offered {
                let fault = match about.is_symlink() {
                    true => PathFault::Link,
                    false => PathFault::Special,
                };
                let entry = inner;
                return Err(SourceError::BadPath { entry, fault });
            }
        }
    }
    Ok(files)
}

fn checked(path: &str) -> Result<FilePath, SourceError> {
    FilePath::new(path).map_err(|fault| SourceError::BadPath {
        entry: path.to_owned(),
        fault,
    })
}

pub(super) fn unreadable(error: io::Error) -> SourceError {
    SourceError::NotFound {
        what: format!("a file of the skill ({error})"),
    }
}
