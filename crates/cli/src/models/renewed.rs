//! Settings that are read again while the program runs: whoever is resolved from then on is resolved by them.

use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError, RwLock};

use hermes_config::{Environment, Loaded};
use hermes_llm::resolve::Request;

use super::{Chosen, Models};

/// What changed since the program began.
#[derive(Default)]
pub(super) struct Renewed(RwLock<Latest>);

#[derive(Default)]
struct Latest {
    loaded: Option<Arc<Loaded>>,
    /// The service tier that is asked for, whatever the settings say.
    tier: Option<String>,
}

impl Models {
    /// Takes over settings that were read again. Answers which variables are not what they were.
    pub(crate) fn renew(&self, mut loaded: Loaded) -> Vec<String> {
        let mut latest = self
            .renewed
            .0
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(tier) = &latest.tier {
            loaded.config.agent.service_tier.clone_from(tier);
        }
        let before = latest.loaded.as_deref().unwrap_or(&self.loaded);
        let changed = changed(&before.environment, &loaded.environment);
        latest.loaded = Some(Arc::new(loaded));
        changed
    }

    /// Asks for a service tier from the next route on, whatever the settings say; the empty one leaves it to the
    /// provider, and none to the settings. Answers what was asked for before.
    pub(crate) fn set_tier(&self, tier: Option<String>, loaded: Loaded) -> Option<String> {
        let mut latest = self
            .renewed
            .0
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        let before = std::mem::replace(&mut latest.tier, tier);
        drop(latest);
        self.renew(loaded);
        before
    }

    /// Whether routes may differ from those the program began with.
    pub(crate) fn is_renewed(&self) -> bool {
        let latest = self
            .renewed
            .0
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        latest.loaded.is_some()
    }

    /// Tells the keyring about the key a choice has now. One that leads nowhere keeps the key it has.
    pub(crate) fn meet_again(&self, chosen: &Chosen) {
        if let Ok(resolved) = self.route(chosen) {
            self.known(resolved);
        }
    }

    /// Works something out by the settings as they were read last.
    pub(super) fn by_latest<T>(&self, chosen: &Chosen, work: impl FnOnce(&Request<'_>) -> T) -> T {
        let latest = self
            .renewed
            .0
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        let loaded = latest.loaded.clone();
        drop(latest);
        let loaded = loaded.as_deref().unwrap_or(&self.loaded);
        work(&self.request_in(loaded, chosen))
    }
}

fn changed(before: &Environment, after: &Environment) -> Vec<String> {
    let names: BTreeSet<&str> = before
        .iter()
        .chain(after.iter())
        .map(|(name, _)| name)
        .collect();
    let differs = |name: &&str| before.get_named(name) != after.get_named(name);
    let changed = names.into_iter().filter(differs);
    changed.map(str::to_owned).collect()
}
