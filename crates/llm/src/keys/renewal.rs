//! Renewing logins: once for all tasks and processes, and never used before it is kept.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared as SharedFuture};
use hermes_http::BaseUrl;
use hermes_secrets::{Secret, SecretName};
use jiff::Timestamp;
use serde_json::json;

use super::document::Row;
use super::file::{Home, OpenAuthFile};
use super::minted::MINTED;
use super::pool::{Kept, rebound};
use super::ring::{Key, Keyring, Shared};
use super::row;
use super::standing::{Standing, is_final};
use super::{KeyError, Lease};
use crate::oauth::{Flow, Granted, refresh};

/// Says in a row that a renewal was begun, so that one that was cut off can be told from others.
const BEGUN: &str = "refresh_started_at";

/// Names the place a login came from, in its row.
pub(super) const TOKEN_URL: &str = "token_url";

type Renewed = Result<Secret, KeyError>;

/// The renewals under way.
#[derive(Default)]
pub(super) struct Renewals(Mutex<HashMap<Key, SharedFuture<BoxFuture<'static, Renewed>>>>);

impl Keyring {
    /// Gives a newer token for the same login. Whoever asks while a renewal is under way shares its
    /// result, and a token that another process has renewed is taken over. The renewal goes on when
    /// the caller stops waiting: its reply is worth a login.
    pub async fn renew(&self, lease: &Lease) -> Result<Lease, KeyError> {
        let label = || lease.label.clone();
        let Some(used) = &lease.secret else {
            return Err(KeyError::NotRenewable { label: label() });
        };
        let fresh = match self.shared.mint_of(&lease.provider) {
            Some(mint) if lease.id == MINTED => self.mint_again(lease, &mint).await?,
            _ => {
                let flow = self.shared.flow(&lease.provider);
                let flow = flow.ok_or_else(|| KeyError::NotRenewable { label: label() })?;
                let key = (lease.provider.clone(), lease.id.clone());
                let task = Task {
                    shared: self.shared.clone(),
                    key: key.clone(),
                    label: label(),
                    used: used.clone(),
                    flow,
                    home: self.shared.home(lease)?,
                };
                let work = || async move { task.renew().await }.boxed();
                self.under_way(&key, &lease.label, work).await?
            }
        };
        let secret = match used.origins() {
            [hermes_secrets::OriginPattern::Exact(origin)] => {
                rebound(&fresh, used.name().as_str(), origin)
            }
            // A lease is bound to one origin; anything else was not made here.
            _ => return Err(KeyError::NotRenewable { label: label() }),
        };
        Ok(Lease {
            secret: Some(secret),
            ..lease.clone()
        })
    }

    /// The renewal of a credential that is under way, or a new one.
    pub(super) fn under_way(
        &self,
        key: &Key,
        label: &str,
        work: impl FnOnce() -> BoxFuture<'static, Renewed>,
    ) -> SharedFuture<BoxFuture<'static, Renewed>> {
        let mut all = self
            .shared
            .renewals
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(renewal) = all.get(key) {
            return renewal.clone();
        }
        let (shared, own, work) = (self.shared.clone(), key.clone(), work());
        let running = self.shared.tasks.spawn(async move {
            let renewed = work.await;
            let mut all = shared
                .renewals
                .0
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            all.remove(&own);
            renewed
        });
        let label = label.to_owned();
        let renewal = async move {
            running.await.unwrap_or_else(|error| {
                Err(KeyError::Later {
                    label,
                    why: error.to_string(),
                })
            })
        }
        .boxed()
        .shared();
        all.insert(key.clone(), renewal.clone());
        renewal
    }
}

/// One renewal.
struct Task {
    shared: Arc<Shared>,
    key: Key,
    label: String,
    used: Secret,
    flow: Flow,
    home: Home,
}

/// What a renewal is made from.
struct Due {
    /// The token that is traded for new ones.
    old: String,
    flow: Flow,
    /// Whether an earlier renewal was begun and not ended.
    cut_off: bool,
}

impl Task {
    /// What a renewal is made from, unless there cannot be one.
    fn due(&self, row: Option<&Row>) -> Result<Due, KeyError> {
        // A token that was refused is void; sending it again would only raise suspicion.
        if row.is_some_and(|row| Standing::read(row).is_dead()) {
            return Err(self.ended("the provider refused it before"));
        }
        let not_renewable = || KeyError::NotRenewable {
            label: self.label.clone(),
        };
        let old = row.and_then(|row| row::text(row, "refresh_token"));
        let old = old.ok_or_else(not_renewable)?.to_owned();
        let flow = row.and_then(|row| flow_of(row, &self.flow));
        Ok(Due {
            old,
            flow: flow.ok_or_else(not_renewable)?,
            cut_off: row.is_some_and(|row| row.contains_key(BEGUN)),
        })
    }

    /// Under the lock: look whether somebody else did it, else do it.
    async fn renew(&self) -> Renewed {
        let (file, home) = (self.shared.parts.file.clone(), self.home);
        let mut open = blocking(&self.label, move || Ok(file.open(home)?)).await?;
        let (provider, id) = (&self.key.0, &self.key.1);
        let row = open.document.row(provider, id);
        let access = row.and_then(|row| row::text(row, "access_token"));
        let Some(access) = access.map(str::to_owned) else {
            return Err(self.ended("it was removed"));
        };
        if !self.used.matches(&access) {
            drop(open);
            self.remember().await?;
            return self.secret(access);
        }
        let Due { old, flow, cut_off } = self.due(row)?;
        let now = self.shared.now();
        // Written before anything is sent: what cannot be kept must not be asked for.
        for row in same_grant(&mut open, provider, &old) {
            row.insert(BEGUN.to_owned(), json!(now.to_string()));
        }
        let mut open = self.saved(open).await?;
        let sent = crate::oauth::for_server(&flow, "refresh_token", old.clone())
            .map_err(|error| self.ended(&error.to_string()))?;
        match refresh(&self.shared.parts.http, &flow, &sent, now).await {
            Ok(granted) => {
                for row in same_grant(&mut open, provider, &old) {
                    write(row, &granted, now);
                }
                drop(self.saved(open).await?);
                self.remember().await?;
                Ok(granted.access)
            }
            Err(error) => {
                let words = error.to_string();
                let ended = !error.is_transient() && is_final(&words);
                for row in same_grant(&mut open, provider, &old) {
                    row.shift_remove(BEGUN);
                    if ended {
                        Standing::Dead { since: now }.write(row);
                    }
                }
                drop(self.saved(open).await?);
                self.remember().await?;
                Err(match (ended, cut_off) {
                    (true, true) => self.ended(&format!(
                        "{words}; an earlier renewal was cut off before its reply was kept"
                    )),
                    (true, false) => self.ended(&words),
                    (false, _) => KeyError::Later {
                        label: self.label.clone(),
                        why: words,
                    },
                })
            }
        }
    }

    /// Lets the ring know what the file says by now; what it heard before is out of date.
    async fn remember(&self) -> Result<(), KeyError> {
        let file = self.shared.parts.file.clone();
        let files = blocking(&self.label, move || Ok(file.read_both()?)).await?;
        let mut state = self.shared.state();
        if let Some(outcome) = state.outcomes.get_mut(&self.key) {
            outcome.forget_standing();
        }
        state.load(&self.key.0, &files);
        Ok(())
    }

    async fn saved(&self, open: OpenAuthFile) -> Result<OpenAuthFile, KeyError> {
        blocking(&self.label, move || {
            open.save()?;
            Ok(open)
        })
        .await
    }

    fn ended(&self, why: &str) -> KeyError {
        KeyError::Ended {
            provider: self.key.0.clone(),
            label: self.label.clone(),
            why: why.to_owned(),
        }
    }

    fn secret(&self, value: String) -> Renewed {
        SecretName::new("access_token")
            .and_then(|name| Secret::new(name, value, []))
            .map_err(|error| self.ended(&error.to_string()))
    }
}

/// Where a login is renewed: where it came from, else where its provider usually does it. `None` when
/// its own place cannot be used; its token belongs nowhere else.
fn flow_of(row: &Row, usual: &Flow) -> Option<Flow> {
    let url = match (row::text(row, TOKEN_URL), row::text(row, "portal_base_url")) {
        (Some(url), _) => url.parse().ok()?,
        // As the reference writes it.
        (None, Some(portal)) => {
            let portal: BaseUrl = portal.parse().ok()?;
            portal.join(usual.token_url.path())
        }
        (None, None) => return Some(usual.clone()),
    };
    usual.clone().of_login(url, row::text(row, "client_id"))
}

/// Every row that holds this grant: a refresh token is good for one use, wherever it stands.
fn same_grant<'o>(open: &'o mut OpenAuthFile, provider: &str, token: &str) -> Vec<&'o mut Row> {
    let mut rows = open.document.rows_mut(provider);
    rows.retain(|row| row::text(row, "refresh_token") == Some(token));
    rows
}

/// Writes new tokens into a row.
pub(super) fn write(row: &mut Row, granted: &Granted, now: Timestamp) {
    const PLACE: &str = "auth.json";
    let mut set = |name: &str, value| row.insert(name.to_owned(), value);
    set(
        "access_token",
        json!(granted.access.expose_for_storage(PLACE)),
    );
    if let Some(refresh) = &granted.refresh {
        set("refresh_token", json!(refresh.expose_for_storage(PLACE)));
    }
    set("obtained_at", json!(now.to_string()));
    set(
        "expires_at",
        json!(granted.life.until.map(|until| until.to_string())),
    );
    if let Some(scope) = &granted.scope {
        set("scope", json!(scope));
    }
    row.shift_remove(BEGUN);
    Standing::Good.write(row);
}

impl Shared {
    /// The file that a login is kept in.
    fn home(&self, lease: &Lease) -> Result<Home, KeyError> {
        let state = self.state();
        let kept = state
            .pools
            .get(&lease.provider)
            .and_then(|pool| pool.find(&lease.id))
            .map(|credential| credential.kept);
        match kept {
            Some(Kept::In(home)) => Ok(home),
            Some(Kept::Outside) | None => Err(KeyError::NotRenewable {
                label: lease.label.clone(),
            }),
        }
    }
}

/// Runs something that waits for files off the threads of the runtime.
async fn blocking<T: Send + 'static>(
    label: &str,
    work: impl FnOnce() -> Result<T, KeyError> + Send + 'static,
) -> Result<T, KeyError> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|error| {
            Err(KeyError::Later {
                label: label.to_owned(),
                why: error.to_string(),
            })
        })
}
