//! Endpoints of the user's own, in both places the settings have for them.

use hermes_config::{Config, KeyPath, Provider};
use hermes_llm::alias;

/// One endpoint.
pub(super) struct Endpoint<'c> {
    /// What it is called: `lab` for `custom:lab`.
    pub(super) key: String,
    pub(super) entry: &'c Provider,
    /// Where the settings have it.
    pub(super) path: KeyPath,
}

impl Endpoint<'_> {
    /// What credentials and routes call it.
    pub(super) fn id(&self) -> String {
        format!("custom:{}", self.key)
    }
}

/// All that have an address.
pub(super) fn all(config: &Config) -> impl Iterator<Item = Endpoint<'_>> {
    let map = config.providers.iter();
    let map = map.map(|(key, entry)| {
        (
            key.as_str(),
            entry,
            KeyPath::of(["providers", key.as_str()]),
        )
    });
    let list = config.custom_providers.iter().enumerate();
    let list = list.map(|(index, entry)| {
        let path = KeyPath::of(["custom_providers", index.to_string().as_str()]);
        (entry.name.as_str(), entry, path)
    });
    map.chain(list)
        .filter(|(_, entry, _)| !entry.base_url.is_empty())
        .map(|(key, entry, path)| Endpoint {
            key: alias::normal(key),
            entry,
            path,
        })
}

/// The one of this name, with or without `custom:`.
pub(super) fn find<'c>(config: &'c Config, name: &str) -> Option<Endpoint<'c>> {
    let name = alias::normal(name);
    let own = name.strip_prefix("custom:").unwrap_or(&name).to_owned();
    all(config).find(|endpoint| endpoint.key == own)
}
