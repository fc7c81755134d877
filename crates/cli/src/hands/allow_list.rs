//! A yes that holds from now on is a line in the user's settings.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use hermes_config::{Config, Home, ManagedScope, Owner, Settings, UnknownKey};
use hermes_tools::Remembers;

use crate::context::Context;

/// The allow list of the settings.
pub(super) struct AllowList {
    home: Home,
    owner: Owner,
    managed: ManagedScope,
    entries: Mutex<Vec<String>>,
}

impl AllowList {
    pub(super) fn new(context: &Context, config: &Config) -> crate::complaint::Outcome<Self> {
        Ok(Self {
            home: context.home()?.clone(),
            owner: context.owner()?,
            managed: ManagedScope::find(&context.environment).scope,
            entries: Mutex::new(config.command_allowlist.clone()),
        })
    }
}

impl Remembers for AllowList {
    fn always(&self, categories: &BTreeSet<String>) {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let new: Vec<String> = categories
            .iter()
            .filter(|category| !entries.contains(category))
            .cloned()
            .collect();
        entries.extend(new);
        let list = serde_json::Value::from(entries.clone()).to_string();
        let settings = Settings {
            home: &self.home,
            owner: &self.owner,
            managed: &self.managed,
        };
        if let Err(error) = settings.set("command_allowlist", &list, UnknownKey::Refuse) {
            tracing::warn!(%error, "the allow list could not be changed");
        }
    }
}
