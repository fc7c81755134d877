//! Lending credentials and hearing how the calls went.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use hermes_config::PoolStrategy;
use hermes_core::{Clock, Random};
use hermes_http::HttpClient;
use jiff::Timestamp;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::elsewhere::Marks;
use super::file::{AuthFile, Both};
use super::hold::{Hold, Holders};
use super::minted::Made;
use super::pool::{Credential, Kind, Pool, Target, Wish, credentials};
use super::provider::{KeyNeed, KeySource, ProviderKeys};
use super::refusal::refused;
use super::renewal::Renewals;
use super::save::{Outcome, Writer};
use super::standing::Standing;
use super::{KeyError, KeyState, Lease};
use crate::classify::{Fault, Reason};
use crate::cloud::Mint;
use crate::error::ModelError;
use crate::failover::Renewal;
use crate::oauth::Due;
use crate::route::{Auth, Endpoint, Route};

/// Names a route: its provider, model and address.
type Place = (String, String, String);

/// Names a credential: its provider and its id there.
pub(super) type Key = (String, String);

/// The credentials of all providers. Dropping it writes what is not written yet, which may wait for
/// another process.
pub struct Keyring {
    pub(super) shared: Arc<Shared>,
    writer: OnceLock<Writer>,
}

/// What a keyring is made of.
pub struct KeyringParts {
    /// Where credentials are kept.
    pub file: AuthFile,
    /// Renews logins.
    pub http: HttpClient,
    /// Tells how long a credential has rested.
    pub clock: Arc<dyn Clock>,
    /// Chooses where the strategy is chance, and names new entries.
    pub random: Arc<dyn Random>,
    /// How to choose among the credentials of a provider; the first that works when it is not named.
    pub strategies: BTreeMap<String, PoolStrategy>,
}

pub(super) struct Shared {
    pub(super) parts: KeyringParts,
    pub(super) tasks: TaskTracker,
    pub(super) renewals: Renewals,
    /// What other processes see of what is in hand here.
    pub(super) marks: Marks,
    /// Ends what can be made again at any time.
    pub(super) closing: CancellationToken,
    state: Mutex<State>,
    saving: Mutex<()>,
}

#[derive(Default)]
pub(super) struct State {
    pub(super) known: HashMap<String, ProviderKeys>,
    pub(super) pools: HashMap<String, Pool>,
    /// The credential that a route was resolved with.
    own: HashMap<Place, KeySource>,
    /// Who is in hand.
    pub(super) held: Holders,
    /// When replacing a credential that still works failed.
    pub(super) put_off: HashMap<Key, Timestamp>,
    /// The label of the credential that worked last, by provider.
    worked: HashMap<String, String>,
    /// What was made for a while, by provider.
    pub(super) minted: HashMap<String, Made>,
    /// How often what was heard went into the file.
    pub(super) saves: u64,
    /// What was heard and is not in the file, or never will be.
    pub(super) outcomes: HashMap<Key, Outcome>,
}

impl Keyring {
    /// A keyring that knows what `auth.json` says; reads nothing yet.
    pub fn new(parts: KeyringParts) -> Self {
        Self {
            shared: Arc::new(Shared {
                marks: Marks::of(&parts.file),
                parts,
                tasks: TaskTracker::new(),
                renewals: Renewals::default(),
                closing: CancellationToken::new(),
                state: Mutex::default(),
                saving: Mutex::default(),
            }),
            writer: OnceLock::new(),
        }
    }

    /// Tells what else is known about a provider; replaces what was told before.
    pub fn know(&self, provider: &str, keys: ProviderKeys) {
        self.shared.state().known.insert(provider.to_owned(), keys);
    }

    /// Tells what a route was resolved with, beside what is known of its provider from other routes. Calls on
    /// it are made with the first of these keys while that works.
    pub fn meet(&self, route: &Route, keys: ProviderKeys) {
        let own = keys.keys.first().map(|key| key.source.clone());
        let mut state = self.shared.state();
        match own {
            Some(own) => state.own.insert(place(route), own),
            None => state.own.remove(&place(route)),
        };
        match state.known.get_mut(&route.provider) {
            Some(known) => known.add(keys),
            None => {
                state.known.insert(route.provider.clone(), keys);
            }
        }
    }

    /// Lends a credential for a conversation's calls on this route. A login that is about to end is renewed first.
    pub async fn lease(&self, route: &Route) -> Result<Lease, ModelError> {
        self.lend(route, Holder::Conversation).await
    }

    /// The same for work beside conversations: a credential that nobody has in hand, else the one that the fewest
    /// have. A key that is set for this route in the settings stays its key.
    pub async fn lease_beside(&self, route: &Route) -> Result<Lease, ModelError> {
        self.lend(route, Holder::Beside).await
    }

    async fn lend(&self, route: &Route, holder: Holder) -> Result<Lease, ModelError> {
        let address = match &route.endpoint {
            Endpoint::Http(address) if address.auth != Auth::None => address,
            Endpoint::Http(_) | Endpoint::Embedded { .. } => return Ok(keyless(route)),
        };
        let provider = route.provider.as_str();
        let target = Target::of(address).map_err(|error| {
            refused(Reason::Auth, format!("the address of {provider}: {error}"))
        })?;
        if let Some(mint) = self.shared.mint_of(provider).filter(|_| target.tied) {
            return self.lease_minted(route, &mint, &target.origin).await;
        }
        self.reload(provider)
            .await
            .map_err(|error| refused(Reason::Auth, error.to_string()))?;
        let elsewhere = match holder {
            Holder::Conversation => HashSet::new(),
            Holder::Beside => self.elsewhere(provider).await,
        };
        // Every round but the last finds that one more login has ended.
        loop {
            let chosen = match self.shared.choose(route, &target, holder, &elsewhere) {
                Ok(chosen) => chosen,
                Err(Lack::Any(need)) if need == KeyNeed::Optional || address.local => {
                    return Ok(keyless(route));
                }
                Err(Lack::Any(_)) => return Err(self.shared.missing(route)),
                Err(Lack::Ready) => return Err(self.shared.unready(route, &target)),
            };
            let key = (provider.to_owned(), chosen.id.clone());
            let hold = Hold::counted(self.shared.clone(), key);
            self.tell_others(provider, &chosen.id, &hold).await;
            let lease = Lease {
                provider: provider.to_owned(),
                secret: Some(chosen.bound(provider, &target.origin)),
                id: chosen.id,
                label: chosen.label,
                held: Some(hold),
            };
            let due = match (chosen.kind, self.shared.flow(provider)) {
                (Kind::Login(life), Some(flow)) => life.due(&flow, self.shared.now()),
                _ => Due::No,
            };
            if due == Due::No {
                return Ok(lease);
            }
            if let Some(lease) = self.replaced(&lease, due).await? {
                return Ok(lease);
            }
        }
    }

    /// What is left to try besides the credential in use, as far as it is known from the last lease.
    pub fn state(&self, route: &Route, lease: Option<&Lease>) -> KeyState {
        let (now, state) = (self.shared.now(), self.shared.state());
        let target = match &route.endpoint {
            Endpoint::Http(address) => Target::of(address).ok(),
            Endpoint::Embedded { .. } => None,
        };
        let tied = target.as_ref().is_some_and(|target| target.tied);
        let known = state.known.get(&route.provider);
        if tied && known.is_some_and(|known| known.mint.is_some()) {
            return KeyState {
                others: 0,
                // What could not be made is not tried again at once.
                renewal: match lease {
                    Some(_) => Renewal::OnAuth,
                    None => Renewal::Never,
                },
            };
        }
        let (Some(pool), Some(target)) = (state.pools.get(&route.provider), target) else {
            return KeyState {
                others: 0,
                renewal: Renewal::Never,
            };
        };
        let others = pool
            .candidates(&target)
            .filter(|other| lease.is_none_or(|lease| lease.id != other.id))
            .filter(|other| other.standing.is_ready(now))
            .count();
        let kind = lease
            .and_then(|lease| pool.find(&lease.id))
            .map(|credential| credential.kind);
        let flow = state
            .known
            .get(&route.provider)
            .and_then(|known| known.flow.as_ref());
        let renewal = match (kind, flow) {
            (Some(Kind::Login(_)), Some(flow)) => flow.renewal,
            _ => Renewal::Never,
        };
        KeyState {
            others: u32::try_from(others).unwrap_or(u32::MAX),
            renewal,
        }
    }

    /// Counts a failed call against the credential it was made with, and lets the credential rest if
    /// the failure was its own.
    pub fn set_aside(&self, lease: &Lease, fault: &Fault) {
        let standing = Standing::after(fault, self.shared.now());
        self.heard(lease, standing);
    }

    /// Counts a call that worked for the credential it was made with.
    pub fn worked(&self, lease: &Lease) {
        let (provider, label) = (lease.provider.clone(), lease.label.clone());
        self.shared.state().worked.insert(provider, label);
        self.heard(lease, Some(Standing::Good));
    }

    /// The label of the credential a provider was last called with successfully, in this process.
    pub fn in_use(&self, provider: &str) -> Option<String> {
        self.shared.state().worked.get(provider).cloned()
    }

    /// Waits for renewals under way, whose replies are worth a login, and writes what is not written yet. What
    /// is made for a while is given up: it would not be used. Blocks at its end.
    pub async fn close(&self) {
        self.shared.closing.cancel();
        self.shared.tasks.close();
        self.shared.tasks.wait().await;
        self.flush();
    }

    /// Writes what is not written yet. Blocks.
    pub fn flush(&self) {
        self.shared.save();
    }

    fn heard(&self, lease: &Lease, standing: Option<Standing>) {
        if lease.secret.is_none() {
            return;
        }
        let changed = self.shared.state().hear(lease, standing);
        if changed {
            self.writer
                .get_or_init(|| Writer::start(self.shared.clone()))
                .wake();
        }
    }

    async fn reload(&self, provider: &str) -> Result<(), KeyError> {
        loop {
            let saves = self.shared.state().saves;
            let file = self.shared.parts.file.clone();
            let read = tokio::task::spawn_blocking(move || file.read_both()).await;
            // The read is neither cancelled nor panics; if the runtime is going down, so are we.
            let files = read.map_err(|error| KeyError::Later {
                label: provider.to_owned(),
                why: error.to_string(),
            })??;
            let mut state = self.shared.state();
            // What was written while we read is neither in what we read nor in what was heard.
            if state.saves == saves {
                state.load(provider, &files);
                return Ok(());
            }
        }
    }
}

impl Drop for Keyring {
    fn drop(&mut self) {
        drop(self.writer.take());
        self.shared.save();
    }
}

/// Whom a credential is lent to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holder {
    /// A conversation: always the same one while it works, for the sake of its prompt cache.
    Conversation,
    /// Work beside one.
    Beside,
}

/// Why there is nothing to lend.
enum Lack {
    /// There is no credential.
    Any(KeyNeed),
    /// There are some, but none can be used now.
    Ready,
}

impl Shared {
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Held while what was heard goes into the file or is dropped, so that nothing is counted twice
    /// and nothing that was dropped comes back. Taken before the state, by those who may wait.
    pub(super) fn saving(&self) -> MutexGuard<'_, ()> {
        self.saving.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn now(&self) -> Timestamp {
        self.parts.clock.now()
    }

    pub(super) fn flow(&self, provider: &str) -> Option<crate::oauth::Flow> {
        self.state().known.get(provider)?.flow.clone()
    }

    pub(super) fn mint_of(&self, provider: &str) -> Option<Mint> {
        self.state().known.get(provider)?.mint.clone()
    }

    /// Lends this one no more, whatever the file says, until it is read again.
    pub(super) fn bury(&self, lease: &Lease) {
        let since = self.now();
        if let Some(pool) = self.state().pools.get_mut(&lease.provider)
            && let Some(credential) = pool.find_mut(&lease.id)
        {
            credential.standing = Standing::Dead { since };
        }
    }

    /// Chooses a credential and counts it as one in hand.
    fn choose(
        &self,
        route: &Route,
        target: &Target,
        holder: Holder,
        elsewhere: &HashSet<String>,
    ) -> Result<Credential, Lack> {
        let provider = route.provider.as_str();
        let strategy = self
            .parts
            .strategies
            .get(provider)
            .copied()
            .unwrap_or(PoolStrategy::FillFirst);
        let mut state = self.state();
        let State {
            known,
            own,
            pools,
            held,
            ..
        } = &mut *state;
        let need = known
            .get(provider)
            .map_or(KeyNeed::Required, |known| known.need);
        let own = own.get(&place(route));
        let pool = pools.entry(provider.to_owned()).or_default();
        let reaches = |credential: &Credential| credential.reaches(target);
        let needs_none = need == KeyNeed::Optional && !pool.credentials.iter().any(reaches);
        if pool.credentials.is_empty() || needs_none {
            return Err(Lack::Any(need));
        }
        let spread = holder == Holder::Beside && !matches!(own, Some(KeySource::Setting(_)));
        let wish = Wish {
            provider,
            target,
            own: own.map(KeySource::to_string),
            strategy,
            random: self.parts.random.as_ref(),
            now: self.now(),
            avoid: spread.then_some((&*held, elsewhere)),
        };
        let chosen = pool.choose(&wish).ok_or(Lack::Ready)?;
        held.take(&(provider.to_owned(), chosen.id.clone()));
        Ok(chosen)
    }
}

impl State {
    /// Takes over what the files say, under what was heard since.
    pub(super) fn load(&mut self, provider: &str, files: &Both) {
        let known = self.known.get(provider).cloned().unwrap_or_default();
        let mut found = credentials(provider, &known, files);
        for credential in &mut found {
            let key = (provider.to_owned(), credential.id.clone());
            if let Some(outcome) = self.outcomes.get(&key) {
                outcome.overlay(credential);
            }
        }
        self.pools
            .entry(provider.to_owned())
            .or_default()
            .credentials = found;
    }

    /// Notes how a call went; says whether the credential stands differently now.
    fn hear(&mut self, lease: &Lease, standing: Option<Standing>) -> bool {
        let Some(credential) = self
            .pools
            .get_mut(&lease.provider)
            .and_then(|pool| pool.find_mut(&lease.id))
        else {
            return false;
        };
        credential.requests += 1;
        // A call that was made with an older token says nothing about the new one.
        let same = lease.secret.as_ref().is_some_and(|secret| {
            secret.matches(credential.secret.expose_for_storage("a comparison"))
        });
        let standing = standing.filter(|standing| same && *standing != credential.standing);
        if let Some(standing) = standing {
            credential.standing = standing;
        }
        let key = (lease.provider.clone(), lease.id.clone());
        self.outcomes
            .entry(key)
            .or_default()
            .add(credential, standing);
        standing.is_some()
    }
}

fn place(route: &Route) -> Place {
    (
        route.provider.clone(),
        route.model.clone(),
        route.address_text(),
    )
}

fn keyless(route: &Route) -> Lease {
    Lease {
        provider: route.provider.clone(),
        id: "none".to_owned(),
        label: "no key".to_owned(),
        secret: None,
        held: None,
    }
}
