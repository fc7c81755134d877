//! What providers answered when they were asked for their models, kept for an hour.

use std::path::{Path, PathBuf};

use hermes_config::{read_file, replace_file};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// In seconds.
const FRESH: i64 = 3_600;

/// One answer.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Listing {
    /// Where it was asked: the same provider may answer at several addresses.
    pub(super) address: String,
    /// When, in seconds since 1970.
    pub(super) fetched_at: i64,
    pub(super) models: Vec<String>,
}

impl Listing {
    pub(super) fn is_fresh(&self, now: Timestamp) -> bool {
        // One from the future was written under another clock.
        (0..FRESH).contains(&(now.as_second() - self.fetched_at))
    }
}

/// Where an answer is kept.
pub(super) fn file(cache: &Path, provider: &str) -> PathBuf {
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
    cache.join("models").join(format!("{name}.json"))
}

/// The answer that is kept, if it can be used: it is only a copy.
pub(super) fn read(file: &Path, address: &str) -> Option<Listing> {
    let bytes = read_file(file).ok()??;
    let listing: Listing = serde_json::from_slice(&bytes).ok()?;
    (listing.address == address).then_some(listing)
}

/// Keeps an answer. A home that cannot be written to does without.
pub(super) fn write(file: &Path, listing: &Listing) {
    let Some(directory) = file.parent() else {
        return;
    };
    let written = hermes_config::create_directory(directory).and_then(|()| {
        let bytes = serde_json::to_vec(listing).unwrap_or_default();
        replace_file(file, &bytes)
    });
    if let Err(error) = written {
        tracing::debug!("the list of models was not kept: {error}");
    }
}
