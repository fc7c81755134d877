//! Where a key turned out to be at home, for providers with several addresses.

use serde_json::{Value as Json, json};

use super::document::{AuthDocument, Row};
use super::ring::Keyring;
use super::{KeyError, row};
use hermes_secrets::Secret;

/// The field of a provider's entry in `auth.json`; the reference reads and writes it too.
const FIELD: &str = "detected_endpoint";
/// Characters of a hash that are kept.
const HASH: usize = 16;

/// An address at which a key was accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundPlace {
    /// The provider.
    pub provider: String,
    /// The address.
    pub base_url: String,
    /// Tells the key from others.
    pub key_hash: String,
    /// Whether it is one of the keys that are kept here, which nobody else can look at.
    pub kept_key: bool,
}

/// Tells a key from others without telling the key.
pub(crate) fn key_hash(value: &str) -> String {
    let hash = row::sha256(value);
    hash.chars().take(HASH).collect()
}

impl Keyring {
    /// All places that were found. Waits for files.
    pub fn found_places(&self) -> Result<Vec<FoundPlace>, KeyError> {
        let files = self.shared.parts.file.read_both()?;
        let mut all = places(&files.own);
        all.extend(places(&files.root));
        Ok(all)
    }

    /// Keeps the place at which a key was accepted. Waits for files.
    pub fn keep_place(&self, provider: &str, key: &Secret, base_url: &str) -> Result<(), KeyError> {
        let hash = key_hash(key.expose_for_storage("a hash in auth.json"));
        self.shared.parts.file.change(|document| {
            let mut entry = document.login(provider).cloned().unwrap_or_default();
            let place = json!({"base_url": base_url, "key_hash": hash});
            entry.insert(FIELD.to_owned(), place);
            document.set_login(provider, Some(entry));
        })?;
        Ok(())
    }
}

fn places(document: &AuthDocument) -> Vec<FoundPlace> {
    let place = |provider: &str| -> Option<FoundPlace> {
        let found = document.login(provider)?.get(FIELD)?;
        let text = |name| found.get(name).and_then(Json::as_str).map(str::to_owned);
        let key_hash = text("key_hash")?;
        let same = |row: &Row| {
            row::text(row, "access_token").is_some_and(|key| self::key_hash(key) == key_hash)
        };
        Some(FoundPlace {
            provider: provider.to_owned(),
            base_url: text("base_url")?,
            kept_key: document.pool(provider).any(same),
            key_hash,
        })
    };
    document.providers().into_iter().filter_map(place).collect()
}
