//! Several keys that belong together: all of them change, in one write, or none does.

use super::target::{self, Target, UnknownKey};
use super::{Change, SetError, Settings, put, take_out};
use crate::value::{KeyPath, Value};
use crate::yaml::Document;

/// What becomes of one key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edit<'a> {
    /// It gets this value.
    Set(&'a str),
    /// It is removed.
    Unset,
}

impl Settings<'_> {
    /// Whether `change` would take a value for a key of `config.yaml`; nothing is written.
    pub fn check(&self, key: &str, raw: &str) -> Result<(), SetError> {
        self.check_owner()?;
        match Target::of(key)? {
            Target::Setting(path) => {
                self.check_pin(&path)?;
                let value = target::value_for(&path, raw, UnknownKey::Refuse)?;
                let failed = |source| SetError::Edit {
                    path: self.home.config_file(),
                    source,
                };
                let mut alone = Document::new("").map_err(failed)?;
                put(&mut alone, &path, &value).map_err(failed)?;
                target::check_types(&alone, &path).map_err(|error| *error)
            }
            Target::Variable(key) => Err(SetError::BadKey { key }),
        }
    }

    /// Changes several keys of `config.yaml` at once. A kill at any moment leaves all or none of them.
    pub fn change(&self, edits: &[(&str, Edit<'_>)]) -> Result<Vec<Change>, SetError> {
        self.check_owner()?;
        let _lock = self.lock()?;
        let mut steps: Vec<(KeyPath, Option<Value>)> = Vec::new();
        for (key, edit) in edits {
            let path = match Target::of(key)? {
                Target::Setting(path) => path,
                // A variable stands in another file.
                Target::Variable(key) => return Err(SetError::BadKey { key }),
            };
            self.check_pin(&path)?;
            let value = match edit {
                Edit::Set(raw) => Some(target::value_for(&path, raw, UnknownKey::Refuse)?),
                Edit::Unset => None,
            };
            steps.push((path, value));
        }
        let keys: Vec<KeyPath> = steps.iter().map(|(key, _)| key.clone()).collect();
        let changes = self.rewrite(&keys, |document| {
            for (key, value) in &steps {
                match value {
                    Some(value) => put(document, key, value)?,
                    None => take_out(document, key)?,
                }
            }
            Ok(())
        })?;
        let steps = changes.into_iter().zip(&steps);
        steps
            .map(|(change, (key, value))| match value {
                Some(value) => self.mirror(change, key, value),
                None => Ok(change),
            })
            .collect()
    }
}
