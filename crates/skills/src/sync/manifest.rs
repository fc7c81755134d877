//! `.bundled_manifest`: which skills were brought in, and how they looked then.

use std::collections::BTreeMap;
use std::path::Path;

use hermes_config::{FileError, read_file, replace_file};

use crate::shipped::{Contents, ShippedSkill};

const FILE: &str = ".bundled_manifest";
/// Stands where a fingerprint would, for a name that its owner's own skill had first.
const OWN: &str = "own";

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Manifest(BTreeMap<String, String>);

impl Manifest {
    /// Older ones have names only. Nobody knows what those looked like, so they count as changed unless
    /// they are the same as ours.
    pub(super) fn read(own: &Path) -> Result<Self, FileError> {
        let bytes = read_file(&own.join(FILE))?.unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let origins = lines.map(|line| {
            let (name, hash) = line.rsplit_once(':').unwrap_or((line, ""));
            (name.trim().to_owned(), hash.trim().to_owned())
        });
        Ok(Self(origins.collect()))
    }

    /// The fingerprint a skill was brought in with.
    pub(super) fn origin(&self, name: &str) -> Option<&str> {
        let origin = self.0.get(name).map(String::as_str);
        origin.filter(|origin| *origin != OWN)
    }

    /// Whether a name was known before anything of ours could be brought in under it.
    pub(super) fn is_own(&self, name: &str) -> bool {
        self.0.get(name).is_some_and(|origin| origin == OWN)
    }

    pub(super) fn record(&mut self, skill: &ShippedSkill) {
        self.0.insert(skill.name.clone(), skill.hash.clone());
    }

    /// Notes that somebody's own skill has the name: nothing of ours was brought in.
    pub(super) fn leave(&mut self, skill: &ShippedSkill) {
        self.0.insert(skill.name.clone(), OWN.to_owned());
    }

    /// Forgets what no longer comes with the program, and says what that was.
    pub(super) fn retain(&mut self, contents: &Contents) -> Vec<String> {
        let known = |name: &String| contents.skills.iter().any(|skill| skill.name == *name);
        let gone: Vec<String> = self.0.keys().filter(|name| !known(name)).cloned().collect();
        self.0.retain(|name, _| known(name));
        gone
    }

    pub(super) fn write(&self, own: &Path) -> Result<(), FileError> {
        let lines = self.0.iter().map(|(name, hash)| format!("{name}:{hash}\n"));
        replace_file(&own.join(FILE), lines.collect::<String>().as_bytes())
    }
}
