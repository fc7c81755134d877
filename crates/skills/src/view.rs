//! Reading a skill, and the files beside it.

mod files;
mod readiness;

use std::path::PathBuf;

use crate::catalog::{CatalogEntry, Found};
use crate::conditions::is_disabled;
use crate::library::{Library, SKILL_FILE, read_skill};
use crate::skill::Skill;

pub(crate) use files::is_support;
pub use files::{FileText, Linked};
pub use readiness::{Readiness, Status};

/// Names that are given when one is not known.
const MOST_NAMED: usize = 20;

/// A skill that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Viewed {
    pub entry: CatalogEntry,
    pub skill: Skill,
    pub linked: Linked,
}

/// A skill or file that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ViewError {
    #[error("there is no skill {name}")]
    Unknown {
        name: String,
        /// Some there are.
        available: Vec<String>,
    },
    #[error("{name} could be any of {}", matches.join(", "))]
    Ambiguous { name: String, matches: Vec<String> },
    #[error("the skill {name} is switched off in the settings")]
    Disabled { name: String },
    #[error("the text of {name} cannot be read")]
    Unreadable { name: String },
    #[error("{path} is not a file below the skill's directory")]
    Outside { path: String },
    #[error("the skill has no file {path}")]
    NoFile {
        path: String,
        /// Those it has.
        available: Vec<String>,
    },
    #[error("{path} is too large to be read")]
    TooLarge { path: String },
}

impl ViewError {
    /// What helps.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Unknown { .. } => "skills_list shows all of them, with a query those that fit",
            Self::Ambiguous { .. } => "give the name with its category before it",
            Self::Disabled { .. } => "take it out of skills.disabled to use it",
            Self::Unreadable { .. } => "look at its SKILL.md",
            Self::Outside { .. } => {
                "give a path relative to the skill's directory, without .. and hidden names"
            }
            Self::NoFile { .. } => "take one of available_files",
            Self::TooLarge { .. } => "read a part of it with another tool",
        }
    }
}

impl Library {
    /// The skill of this name on a surface. Blocks while it reads.
    pub fn view(&self, name: &str, surface: &str) -> Result<Viewed, ViewError> {
        let entry = self.entry(name)?;
        if is_disabled(&entry.name, surface, self.settings()) {
            return Err(ViewError::Disabled { name: entry.name });
        }
        let unreadable = || ViewError::Unreadable {
            name: name.to_owned(),
        };
        let file = text_file(&entry).ok_or_else(unreadable)?;
        let text = read_skill(&file).ok_or_else(unreadable)?;
        Ok(Viewed {
            skill: Skill::parse(&text, entry.directory_name()),
            linked: Linked::of(&entry.directory),
            entry,
        })
    }

    /// A file of a skill.
    pub fn view_file(
        &self,
        name: &str,
        path: &str,
        surface: &str,
    ) -> Result<(CatalogEntry, FileText), ViewError> {
        let entry = self.entry(name)?;
        if is_disabled(&entry.name, surface, self.settings()) {
            return Err(ViewError::Disabled { name: entry.name });
        }
        let text = files::read(&entry.directory, path)?;
        Ok((entry, text))
    }

    /// The skill a name stands for.
    pub fn entry(&self, name: &str) -> Result<CatalogEntry, ViewError> {
        let catalog = self.catalog();
        match catalog.find(name) {
            Found::One(entry) => Ok(entry.clone()),
            Found::Several(several) => Err(ViewError::Ambiguous {
                name: name.to_owned(),
                matches: several.iter().map(|entry| entry.full_name()).collect(),
            }),
            Found::Nothing => {
                if self.left_out().iter().any(|one| one.name() == name) {
                    return Err(ViewError::Unreadable {
                        name: name.to_owned(),
                    });
                }
                let near = hermes_config::nearest(
                    name,
                    catalog.entries.iter().map(|entry| entry.name.as_str()),
                );
                let mut available: Vec<String> = near.map(str::to_owned).into_iter().collect();
                let names = catalog.entries.iter().map(|entry| entry.name.clone());
                for other in names {
                    if available.len() < MOST_NAMED && !available.contains(&other) {
                        available.push(other);
                    }
                }
                Err(ViewError::Unknown {
                    name: name.to_owned(),
                    available,
                })
            }
        }
    }
}

/// The file with the text. A link may lead to another `SKILL.md` and to nothing else: whoever can make a
/// link must not be able to show any file there is.
pub(crate) fn text_file(entry: &CatalogEntry) -> Option<PathBuf> {
    let real = entry.directory.join(SKILL_FILE).canonicalize().ok()?;
    (real.file_name()? == SKILL_FILE).then_some(real)
}
