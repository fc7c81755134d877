//! Credentials that are made for a while: made once for everybody who asks, and again before they end.

use std::time::Duration;

use futures_util::FutureExt;
use hermes_secrets::{Origin, Secret};
use jiff::Timestamp;

use super::pool::rebound;
use super::refusal::refused;
use super::ring::{Keyring, Shared};
use super::{KeyError, Lease};
use crate::classify::Reason;
use crate::cloud::Mint;
use crate::error::ModelError;
use crate::oauth::Due;
use crate::route::Route;

/// The name of such a credential among those of its provider.
pub(super) const MINTED: &str = "minted";
/// A credential that ends this soon is replaced, unless it never lives much longer.
const SKEW: Duration = Duration::from_secs(300);

/// One that was made.
pub(super) struct Made {
    pub(super) label: String,
    pub(super) secret: Secret,
    from: Timestamp,
    until: Option<Timestamp>,
    project: Option<String>,
}

impl Made {
    fn is_due(&self, now: Timestamp) -> bool {
        let Some(until) = self.until else {
            return false;
        };
        let between = |from: Timestamp, until: Timestamp| {
            Duration::try_from(until.duration_since(from)).unwrap_or(Duration::ZERO)
        };
        between(now, until) <= SKEW.min(between(self.from, until) / 2)
    }

    /// Whether it is to be replaced before it is used again.
    pub(super) fn due(&self, now: Timestamp) -> Due {
        match (self.has_ended(now), self.is_due(now)) {
            (true, _) => Due::Now,
            (false, true) => Due::Soon,
            (false, false) => Due::No,
        }
    }

    fn has_ended(&self, now: Timestamp) -> bool {
        self.until.is_some_and(|until| until <= now)
    }
}

impl Keyring {
    /// Lends a credential of this mint.
    pub(super) async fn lease_minted(
        &self,
        route: &Route,
        mint: &Mint,
        origin: &Origin,
    ) -> Result<Lease, ModelError> {
        let provider = route.provider.as_str();
        let lease = |secret: &Secret| Lease {
            provider: provider.to_owned(),
            id: MINTED.to_owned(),
            label: mint.label().to_owned(),
            secret: Some(rebound(secret, &format!("{provider}/{MINTED}"), origin)),
            held: None,
        };
        let now = self.shared.now();
        let kept = {
            let state = self.shared.state();
            let made = state.minted.get(provider);
            let made = made.filter(|made| made.label == mint.label() && !made.has_ended(now));
            made.map(|made| (made.secret.clone(), made.is_due(now)))
        };
        match kept {
            Some((secret, false)) => Ok(lease(&secret)),
            Some((secret, true)) => match self.mint(provider, mint).await {
                Ok(fresh) => Ok(lease(&fresh)),
                Err(error) => {
                    tracing::warn!("{error}; the one before is used until it ends");
                    Ok(lease(&secret))
                }
            },
            None => match self.mint(provider, mint).await {
                Ok(fresh) => Ok(lease(&fresh)),
                Err(error @ KeyError::Later { .. }) => {
                    Err(refused(Reason::Overloaded, error.to_string()))
                }
                Err(error) => Err(refused(Reason::Auth, error.to_string())),
            },
        }
    }

    /// Puts in what only the maker of the credential knew.
    pub(crate) fn complete(&self, route: &mut Route) {
        let state = self.shared.state();
        let made = state.minted.get(&route.provider);
        if let Some(project) = made.and_then(|made| made.project.as_deref()) {
            route.set_project(project);
        }
    }

    /// Makes one in place of the one that was lent, unless somebody else has done so.
    pub(super) async fn mint_again(&self, lease: &Lease, mint: &Mint) -> Result<Secret, KeyError> {
        let newer = {
            let state = self.shared.state();
            let made = state.minted.get(&lease.provider);
            let other = made.filter(|made| {
                lease.secret.as_ref().is_some_and(|used| {
                    !used.matches(made.secret.expose_for_storage("a comparison"))
                })
            });
            other.map(|made| made.secret.clone())
        };
        match newer {
            Some(secret) => Ok(secret),
            None => self.mint(&lease.provider, mint).await,
        }
    }

    async fn mint(&self, provider: &str, mint: &Mint) -> Result<Secret, KeyError> {
        let key = (provider.to_owned(), MINTED.to_owned());
        let (shared, own, owner) = (self.shared.clone(), mint.clone(), provider.to_owned());
        let work = || {
            async move {
                tokio::select! {
                    biased;
                    () = shared.closing.cancelled() => Err(KeyError::Later {
                        label: own.label().to_owned(),
                        why: "the program is ending".to_owned(),
                    }),
                    made = shared.make(&owner, &own) => made,
                }
            }
            .boxed()
        };
        self.under_way(&key, mint.label(), work).await
    }
}

impl Shared {
    async fn make(&self, provider: &str, mint: &Mint) -> Result<Secret, KeyError> {
        let from = self.now();
        let made = mint.make(&self.parts.http, from).await.map_err(|error| {
            let (label, why) = (mint.label().to_owned(), error.to_string());
            if error.is_transient() {
                KeyError::Later { label, why }
            } else {
                KeyError::NotMade { label, why }
            }
        })?;
        let secret = made.secret.clone();
        self.state().minted.insert(
            provider.to_owned(),
            Made {
                label: mint.label().to_owned(),
                secret: made.secret,
                from,
                until: made.until,
                project: made.project,
            },
        );
        Ok(secret)
    }
}
