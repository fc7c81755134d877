//! `taps.json`: repositories the user added.

use serde::{Deserialize, Serialize};

use super::State;
use crate::hub::error::HubError;
use crate::hub::identifier::Repository;

/// A repository with skills in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tap {
    /// `owner/repository`.
    pub repo: String,
    /// The directory the skills are in; the whole repository when empty.
    #[serde(default)]
    pub path: String,
}

/// All of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Taps {
    #[serde(default)]
    pub taps: Vec<Tap>,
}

impl Taps {
    /// Adds one; `false` when it was there.
    pub(crate) fn add(&mut self, tap: Tap) -> bool {
        let known = self.taps.iter().any(|known| is_same(known, &tap));
        if !known {
            self.taps.push(tap);
        }
        !known
    }

    /// Takes all of a repository away; `false` when there was none.
    pub(crate) fn remove(&mut self, repository: &Repository) -> bool {
        let before = self.taps.len();
        let name = repository.to_string();
        self.taps
            .retain(|tap| !tap.repo.eq_ignore_ascii_case(&name));
        self.taps.len() != before
    }
}

fn is_same(one: &Tap, other: &Tap) -> bool {
    one.repo.eq_ignore_ascii_case(&other.repo) && one.path == other.path
}

impl State {
    pub(crate) fn taps(&self) -> Result<Taps, HubError> {
        let path = self.hub().join("taps.json");
        match hermes_config::read_file(&path)? {
            Some(bytes) => {
                serde_json::from_slice(&bytes).map_err(|source| HubError::BadState { path, source })
            }
            None => Ok(Taps::default()),
        }
    }

    /// Changes them; nothing is written when the change says that nothing changed.
    pub(crate) fn change_taps(
        &self,
        change: impl FnOnce(&mut Taps) -> bool,
    ) -> Result<bool, HubError> {
        let _held = self.hold()?;
        let mut taps = self.taps()?;
        let changed = change(&mut taps);
        if changed {
            let path = self.hub().join("taps.json");
            let bytes = serde_json::to_vec_pretty(&taps).unwrap_or_default();
            hermes_config::replace_file(&path, &bytes)?;
        }
        Ok(changed)
    }
}
