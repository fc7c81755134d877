//! What the commands of one session may see beyond what all commands do: the variables and files that the
//! skills it reads ask for. It grows while the session goes on.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::environment::is_held_back;

/// Most variables, and most files.
const MOST: usize = 64;
/// Keys of services that only skills use. The table of known names has them because they are asked for by
/// name; no part of the program sends them anywhere.
const FOR_SKILLS: [&str; 4] = [
    "AIRTABLE_API_KEY",
    "LINEAR_API_KEY",
    "NOTION_API_KEY",
    "TENOR_API_KEY",
];

/// A handle; clones share what was granted.
#[derive(Clone, Default)]
pub struct Granted(Arc<Mutex<Inner>>);

#[derive(Default)]
struct Inner {
    variables: BTreeMap<String, String>,
    files: Vec<PathBuf>,
}

impl Granted {
    /// Lets commands see a variable, unless it is one that nothing but this program sees.
    pub fn variable(&self, name: &str, value: &str) {
        let mut inner = self.lock();
        let room = inner.variables.len() < MOST || inner.variables.contains_key(name);
        if room && (FOR_SKILLS.contains(&name) || !is_held_back(name)) {
            inner.variables.insert(name.to_owned(), value.to_owned());
        }
    }

    /// Lets commands read a file of this machine. Answers whether they could not before.
    pub fn file(&self, path: &Path) -> bool {
        let mut inner = self.lock();
        let new = inner.files.len() < MOST && !inner.files.iter().any(|known| known == path);
        if new {
            inner.files.push(path.to_owned());
        }
        new
    }

    /// The variables.
    pub fn variables(&self) -> Vec<(String, String)> {
        let inner = self.lock();
        let pairs = inner.variables.iter();
        pairs
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect()
    }

    /// The files.
    pub fn files(&self) -> Vec<PathBuf> {
        self.lock().files.clone()
    }

    /// An environment with the variables on top.
    pub(crate) fn on_top_of(&self, environment: &[(String, String)]) -> Vec<(String, String)> {
        let granted = self.variables();
        let mut all: Vec<(String, String)> = environment
            .iter()
            .filter(|(name, _)| !granted.iter().any(|(other, _)| other == name))
            .cloned()
            .collect();
        all.extend(granted);
        all
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Shows the names only: values are secrets.
impl fmt::Debug for Granted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = self.lock();
        f.debug_struct("Granted")
            .field("variables", &inner.variables.keys().collect::<Vec<_>>())
            .field("files", &inner.files)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // LN-29
    #[test]
    fn what_is_granted_is_seen_by_all_holders_but_never_shown() {
        let granted = Granted::default();
        let holder = granted.clone();
        granted.variable("REPORT_KEY", "s3cret-value");
        granted.variable("OPENROUTER_API_KEY", "ours");
        granted.variable("NOTION_API_KEY", "for a skill");
        assert!(granted.file(Path::new("/h/token.json")));
        assert!(!granted.file(Path::new("/h/token.json")), "known already");
        let before = [("REPORT_KEY", "old"), ("PATH", "/bin")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()));
        let after = holder.on_top_of(&before);
        assert_eq!(
            after,
            [
                ("PATH", "/bin"),
                ("NOTION_API_KEY", "for a skill"),
                ("REPORT_KEY", "s3cret-value")
            ]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
        );
        assert_eq!(holder.files(), [Path::new("/h/token.json")]);
        assert!(!format!("{holder:?}").contains("s3cret-value"));
    }
}
