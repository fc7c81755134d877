//! The credentials of one provider, in the order they are preferred, and the choice among them.

use std::collections::HashSet;

use hermes_config::PoolStrategy;
use hermes_core::Random;
use hermes_secrets::{Origin, OriginError, Secret, SecretName};
use jiff::Timestamp;
use serde_json::Value as Json;
use url::Url;

use super::document::{AuthDocument, Row};
use super::file::{Both, Home};
use super::hold::Holders;
use super::provider::{OwnKey, ProviderKeys};
use super::row;
use super::standing::Standing;
use crate::oauth::{Flow, Life};
use crate::route::Address;

/// One credential.
#[derive(Debug, Clone)]
pub(super) struct Credential {
    pub(super) id: String,
    pub(super) label: String,
    pub(super) source: String,
    pub(super) kind: Kind,
    pub(super) kept: Kept,
    pub(super) secret: Secret,
    pub(super) fingerprint: String,
    pub(super) reach: Reach,
    pub(super) priority: i64,
    pub(super) standing: Standing,
    pub(super) requests: u64,
}

/// What a credential is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Key,
    Login(Life),
    /// A login for which no flow is known, such as another program's. It is left alone.
    Foreign,
}

/// Where a credential is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kept {
    /// Outside; `auth.json` knows its fingerprint.
    Outside,
    In(Home),
}

/// Who may see a credential.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reach {
    /// Its provider, at an address that is tied to it.
    Provider,
    /// This origin.
    Only(Origin),
    /// The origins its secret names.
    Secret,
    /// Nobody: its address cannot be read.
    Nobody,
}

/// Where a credential is to be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) origin: Origin,
    /// Whether that is where the provider is.
    pub(super) tied: bool,
}

impl Target {
    pub(super) fn of(address: &Address) -> Result<Self, OriginError> {
        Ok(Self {
            origin: address.base.origin()?,
            tied: address.tied,
        })
    }
}

impl Credential {
    /// Whether it may be seen there.
    pub(super) fn reaches(&self, target: &Target) -> bool {
        match &self.reach {
            Reach::Provider => target.tied,
            Reach::Only(only) => *only == target.origin,
            Reach::Secret => self.secret.expose_for(&target.origin).is_ok(),
            Reach::Nobody => false,
        }
    }

    /// Whether it can be used at all for calls to there.
    pub(super) fn is_candidate(&self, target: &Target) -> bool {
        self.kind != Kind::Foreign && !self.standing.is_dead() && self.reaches(target)
    }

    /// The one origin it is meant for.
    pub(super) fn only(&self) -> Option<&Origin> {
        if let Reach::Only(origin) = &self.reach {
            return Some(origin);
        }
        None
    }

    /// The secret for this origin and no other.
    pub(super) fn bound(&self, provider: &str, origin: &Origin) -> Secret {
        rebound(&self.secret, &format!("{provider}/{}", self.id), origin)
    }
}

/// The same value for one origin only.
pub(super) fn rebound(secret: &Secret, name: &str, origin: &Origin) -> Secret {
    let value = secret
        .expose_for_storage("a copy for one origin")
        .to_owned();
    SecretName::new(&legal(name))
        .and_then(|name| Secret::new(name, value, [origin.clone().into()]))
        // Only an empty value fails, and `secret` has one. It is bound no wider than before.
        .unwrap_or_else(|_| secret.clone())
}

fn legal(name: &str) -> String {
    let legal = |c: char| c.is_ascii_alphanumeric() || "_.:/@-".contains(c);
    name.chars()
        .map(|c| if legal(c) { c } else { '-' })
        .take(128)
        .collect()
}

/// All credentials of a provider, the preferred one first.
pub(super) fn credentials(provider: &str, known: &ProviderKeys, files: &Both) -> Vec<Credential> {
    let mut all: Vec<Credential> = Vec::new();
    for key in &known.keys {
        let mut found = own(key, files.own.row(provider, &key.source.to_string()));
        let copies = all
            .iter()
            .filter(|other| other.source == found.source)
            .count();
        if copies > 0 {
            found.id = format!("{}#{}", found.id, copies + 1);
        }
        all.push(found);
    }
    let mut kept = kept(provider, known.flow.as_ref(), &files.own, Home::Own);
    if kept.is_empty() {
        kept = self::kept(provider, known.flow.as_ref(), &files.root, Home::Root);
    }
    all.extend(kept);
    // A stable sort: among equals keys that are set come first, then the pool, then the login.
    all.sort_by_key(|credential| credential.priority);
    all
}

/// A key from outside; what is known about it counts only while it has the same value.
fn own(key: &OwnKey, row: Option<&Row>) -> Credential {
    let source = key.source.to_string();
    let fingerprint = row::fingerprint(key.secret.expose_for_storage("a fingerprint in auth.json"));
    let same = row.filter(|row| row::text(row, "secret_fingerprint") == Some(&fingerprint));
    Credential {
        id: source.clone(),
        label: key.source.label().to_owned(),
        source,
        kind: Kind::Key,
        kept: Kept::Outside,
        secret: key.secret.clone(),
        fingerprint,
        reach: Reach::Secret,
        priority: row.map_or(0, priority),
        standing: same.map_or(Standing::Good, Standing::read),
        requests: same.map_or(0, requests),
    }
}

/// The credentials that a file keeps for a provider.
fn kept(
    provider: &str,
    flow: Option<&Flow>,
    document: &AuthDocument,
    home: Home,
) -> Vec<Credential> {
    let login = document.login(provider);
    let tokens = |row: &Row| {
        ["access_token", "refresh_token"].map(|name| row::text(row, name).map(str::to_owned))
    };
    let taken = login.map(tokens).unwrap_or_default();
    // One grant may stand in two rows; it is one credential all the same.
    let repeats = |row: &Row| {
        login.is_some() && row::text(row, "source") == Some(row::REPEATS_LOGIN)
            || tokens(row)
                .iter()
                .zip(&taken)
                .any(|(one, other)| one.is_some() && one == other)
    };
    let mut all: Vec<Credential> = document
        .pool(provider)
        .filter(|row| !row::is_borrowed(row) && !repeats(row))
        .filter_map(|row| from_row(row::id(row), row, flow, home))
        .collect();
    all.extend(login.and_then(|row| from_row(row::LOGIN.to_owned(), row, flow, home)));
    all
}

fn from_row(id: String, row: &Row, flow: Option<&Flow>, home: Home) -> Option<Credential> {
    let value = row::text(row, "access_token")?;
    let is_login = id == row::LOGIN
        || row::text(row, "auth_type").is_some_and(|kind| kind.starts_with("oauth"));
    let kind = match (is_login, flow) {
        (false, _) => Kind::Key,
        (true, Some(_)) => Kind::Login(life(row, value)),
        (true, None) => Kind::Foreign,
    };
    let address = row::text(row, "base_url").or_else(|| row::text(row, "inference_base_url"));
    let reach = match address.map(|address| Url::parse(address).map(|url| Origin::of(&url))) {
        None => Reach::Provider,
        Some(Ok(Ok(origin))) => Reach::Only(origin),
        Some(_) => Reach::Nobody,
    };
    let source = row::text(row, "source").unwrap_or(if is_login { "login" } else { "manual" });
    let name = SecretName::new(&legal(&format!("auth.json/{id}"))).ok()?;
    Some(Credential {
        label: row::text(row, "label").unwrap_or(&id).to_owned(),
        source: source.to_owned(),
        kind,
        kept: Kept::In(home),
        secret: Secret::new(name, value.to_owned(), []).ok()?,
        fingerprint: row::fingerprint(value),
        reach,
        priority: priority(row),
        standing: Standing::read(row),
        requests: requests(row),
        id,
    })
}

fn life(row: &Row, token: &str) -> Life {
    let claimed = Life::claimed(token);
    Life {
        from: claimed.from.or_else(|| row::time(row, "obtained_at")),
        until: claimed
            .until
            .or_else(|| row::time(row, "expires_at"))
            .or_else(|| row::time(row, "expires_at_ms"))
            .or_else(|| row::time(row, "expires")),
    }
}

fn priority(row: &Row) -> i64 {
    row.get("priority").and_then(Json::as_i64).unwrap_or(0)
}

fn requests(row: &Row) -> u64 {
    row.get("request_count").and_then(Json::as_u64).unwrap_or(0)
}

/// The credentials of a provider in memory, and who was chosen before.
#[derive(Debug, Default)]
pub(super) struct Pool {
    pub(super) credentials: Vec<Credential>,
    /// How often each was lent here, the last one last.
    lent: Vec<(String, u64)>,
}

/// What is wanted of a pool.
pub(super) struct Wish<'a> {
    pub(super) provider: &'a str,
    /// Where it is to be used.
    pub(super) target: &'a Target,
    /// The key that the route was resolved with.
    pub(super) own: Option<String>,
    pub(super) strategy: PoolStrategy,
    pub(super) random: &'a dyn Random,
    pub(super) now: Timestamp,
    /// Those in hand here and elsewhere, for whoever would rather have one that is not.
    pub(super) avoid: Option<(&'a Holders, &'a HashSet<String>)>,
}

impl Pool {
    pub(super) fn find(&self, id: &str) -> Option<&Credential> {
        self.credentials
            .iter()
            .find(|credential| credential.id == id)
    }

    pub(super) fn find_mut(&mut self, id: &str) -> Option<&mut Credential> {
        self.credentials
            .iter_mut()
            .find(|credential| credential.id == id)
    }

    /// Those that could be used there, whether they rest or not.
    pub(super) fn candidates<'p>(
        &'p self,
        target: &'p Target,
    ) -> impl Iterator<Item = &'p Credential> {
        self.credentials
            .iter()
            .filter(|credential| credential.is_candidate(target))
    }

    /// Chooses a credential that is ready: the route's own one first. Resting spares a credential when another can take over; the
    /// only one is lent all the same, because a call that may fail is better than none.
    pub(super) fn choose(&mut self, wish: &Wish<'_>) -> Option<Credential> {
        let mut ready: Vec<&Credential> = self
            .candidates(wish.target)
            .filter(|credential| credential.standing.is_ready(wish.now))
            .collect();
        if ready.is_empty() {
            ready = self.candidates(wish.target).collect();
            if ready.len() > 1 {
                return None;
            }
        }
        if let Some((holders, elsewhere)) = wish.avoid {
            holders.keep_least(wish.provider, elsewhere, &mut ready);
        }
        let own = ready
            .iter()
            .find(|credential| Some(credential.id.as_str()) == wish.own.as_deref());
        let chosen = match wish.strategy {
            PoolStrategy::FillFirst => own.or(ready.first()),
            PoolStrategy::RoundRobin => self.after_last(&ready),
            PoolStrategy::LeastUsed => ready
                .iter()
                .min_by_key(|credential| (credential.requests, self.times_lent(&credential.id))),
            PoolStrategy::Random => {
                let bound = u64::try_from(ready.len()).unwrap_or(u64::MAX);
                ready.get(usize::try_from(wish.random.below(bound)).unwrap_or(0))
            }
        };
        let chosen = Credential::clone(chosen?);
        let times = self.times_lent(&chosen.id) + 1;
        self.lent.retain(|(id, _)| *id != chosen.id);
        self.lent.push((chosen.id.clone(), times));
        Some(chosen)
    }

    fn times_lent(&self, id: &str) -> u64 {
        self.lent
            .iter()
            .find(|(known, _)| known == id)
            .map_or(0, |(_, times)| *times)
    }

    /// The first ready one behind the one that was lent last, in the order of the whole pool.
    fn after_last<'r, 'p>(&self, ready: &'r [&'p Credential]) -> Option<&'r &'p Credential> {
        let place = |id: &str| self.credentials.iter().position(|known| known.id == id);
        let last = self.lent.last().and_then(|(id, _)| place(id));
        ready
            .iter()
            .find(|credential| place(&credential.id) > last)
            .or_else(|| ready.first())
    }
}
