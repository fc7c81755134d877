//! `.bundled_base.json`: skills of the program as they were when they were brought in. An owner's changes are the
//! difference to this, which is what they can be carried over to a newer one by.

use std::collections::BTreeMap;
use std::path::Path;

use hermes_config::{FileError, read_file, replace_file};
use serde::{Deserialize, Serialize};

use crate::shipped::ShippedSkill;

const FILE: &str = ".bundled_base.json";

/// All of them, by name.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Bases {
    #[serde(default)]
    skills: BTreeMap<String, Base>,
}

/// One skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Base {
    hash: String,
    /// Paths and texts; a file that is no text has only its path.
    pub(super) files: BTreeMap<String, Option<String>>,
}

impl Bases {
    /// One that cannot be read is worth as much as none: nothing is merged then.
    pub(super) fn read(own: &Path) -> Result<Self, FileError> {
        let bytes = read_file(&own.join(FILE))?.unwrap_or_default();
        Ok(serde_json::from_slice(&bytes).unwrap_or_default())
    }

    /// How a skill looked that was brought in with this fingerprint.
    pub(super) fn of(&self, name: &str, origin: &str) -> Option<&Base> {
        self.skills.get(name).filter(|base| base.hash == origin)
    }

    pub(super) fn record(&mut self, skill: &ShippedSkill) {
        let text = |bytes: &Vec<u8>| String::from_utf8(bytes.clone()).ok();
        let files = skill.files.iter();
        let base = Base {
            hash: skill.hash.clone(),
            files: files
                .map(|(path, bytes)| (path.clone(), text(bytes)))
                .collect(),
        };
        self.skills.insert(skill.name.clone(), base);
    }

    /// What is the owner's own has nothing to do with ours of the same name.
    pub(super) fn forget(&mut self, name: &str) {
        self.skills.remove(name);
    }

    pub(super) fn write(&self, own: &Path) -> Result<(), FileError> {
        let bytes = serde_json::to_vec(self).unwrap_or_default();
        replace_file(&own.join(FILE), &bytes)
    }
}

#[cfg(test)]
impl Base {
    pub(super) fn of_texts(files: &[(&str, &str)]) -> Self {
        let files = files.iter();
        Self {
            hash: String::new(),
            files: files
                .map(|(path, text)| ((*path).to_owned(), Some((*text).to_owned())))
                .collect(),
        }
    }
}
