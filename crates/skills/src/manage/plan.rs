//! What is to be changed, checked and written out.

use std::fs;
use std::path::{Path, PathBuf};

use hermes_config::read_file;

use super::ground::Ground;
use super::rules::{
    LARGEST_FILE, check_author, check_category, check_name, check_standard, check_support_path,
    check_support_text, check_text,
};
use super::{Author, ManageError};
use crate::catalog::CatalogEntry;
use crate::curator::{ARCHIVE, free_place, unheld};
use crate::library::{SKILL_FILE, read_text};
use crate::view::{Linked, ViewError, text_file};

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    Create {
        text: String,
        category: Option<String>,
    },
    /// Another text in place of the whole `SKILL.md`.
    Edit {
        text: String,
    },
    /// A changed part of the text or of a file; the change itself is worked out by whoever asks.
    Patch {
        file: Option<String>,
        text: String,
    },
    Delete {
        /// The skill that now holds what this one said.
        absorbed_into: Option<String>,
    },
    WriteFile {
        file: String,
        text: String,
    },
    RemoveFile {
        file: String,
    },
}

/// A file as it is and as it is going to be; nothing where it is not there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    pub path: PathBuf,
    pub before: Option<String>,
    pub after: Option<String>,
}

/// What happens to the directory of the skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// It is made.
    New,
    /// Files in it change.
    Kept,
    /// It is put away as it is, to where it can be fetched from.
    Archived {
        into: PathBuf,
        /// The skill that holds what it said.
        absorbed_into: Option<String>,
    },
}

/// A change that has passed the rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    pub name: String,
    pub directory: PathBuf,
    pub target: Target,
    pub changes: Vec<FileChange>,
    /// In one line, for people.
    pub summary: String,
}

/// A file of a skill that is about to be patched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patchable {
    pub path: PathBuf,
    pub text: String,
}

impl Ground<'_> {
    /// Checks a change against all rules and works out what it does. `has_read` says whether the skill was
    /// read in this conversation. Blocks while it reads.
    pub fn plan(
        &self,
        name: &str,
        action: Action,
        author: Author,
        has_read: bool,
    ) -> Result<Plan, ManageError> {
        let known = || {
            let entry = self.entry(name)?;
            // What nobody has said yes to yet is the agent's own.
            if !self.is_new(&entry) {
                check_author(self.library, &entry, author, has_read)?;
            }
            Ok::<_, ManageError>(entry)
        };
        match action {
            Action::Create { text, category } => self.plan_new(name, text, category),
            Action::Edit { text } => self.plan_text(&known()?, text, "rewritten"),
            Action::Patch { file: None, text } => self.plan_text(&known()?, text, "changed"),
            Action::Patch {
                file: Some(file),
                text,
            } if file == SKILL_FILE => self.plan_text(&known()?, text, "changed"),
            Action::Patch {
                file: Some(file),
                text,
            }
            | Action::WriteFile { file, text } => self.plan_file(&known()?, &file, text),
            Action::RemoveFile { file } => self.plan_removal(&known()?, &file),
            Action::Delete { absorbed_into } => {
                self.plan_delete(&known()?, absorbed_into.as_deref(), author)
            }
        }
    }

    /// The text that a patch is worked out from.
    pub fn patchable(&self, name: &str, file: Option<&str>) -> Result<Patchable, ManageError> {
        let entry = self.entry(name)?;
        let path = match file {
            None | Some(SKILL_FILE) => self.text_of(&entry)?,
            Some(file) => {
                check_support_path(file)?;
                self.inside(&entry, file)?
            }
        };
        let missing = || ManageError::NoFile {
            path: file.unwrap_or(SKILL_FILE).to_owned(),
        };
        let text = self.exact_text(&path)?.ok_or_else(missing)?;
        Ok(Patchable { path, text })
    }

    fn plan_new(
        &self,
        name: &str,
        text: String,
        category: Option<String>,
    ) -> Result<Plan, ManageError> {
        check_name(name)?;
        check_text(&text, name)?;
        check_standard(&text, None)?;
        let mut directory = self.library.own();
        if let Some(category) = category.filter(|category| !category.is_empty()) {
            check_category(&category)?;
            directory.push(category);
        }
        directory.push(name);
        let catalog = self.library.catalog();
        let mut all = catalog.entries.iter().chain(self.new_ones());
        let known = all.find(|entry| entry.name == name);
        let known = known.map(|entry| entry.directory.clone());
        let unlisted = directory.join(SKILL_FILE).exists();
        if let Some(directory) = known.or_else(|| unlisted.then(|| directory.clone())) {
            return Err(ManageError::Exists {
                name: name.to_owned(),
                directory,
            });
        }
        if directory.exists() {
            return Err(ManageError::InTheWay { directory });
        }
        Ok(Plan {
            name: name.to_owned(),
            changes: vec![FileChange {
                path: directory.join(SKILL_FILE),
                before: None,
                after: Some(text),
            }],
            directory,
            target: Target::New,
            summary: format!("new skill {name}"),
        })
    }

    /// Another text for the whole `SKILL.md`. What the agent made stays a skill that others can read.
    fn plan_text(
        &self,
        entry: &CatalogEntry,
        text: String,
        done: &str,
    ) -> Result<Plan, ManageError> {
        check_text(&text, &entry.name)?;
        let path = self.text_of(entry)?;
        let before = self.exact_text(&path)?;
        if self.is_new(entry) || self.library.usage().record(&entry.name).is_agents() {
            check_standard(&text, before.as_deref())?;
        }
        Ok(Plan {
            name: entry.name.clone(),
            directory: entry.directory.clone(),
            target: Target::Kept,
            changes: vec![FileChange {
                before,
                path,
                after: Some(text),
            }],
            summary: format!("skill {} {done}", entry.name),
        })
    }

    fn plan_delete(
        &self,
        entry: &CatalogEntry,
        absorbed_into: Option<&str>,
        author: Author,
    ) -> Result<Plan, ManageError> {
        let name = entry.name.clone();
        let is_root = self
            .library
            .roots()
            .iter()
            .any(|root| root.path == entry.directory);
        if is_root || entry.directory.is_symlink() {
            return Err(ManageError::NotADirectory { name });
        }
        if self.library.usage().record(&name).pinned {
            return Err(ManageError::Pinned { name });
        }
        let into = absorbed_into.map(str::trim).filter(|into| !into.is_empty());
        let absorbed = match into {
            None if author == Author::Behind => return Err(ManageError::NotAbsorbed { name }),
            None => None,
            Some(into) => {
                let umbrella = self.entry(into)?;
                if umbrella.directory == entry.directory {
                    return Err(ManageError::NotAbsorbed { name });
                }
                // Nobody watches: what is not in the other one would be out of sight.
                if author == Author::Behind {
                    let missing = unheld(&umbrella.directory, &entry.directory);
                    if !missing.is_empty() {
                        let into = umbrella.name;
                        return Err(ManageError::NotHeld {
                            name,
                            into,
                            missing,
                        });
                    }
                }
                Some(umbrella.name)
            }
        };
        let summary = match &absorbed {
            Some(into) => format!("skill {name} put away; {into} holds what it said"),
            None => format!("skill {name} deleted"),
        };
        let target = Target::Archived {
            into: self.archive_place(entry),
            absorbed_into: absorbed,
        };
        Ok(Plan {
            changes: texts_of(entry),
            name,
            directory: entry.directory.clone(),
            target,
            summary,
        })
    }

    /// A free place for a skill that is put away.
    fn archive_place(&self, entry: &CatalogEntry) -> PathBuf {
        free_place(&self.library.own().join(ARCHIVE), entry.directory_name())
    }

    fn plan_file(
        &self,
        entry: &CatalogEntry,
        file: &str,
        text: String,
    ) -> Result<Plan, ManageError> {
        check_support_path(file)?;
        check_support_text(&text)?;
        let path = self.inside(entry, file)?;
        let before = self.exact_text(&path)?;
        let done = if before.is_some() { "changed" } else { "added" };
        Ok(Plan {
            name: entry.name.clone(),
            directory: entry.directory.clone(),
            target: Target::Kept,
            changes: vec![FileChange {
                path,
                before,
                after: Some(text),
            }],
            summary: format!("file {file} of skill {} {done}", entry.name),
        })
    }

    fn plan_removal(&self, entry: &CatalogEntry, file: &str) -> Result<Plan, ManageError> {
        check_support_path(file)?;
        let path = self.inside(entry, file)?;
        let before = self.exact_text(&path)?.ok_or_else(|| ManageError::NoFile {
            path: file.to_owned(),
        })?;
        Ok(Plan {
            name: entry.name.clone(),
            directory: entry.directory.clone(),
            target: Target::Kept,
            changes: vec![FileChange {
                before: Some(before),
                path,
                after: None,
            }],
            summary: format!("file {file} of skill {} removed", entry.name),
        })
    }

    fn text_of(&self, entry: &CatalogEntry) -> Result<PathBuf, ManageError> {
        if self.is_new(entry) {
            return Ok(entry.directory.join(SKILL_FILE));
        }
        text_file(entry).ok_or_else(|| {
            ViewError::Unreadable {
                name: entry.name.clone(),
            }
            .into()
        })
    }

    fn exact_text(&self, path: &Path) -> Result<Option<String>, ManageError> {
        match self.draft(path) {
            Some(draft) => Ok(draft.map(str::to_owned)),
            None => exact_text(path),
        }
    }

    /// A place below a skill's directory, which is not there yet when the skill is new.
    fn inside(&self, entry: &CatalogEntry, file: &str) -> Result<PathBuf, ManageError> {
        match self.is_new(entry) {
            true => Ok(entry.directory.join(file)),
            false => inside(entry, file),
        }
    }
}

/// What a file says, to the byte; nothing where there is none. What cannot be kept like that is not replaced,
/// since nobody could take the change back.
fn exact_text(path: &Path) -> Result<Option<String>, ManageError> {
    let not_text = || ManageError::NotText {
        path: path.to_owned(),
    };
    if !path.is_file() {
        return Ok(None);
    }
    let length = fs::metadata(path).map_or(0, |facts| facts.len());
    if length > LARGEST_FILE as u64 {
        return Err(not_text());
    }
    let bytes = read_file(path)?.unwrap_or_default();
    String::from_utf8(bytes).map(Some).map_err(|_| not_text())
}

/// Every text of a skill that is put away, for whoever looks at the change before it is made.
fn texts_of(entry: &CatalogEntry) -> Vec<FileChange> {
    let linked = Linked::of(&entry.directory);
    let files = std::iter::once(SKILL_FILE.to_owned()).chain(linked.all().cloned());
    files
        .map(|file| entry.directory.join(file))
        .filter(|path| !path.is_symlink())
        .filter_map(|path| {
            Some(FileChange {
                before: Some(read_text(&path)?),
                path,
                after: None,
            })
        })
        .collect()
}

/// A place below a skill's directory; whatever of it is there already must not lead out of it.
fn inside(entry: &CatalogEntry, file: &str) -> Result<PathBuf, ManageError> {
    let outside = || ManageError::Place {
        path: file.to_owned(),
    };
    let root = entry.directory.canonicalize().map_err(|_| outside())?;
    let path = entry.directory.join(file);
    let there = path
        .ancestors()
        .find(|part| part.symlink_metadata().is_ok())
        .map(Path::canonicalize);
    match there {
        Some(Ok(real)) if real.starts_with(&root) => Ok(path),
        _ => Err(outside()),
    }
}
