//! What providers answered when they were asked for their models, kept in the home. It is only a copy: one that
//! cannot be read or written is done without.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use hermes_config::{create_directory, read_file, replace_file};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::price::Price;

/// No list is longer; what is, is not one.
const MOST_BYTES: u64 = 16 << 20;

/// One answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KeptList {
    /// Where it was asked: the same provider may answer at several addresses.
    pub address: String,
    /// The fingerprint of the credential it was asked with: another account may have other models. Empty where
    /// none was.
    #[serde(default)]
    pub credential: String,
    /// When, in seconds since 1970.
    pub fetched_at: i64,
    /// The models.
    pub models: Vec<String>,
    /// What it says about some of them.
    #[serde(default)]
    pub facts: BTreeMap<String, Facts>,
}

/// What a list says about a model.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Facts {
    /// The context window in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<u32>,
    /// What it costs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
}

impl KeptList {
    /// Whether it is younger than this.
    pub fn is_fresh(&self, now: Timestamp, life: Duration) -> bool {
        // One from the future was written under another clock.
        let age = u64::try_from(now.as_second() - self.fetched_at);
        age.is_ok_and(|age| age < life.as_secs())
    }
}

/// The last answers of all providers. Each is read when somebody asks for something in it, and again when it has
/// changed.
#[derive(Debug)]
pub struct KeptLists {
    directory: PathBuf,
    read: Mutex<BTreeMap<String, Seen>>,
}

#[derive(Debug)]
struct Seen {
    written: SystemTime,
    list: Option<Arc<KeptList>>,
}

impl KeptLists {
    /// The lists in a home's directory for what can be fetched again.
    pub fn new(cache: &Path) -> Self {
        Self {
            directory: cache.join("models"),
            read: Mutex::default(),
        }
    }

    /// The last answer of a provider at an address.
    pub fn get(&self, provider: &str, address: &str) -> Option<Arc<KeptList>> {
        let file = self.file(provider);
        let about = std::fs::metadata(&file).ok()?;
        let written = about.modified().ok()?;
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let known = read.get(provider).filter(|copy| copy.written == written);
        let list = match known {
            Some(copy) => copy.list.clone(),
            None => {
                let fits = about.len() <= MOST_BYTES;
                let bytes = read_file(&file).ok().flatten().filter(|_| fits);
                let list = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
                let list = list.map(Arc::new);
                let copy = Seen {
                    written,
                    list: list.clone(),
                };
                read.insert(provider.to_owned(), copy);
                list
            }
        };
        list.filter(|list: &Arc<KeptList>| list.address == address)
    }

    /// What a provider's list says about a model.
    pub fn facts(&self, provider: &str, address: &str, model: &str) -> Option<Facts> {
        self.get(provider, address)?.facts.get(model).copied()
    }

    /// Keeps an answer.
    pub fn keep(&self, provider: &str, list: &KeptList) {
        let written = create_directory(&self.directory).and_then(|()| {
            let bytes = serde_json::to_vec(list).unwrap_or_default();
            replace_file(&self.file(provider), &bytes)
        });
        if let Err(error) = written {
            tracing::debug!("the list of models was not kept: {error}");
        }
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        read.remove(provider);
    }

    fn file(&self, provider: &str) -> PathBuf {
        let name: String = provider
            .chars()
            .map(|c| {
                if c.is_ascii_alphanumeric() || c == '-' {
                    c
                } else {
                    '_'
                }
            })
            .collect();
        self.directory.join(format!("{name}.json"))
    }
}
