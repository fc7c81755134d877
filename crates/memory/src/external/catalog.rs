//! The external memories there are, and how one is made.

use std::path::Path;
use std::sync::Arc;

use hermes_config::Environment;
use hermes_http::HttpClient;
use hermes_store::Store;

use super::error::ProviderError;
use super::provider::Provider;
use super::{facts, hindsight, honcho, mem0, openviking, supermemory};

/// What a provider is made from.
pub struct Setup<'a> {
    /// The home of the profile.
    pub home: &'a Path,
    /// The home of the default profile.
    pub root: &'a Path,
    /// The home directory of the user.
    pub user_home: Option<&'a Path>,
    /// The name of the profile; `default` for the default one.
    pub profile: &'a str,
    /// The variables, those of `.env` included.
    pub environment: &'a Environment,
    /// Makes requests.
    pub client: HttpClient,
    /// Our own store.
    pub store: Store,
}

impl Setup<'_> {
    /// Whether this is the default profile.
    pub(crate) fn is_default(&self) -> bool {
        self.profile == "default"
    }

    /// A name that no two profiles share.
    pub(crate) fn own(&self, name: &str) -> String {
        match self.is_default() {
            true => name.to_owned(),
            false => format!("{name}_{}", self.profile),
        }
    }
}

/// A provider by name.
pub struct Known {
    /// As `memory.provider` names it.
    pub name: &'static str,
    /// What it is, for people who choose.
    pub about: &'static str,
    /// The variable that holds its key; none when it needs none.
    pub key: Option<&'static str>,
    /// The variable that holds its address; none when it is not elsewhere.
    pub address: Option<&'static str>,
    /// Whether it works without a key, such as a service of one's own.
    pub keyless: bool,
    make: fn(&Setup<'_>) -> Result<Arc<dyn Provider>, ProviderError>,
}

impl Known {
    /// Makes it. Reads its settings and asks nobody.
    pub fn make(&self, setup: &Setup<'_>) -> Result<Arc<dyn Provider>, ProviderError> {
        (self.make)(setup)
    }
}

/// All of them, in the order people choose from.
pub const PROVIDERS: &[Known] = &[
    Known {
        name: facts::NAME,
        about: "single facts with trust, kept here in the database; no account",
        key: None,
        address: None,
        keyless: true,
        make: facts::make,
    },
    Known {
        name: honcho::NAME,
        about: "models of you and of the agent, by Plastic Labs or your own server",
        key: Some("HONCHO_API_KEY"),
        address: Some("HONCHO_BASE_URL"),
        keyless: true,
        make: honcho::make,
    },
    Known {
        name: mem0::NAME,
        about: "facts a service draws from what is said, in the cloud or on your own server",
        key: Some("MEM0_API_KEY"),
        address: Some("MEM0_HOST"),
        keyless: true,
        make: mem0::make,
    },
    Known {
        name: supermemory::NAME,
        about: "a profile and memories in the cloud, by Supermemory or your own server",
        key: Some("SUPERMEMORY_API_KEY"),
        address: Some("SUPERMEMORY_BASE_URL"),
        keyless: false,
        make: supermemory::make,
    },
    Known {
        name: hindsight::NAME,
        about: "a bank of memories that can be thought about, by Vectorize or your own server",
        key: Some("HINDSIGHT_API_KEY"),
        address: Some("HINDSIGHT_API_URL"),
        keyless: true,
        make: hindsight::make,
    },
    Known {
        name: openviking::NAME,
        about: "memories and documents as a tree of files, on your own server",
        key: Some("OPENVIKING_API_KEY"),
        address: Some("OPENVIKING_ENDPOINT"),
        keyless: true,
        make: openviking::make,
    },
];

/// A provider by its name.
pub fn known(name: &str) -> Result<&'static Known, ProviderError> {
    PROVIDERS
        .iter()
        .find(|known| known.name == name)
        .ok_or_else(|| ProviderError::Unknown {
            name: name.to_owned(),
        })
}
