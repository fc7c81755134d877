//! Replacing what ends soon: before it is lent, and again before each call that it is kept for.

use std::time::Duration;

use jiff::Timestamp;

use super::minted::MINTED;
use super::pool::Kind;
use super::refusal::refused;
use super::ring::{Key, Keyring, Shared, State};
use super::{KeyError, Lease};
use crate::classify::Reason;
use crate::error::ModelError;
use crate::oauth::Due;

/// How long a replacement that failed is not tried again while the credential itself still works. Otherwise
/// every call would wait for a server that is away.
const PAUSE: Duration = Duration::from_secs(60);

impl Keyring {
    /// The same credential for the next call: a newer token of it when the one in hand ends soon or somebody else
    /// has replaced it, never another credential. `None` when it has ended for good.
    pub async fn keep(&self, lease: &Lease) -> Result<Option<Lease>, ModelError> {
        match self.shared.due(lease) {
            Due::No => Ok(Some(lease.clone())),
            due => self.replaced(lease, due).await,
        }
    }

    /// Replaces a credential that ends. `None` when it has ended for good.
    pub(super) async fn replaced(
        &self,
        lease: &Lease,
        due: Due,
    ) -> Result<Option<Lease>, ModelError> {
        match self.renew(lease).await {
            Ok(renewed) => Ok(Some(renewed)),
            Err(KeyError::Ended { .. }) => {
                self.shared.bury(lease);
                Ok(None)
            }
            Err(error) if due == Due::Soon => {
                tracing::warn!("{error}; it is used until it ends");
                let (key, now) = (key(lease), self.shared.now());
                self.shared.state().put_off.insert(key, now);
                Ok(Some(lease.clone()))
            }
            // The provider has the last word on when a token ends.
            Err(KeyError::NotRenewable { .. }) => Ok(Some(lease.clone())),
            Err(error @ KeyError::NotMade { .. }) => Err(refused(Reason::Auth, error.to_string())),
            Err(error) => Err(refused(Reason::Overloaded, error.to_string())),
        }
    }
}

impl Shared {
    /// Whether what was lent should be replaced before it is used again.
    fn due(&self, lease: &Lease) -> Due {
        let now = self.now();
        let state = self.state();
        match state.life_of(lease, now) {
            Due::Soon if state.is_put_off(&key(lease), now) => Due::No,
            due => due,
        }
    }
}

impl State {
    fn life_of(&self, lease: &Lease, now: Timestamp) -> Due {
        let Some(used) = &lease.secret else {
            return Due::No;
        };
        let is_used = |secret: &hermes_secrets::Secret| {
            used.matches(secret.expose_for_storage("a comparison"))
        };
        if lease.id == MINTED {
            let made = self.minted.get(&lease.provider);
            return match made.filter(|made| made.label == lease.label) {
                // Somebody else has replaced it.
                Some(made) if !is_used(&made.secret) => Due::Soon,
                Some(made) => made.due(now),
                None => Due::No,
            };
        }
        let pool = self.pools.get(&lease.provider);
        let flow = self.known.get(&lease.provider);
        let flow = flow.and_then(|known| known.flow.as_ref());
        let credential = pool.and_then(|pool| pool.find(&lease.id));
        match (credential, flow) {
            (Some(credential), Some(flow)) => match credential.kind {
                Kind::Login(_) if !is_used(&credential.secret) => Due::Soon,
                Kind::Login(life) => life.due(flow, now),
                Kind::Key | Kind::Foreign => Due::No,
            },
            _ => Due::No,
        }
    }

    fn is_put_off(&self, key: &Key, now: Timestamp) -> bool {
        let tried = self.put_off.get(key);
        tried.is_some_and(|tried| {
            Duration::try_from(now.duration_since(*tried)).is_ok_and(|since| since < PAUSE)
        })
    }
}

fn key(lease: &Lease) -> Key {
    (lease.provider.clone(), lease.id.clone())
}
