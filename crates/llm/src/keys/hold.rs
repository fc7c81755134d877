//! Who has a credential in hand, so that work beside a conversation takes another one where there is one.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, OnceLock};

use super::elsewhere::Mark;
use super::pool::Credential;
use super::ring::{Key, Shared};

/// How many leases of each credential are out.
#[derive(Debug, Default)]
pub(super) struct Holders(HashMap<Key, usize>);

impl Holders {
    fn of(&self, provider: &str, id: &str) -> usize {
        // The key is made for a look only; pools have few credentials.
        let key = (provider.to_owned(), id.to_owned());
        self.0.get(&key).copied().unwrap_or_default()
    }

    /// Whether anybody here has it in hand.
    pub(super) fn has(&self, provider: &str, id: &str) -> bool {
        self.of(provider, id) > 0
    }

    /// Leaves of these the ones that the fewest have in hand. How many have one elsewhere is not known: it counts
    /// as one.
    pub(super) fn keep_least(
        &self,
        provider: &str,
        elsewhere: &HashSet<String>,
        credentials: &mut Vec<&Credential>,
    ) {
        let holders = |credential: &Credential| {
            let there = usize::from(elsewhere.contains(&credential.id));
            self.of(provider, &credential.id).max(there)
        };
        let least = credentials.iter().map(|credential| holders(credential));
        let least = least.min().unwrap_or_default();
        credentials.retain(|credential| holders(credential) == least);
    }

    pub(super) fn take(&mut self, key: &Key) {
        *self.0.entry(key.clone()).or_default() += 1;
    }

    fn give_back(&mut self, key: &Key) {
        if let Some(holders) = self.0.get_mut(key) {
            *holders = holders.saturating_sub(1);
            if *holders == 0 {
                self.0.remove(key);
            }
        }
    }
}

/// A credential in hand. It is free again when the last copy of its lease is gone.
pub(super) struct Hold {
    shared: Arc<Shared>,
    key: Key,
    /// What other processes see of it.
    mark: OnceLock<Mark>,
}

impl Hold {
    /// One that was counted when it was chosen.
    pub(super) fn counted(shared: Arc<Shared>, key: Key) -> Arc<Self> {
        let mark = OnceLock::new();
        Arc::new(Self { shared, key, mark })
    }

    /// Keeps the mark that other processes see.
    pub(super) fn show(&self, mark: Mark) {
        // A second mark would say the same as the first.
        let _ = self.mark.set(mark);
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.shared.state().held.give_back(&self.key);
    }
}

impl fmt::Debug for Hold {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Hold").field(&self.key.1).finish()
    }
}
