//! `lock.json`: what is installed, from where, and what is under way.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::guard::{Trust, Verdict, Waiver};
use crate::hub::error::HubError;
use crate::hub::identifier::Identifier;
use crate::slash::command_name;

const VERSION: u64 = 1;

/// The file. Keys of others are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct LockFile {
    #[serde(default = "version")]
    version: u64,
    #[serde(default)]
    installed: Map<String, Value>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

fn version() -> u64 {
    VERSION
}

impl Default for LockFile {
    fn default() -> Self {
        Self {
            version: VERSION,
            installed: Map::new(),
            rest: Map::new(),
        }
    }
}

/// One installed skill.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Locked {
    #[serde(default)]
    pub source: String,
    #[serde(default)]
    pub identifier: String,
    #[serde(default = "community")]
    pub trust_level: Trust,
    #[serde(default = "safe")]
    pub scan_verdict: Verdict,
    /// The hash of the files as they were fetched.
    #[serde(default)]
    pub content_hash: String,
    /// The directory, from that of all skills.
    #[serde(default)]
    pub install_path: String,
    #[serde(default)]
    pub files: Vec<String>,
    #[serde(default)]
    pub metadata: Map<String, Value>,
    #[serde(default)]
    pub scan_provenance: Map<String, Value>,
    #[serde(default)]
    pub installed_at: String,
    #[serde(default)]
    pub updated_at: String,
    /// The hash of the files as they were written, when that is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub installed_hash: Option<String>,
    /// Findings that were accepted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waivers: Vec<Waiver>,
    /// What is under way; nothing when it is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending: Option<Pending>,
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

fn community() -> Trust {
    Trust::Community
}

fn safe() -> Verdict {
    Verdict::Safe
}

/// What is being done with a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    Installing,
    Removing,
}

/// A step that a crash may interrupt, with everything that is needed to finish it or take it back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pending {
    pub state: Phase,
    /// The directory that waits in quarantine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub staged: Option<String>,
    /// Where the directory that was there before is put meanwhile.
    pub aside: String,
    /// The entry as it was before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous: Option<Value>,
}

impl Locked {
    /// The hash the files on the disk should have.
    pub(crate) fn disk_hash(&self) -> &str {
        self.installed_hash.as_deref().unwrap_or(&self.content_hash)
    }

    /// Where it came from.
    pub(crate) fn place(&self) -> Result<Identifier, HubError> {
        Identifier::of_list(&self.source, &self.identifier)
    }
}

impl LockFile {
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(bytes)
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut text = serde_json::to_vec_pretty(self).unwrap_or_default();
        text.push(b'\n');
        text
    }

    /// Everything that can be read, by name. An entry that cannot be is left alone and not shown.
    pub(crate) fn installed(&self) -> Vec<(String, Locked)> {
        let mut found: Vec<_> = self
            .installed
            .iter()
            .filter_map(|(name, value)| {
                let entry = Locked::deserialize(value).ok()?;
                Some((name.clone(), entry))
            })
            .collect();
        found.sort_by(|(a, _), (b, _)| a.cmp(b));
        found
    }

    /// The name under which a skill stands here. It may write its own in another way; the command is the same.
    pub(crate) fn key(&self, name: &str) -> Option<&str> {
        let (exact, command) = (self.installed.get_key_value(name), command_name(name));
        let mut keys = self.installed.keys();
        let alike = || keys.find(|key| !command.is_empty() && command_name(key) == command);
        exact.map(|(key, _)| key).or_else(alike).map(String::as_str)
    }

    pub(crate) fn get(&self, name: &str) -> Option<Locked> {
        Locked::deserialize(self.installed.get(name)?).ok()
    }

    pub(crate) fn raw(&self, name: &str) -> Option<&Value> {
        self.installed.get(name)
    }

    pub(crate) fn put(&mut self, name: &str, entry: &Locked) {
        if let Ok(value) = serde_json::to_value(entry) {
            self.put_raw(name, value);
        }
    }

    pub(crate) fn put_raw(&mut self, name: &str, value: Value) {
        self.installed.insert(name.to_owned(), value);
    }

    pub(crate) fn remove(&mut self, name: &str) {
        self.installed.shift_remove(name);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_others_wrote_is_kept() {
        let text = json!({
            "version": 1,
            "installed": {
                "pdf": {
                    "source": "github", "identifier": "openai/skills/pdf", "trust_level": "trusted",
                    "scan_verdict": "safe", "content_hash": "sha256:0011223344556677",
                    "install_path": "pdf", "files": ["SKILL.md"], "metadata": {"a": 1},
                    "installed_at": "2026-01-01T00:00:00+00:00", "updated_at": "", "theirs": [1],
                },
                "odd": 5,
            },
            "note": "x",
        });
        let mut file = LockFile::parse(text.to_string().as_bytes()).unwrap();
        let entry = file.get("pdf").unwrap();
        assert_eq!(
            (entry.trust_level, entry.disk_hash()),
            (Trust::Trusted, "sha256:0011223344556677")
        );
        assert_eq!(file.installed().len(), 1);
        file.put("pdf", &entry);
        let again: Value = serde_json::from_slice(&file.bytes()).unwrap();
        assert_eq!(again["note"], "x");
        assert_eq!(again["installed"]["odd"], 5);
        assert_eq!(again["installed"]["pdf"]["theirs"], json!([1]));
    }
}
