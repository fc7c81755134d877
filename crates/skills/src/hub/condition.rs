//! How the hub's own files stand.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use hermes_core::Clock;

use super::error::HubError;
use super::state::State;

/// What a look at the files says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Condition {
    /// Skills that are installed.
    pub installed: usize,
    /// Skills whose installing or removing was interrupted.
    pub interrupted: Vec<String>,
    /// Installed skills whose directory is gone.
    pub missing: Vec<String>,
    /// Directories that wait in quarantine.
    pub waiting: usize,
}

/// Looks, and changes nothing.
pub fn condition(skills: &Path, clock: Arc<dyn Clock>) -> Result<Condition, HubError> {
    let state = State::new(skills.to_owned(), clock);
    let mut found = Condition::default();
    for (name, entry) in state.lock()?.installed() {
        found.installed += 1;
        if entry.pending.is_some() {
            found.interrupted.push(name);
        } else if !skills.join(&entry.install_path).join("SKILL.md").is_file() {
            found.missing.push(name);
        }
    }
    let waiting = fs::read_dir(state.quarantine()).into_iter().flatten();
    found.waiting = waiting
        .flatten()
        .filter(|entry| entry.path().is_dir())
        .count();
    Ok(found)
}
