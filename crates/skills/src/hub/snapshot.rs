//! The list of what is installed, to install it elsewhere.

use serde::{Deserialize, Serialize};

use super::Hub;
use super::error::HubError;
use super::identifier::Identifier;
use super::state::Tap;

const VERSION: u64 = 1;

/// What is installed here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    /// The reference's lists have none.
    #[serde(default)]
    pub version: u64,
    #[serde(default)]
    pub exported_at: String,
    #[serde(default)]
    pub skills: Vec<SnapshotEntry>,
    #[serde(default)]
    pub taps: Vec<Tap>,
}

/// One skill: enough to fetch it again, nothing that would let it pass without being looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnapshotEntry {
    pub name: String,
    /// Its place, where the identifier may not say it.
    #[serde(default)]
    pub source: String,
    pub identifier: String,
    #[serde(default)]
    pub category: Option<String>,
    #[serde(default)]
    pub content_hash: String,
}

impl SnapshotEntry {
    /// Where it comes from.
    pub fn place(&self) -> Result<Identifier, HubError> {
        Identifier::of_list(&self.source, &self.identifier)
    }

    /// The directory it goes into; none when it lies with no others.
    pub fn category(&self) -> Option<&str> {
        self.category.as_deref().filter(|name| !name.is_empty())
    }
}

impl Hub {
    /// Lists what is installed.
    pub fn snapshot(&self) -> Result<Snapshot, HubError> {
        let skills = self.installed()?.into_iter().map(|(name, entry)| {
            let category = entry.install_path.rsplit_once('/');
            SnapshotEntry {
                name,
                source: entry.source,
                identifier: entry.identifier,
                category: category.map(|(category, _)| category.to_owned()),
                content_hash: entry.content_hash,
            }
        });
        Ok(Snapshot {
            version: VERSION,
            exported_at: self.clock.now().to_string(),
            skills: skills.collect(),
            taps: self.taps()?.taps,
        })
    }
}
