//! Looking at credentials and changing them, for `hermes auth`. Everything here waits for files:
//! call it where waiting is allowed.

use std::time::Duration;

use hermes_secrets::{Origin, Secret, mask};
use jiff::Timestamp;
use serde_json::json;
use url::Url;

use super::KeyError;
use super::document::{AuthDocument, Row};
use super::file::Home;
use super::pool::{Credential, Kept, Kind, Reach, credentials};
use super::provider::ProviderKeys;
use super::renewal::{TOKEN_URL, write};
use super::ring::Keyring;
use super::row;
use super::standing::Standing;
use crate::oauth::{Flow, Granted};

const PLACE: &str = "auth.json";

/// A credential as people may see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryView {
    /// Its number, from one.
    pub index: usize,
    /// Its name among those of its provider.
    pub id: String,
    /// What people call it.
    pub label: String,
    /// What it is.
    pub kind: EntryKind,
    /// Where it comes from, such as `manual` or `env:OPENROUTER_API_KEY`.
    pub source: String,
    /// Whether it is kept in `auth.json`; others are set elsewhere.
    pub kept: bool,
    /// The one origin it is meant for, where it is for one only.
    pub only: Option<Origin>,
    /// Its beginning and end.
    pub masked: String,
    /// Tells it from others without telling its value. That of a login stays when it is renewed.
    pub fingerprint: String,
    /// How it stands.
    pub standing: Standing,
    /// How long it still rests.
    pub rest: Option<Duration>,
    /// How many calls were made with it.
    pub requests: u64,
}

/// What a credential is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A plain key.
    Key,
    /// A login, which is renewed as needed.
    Login {
        /// When its present token ends, if that is known.
        expires_at: Option<Timestamp>,
    },
    /// A login of a kind that is not supported here.
    Unsupported,
}

/// What a provider has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderStatus {
    /// The provider.
    pub provider: String,
    /// Whether it is the one that was logged in to last.
    pub active: bool,
    /// Its credentials.
    pub entries: Vec<EntryView>,
}

/// A credential that is kept in a file, as far as a route has to know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredKey {
    /// Whose it is.
    pub provider: String,
    /// The one origin it may go to; where its provider is when absent.
    pub only: Option<Origin>,
}

impl Keyring {
    /// Everything that is kept and where it may go.
    pub fn stored(&self) -> Result<Vec<StoredKey>, KeyError> {
        let files = self.shared.parts.file.read_both()?;
        let mut providers = files.own.providers();
        providers.extend(files.root.providers());
        let mut all = Vec::new();
        for provider in providers {
            let kept = credentials(provider, &ProviderKeys::default(), &files);
            all.extend(kept.into_iter().filter_map(|credential| {
                let only = match credential.reach {
                    Reach::Provider => None,
                    Reach::Only(origin) => Some(origin),
                    Reach::Secret | Reach::Nobody => return None,
                };
                Some(StoredKey {
                    provider: provider.to_owned(),
                    only,
                })
            }));
        }
        Ok(all)
    }

    /// The credentials of a provider, the preferred one first.
    pub fn entries(&self, provider: &str) -> Result<Vec<EntryView>, KeyError> {
        let now = self.shared.now();
        let all = self.loaded(provider)?;
        Ok(all
            .iter()
            .zip(1..)
            .map(|(credential, index)| view(credential, index, now))
            .collect())
    }

    /// What every provider has that has anything.
    pub fn status(&self) -> Result<Vec<ProviderStatus>, KeyError> {
        let files = self.shared.parts.file.read_both()?;
        let active = files.own.active_provider().or(files.root.active_provider());
        let mut providers = files.own.providers();
        providers.extend(files.root.providers());
        let known: Vec<String> = self.shared.state().known.keys().cloned().collect();
        providers.extend(known.iter().map(String::as_str));
        let mut all = Vec::new();
        for provider in providers {
            let entries = self.entries(provider)?;
            if !entries.is_empty() {
                all.push(ProviderStatus {
                    provider: provider.to_owned(),
                    active: active == Some(provider),
                    entries,
                });
            }
        }
        Ok(all)
    }

    /// Adds a key to the pool of a provider. With an address, it is used there only.
    pub fn add_key(
        &self,
        provider: &str,
        secret: &Secret,
        label: Option<&str>,
        address: Option<&Url>,
    ) -> Result<EntryView, KeyError> {
        let value = secret.expose_for_storage(PLACE);
        let same = |credential: &&Credential| credential.secret.matches(value);
        if let Some(known) = self.loaded(provider)?.iter().find(same) {
            return Err(KeyError::Known {
                provider: provider.to_owned(),
                label: known.label.clone(),
            });
        }
        let mut row = self.new_row(label, "api_key", "manual");
        row.insert("access_token".to_owned(), json!(value));
        if let Some(address) = address {
            row.insert("base_url".to_owned(), json!(address.as_str()));
        }
        self.push(provider, row, |_| true)
    }

    /// The key of an address that has one key: takes the place of those that were added for it before.
    pub fn set_key(
        &self,
        provider: &str,
        secret: &Secret,
        address: &Url,
    ) -> Result<EntryView, KeyError> {
        let origin = |text: &str| Url::parse(text).ok().and_then(|url| Origin::of(&url).ok());
        let here = origin(address.as_str());
        let mut row = self.new_row(None, "api_key", "manual");
        let value = secret.expose_for_storage(PLACE);
        row.insert("access_token".to_owned(), json!(value));
        row.insert("base_url".to_owned(), json!(address.as_str()));
        let stays = |row: &Row| {
            let there = row::text(row, "base_url").and_then(origin);
            there.is_none() || there != here || row::is_borrowed(row)
        };
        let saving = self.shared.saving();
        self.forget(provider);
        let pushed = self.push(provider, row, stays);
        drop(saving);
        pushed
    }

    /// Keeps a login. Without a label it is the provider's one login and takes the place of the one
    /// before; with a label it joins the pool.
    pub fn add_login(
        &self,
        provider: &str,
        granted: &Granted,
        label: Option<&str>,
        flow: &Flow,
    ) -> Result<EntryView, KeyError> {
        let now = self.shared.now();
        let write = |row: &mut Row| {
            write(row, granted, now);
            // A renewal goes where the login came from.
            row.insert(TOKEN_URL.to_owned(), flow.token_url.as_str().into());
            row.insert("client_id".to_owned(), flow.client_id.as_str().into());
        };
        if label.is_some() {
            let mut row = self.new_row(label, "oauth", "manual:device_code");
            write(&mut row);
            return self.push(provider, row, |_| true);
        }
        let mut row = Row::new();
        write(&mut row);
        let saving = self.shared.saving();
        self.shared.parts.file.change(|document| {
            document.retain(provider, |row| {
                row::text(row, "source") != Some(row::REPEATS_LOGIN)
            });
            document.set_login(provider, Some(row));
            document.set_active(Some(provider));
        })?;
        self.forget(provider);
        drop(saving);
        self.entry(provider, row::LOGIN)
    }

    /// Removes a credential by its id, label or number, and gives what it was.
    pub fn remove(&self, provider: &str, which: &str) -> Result<EntryView, KeyError> {
        let entries = self.entries(provider)?;
        let removed = find(provider, &entries, which)?.clone();
        let all = self.loaded(provider)?;
        let kept = all
            .iter()
            .find(|credential| credential.id == removed.id)
            .map(|credential| credential.kept);
        let place = match kept {
            Some(Kept::Outside) => Some(removed.source.clone()),
            Some(Kept::In(Home::Root)) => Some("the default profile".to_owned()),
            Some(Kept::In(Home::Own)) | None => None,
        };
        if let Some(place) = place {
            return Err(KeyError::KeptElsewhere {
                label: removed.label,
                place,
            });
        }
        let _saving = self.shared.saving();
        self.shared
            .parts
            .file
            .change(|document| take_out(document, provider, &removed.id))?;
        self.forget(provider);
        Ok(removed)
    }

    /// Forgets everything that is held against the credentials of a provider; says of how many.
    pub fn reset(&self, provider: &str) -> Result<usize, KeyError> {
        let held = self
            .loaded(provider)?
            .iter()
            .filter(|credential| credential.standing != Standing::Good)
            .count();
        let _saving = self.shared.saving();
        self.forget(provider);
        self.shared.parts.file.change(|document| {
            for row in document.rows_mut(provider) {
                if Standing::read(row) != Standing::Good {
                    Standing::Good.write(row);
                }
            }
        })?;
        self.loaded(provider)?;
        Ok(held)
    }

    /// The credentials as the files and this process know them now.
    fn loaded(&self, provider: &str) -> Result<Vec<Credential>, KeyError> {
        let files = self.shared.parts.file.read_both()?;
        let mut state = self.shared.state();
        state.load(provider, &files);
        let pool = state.pools.get(provider);
        Ok(pool.map_or_else(Vec::new, |pool| pool.credentials.clone()))
    }

    fn entry(&self, provider: &str, id: &str) -> Result<EntryView, KeyError> {
        let entries = self.entries(provider)?;
        find(provider, &entries, id).cloned()
    }

    /// Drops what was heard about a provider's credentials and is not written.
    fn forget(&self, provider: &str) {
        let mut state = self.shared.state();
        state.outcomes.retain(|(name, _), _| name != provider);
    }

    fn new_row(&self, label: Option<&str>, auth_type: &str, source: &str) -> Row {
        let id = format!("{:012x}", self.shared.parts.random.next_u64() >> 16);
        let fields = [
            ("id", json!(id)),
            ("label", json!(label.unwrap_or(&id))),
            ("auth_type", json!(auth_type)),
            ("priority", json!(0)),
            ("source", json!(source)),
        ];
        fields
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect()
    }

    /// Puts a row behind those of its pool that stay.
    fn push(
        &self,
        provider: &str,
        mut row: Row,
        stays: impl Fn(&Row) -> bool,
    ) -> Result<EntryView, KeyError> {
        let id = row::id(&row);
        self.shared.parts.file.change(|document| {
            document.retain(provider, stays);
            let last = document
                .pool(provider)
                .filter_map(|row| row.get("priority")?.as_i64())
                .max();
            row.insert(
                "priority".to_owned(),
                json!(last.map_or(0, |last| last.saturating_add(1))),
            );
            row.entry("request_count").or_insert(json!(0));
            document.push(provider, row);
        })?;
        self.entry(provider, &id)
    }
}

fn take_out(document: &mut AuthDocument, provider: &str, id: &str) {
    if id != row::LOGIN {
        document.retain(provider, |row| !row::is_named(row, id));
        return;
    }
    document.retain(provider, |row| {
        row::text(row, "source") != Some(row::REPEATS_LOGIN)
    });
    document.set_login(provider, None);
    if document.active_provider() == Some(provider) {
        document.set_active(None);
    }
}

/// The entry that is meant: by id, else by label, else by number.
fn find<'e>(
    provider: &str,
    entries: &'e [EntryView],
    which: &str,
) -> Result<&'e EntryView, KeyError> {
    let (provider, which) = (provider.to_owned(), which.trim().to_owned());
    if let Some(entry) = entries.iter().find(|entry| entry.id == which) {
        return Ok(entry);
    }
    let mut labelled = entries.iter().filter(|entry| entry.label == which);
    match (labelled.next(), labelled.next()) {
        (Some(entry), None) => return Ok(entry),
        (Some(_), Some(_)) => return Err(KeyError::Ambiguous { provider, which }),
        (None, _) => {}
    }
    let number: Option<usize> = which.parse().ok();
    entries
        .iter()
        .find(|entry| Some(entry.index) == number)
        .ok_or(KeyError::NoSuchEntry { provider, which })
}

fn view(credential: &Credential, index: usize, now: Timestamp) -> EntryView {
    let rest = match credential.standing {
        Standing::Resting { until, .. } => Duration::try_from(until.duration_since(now)).ok(),
        Standing::Good | Standing::Dead { .. } => None,
    };
    EntryView {
        index,
        id: credential.id.clone(),
        label: credential.label.clone(),
        kind: match credential.kind {
            Kind::Key => EntryKind::Key,
            Kind::Login(life) => EntryKind::Login {
                expires_at: life.until,
            },
            Kind::Foreign => EntryKind::Unsupported,
        },
        source: credential.source.clone(),
        kept: matches!(credential.kept, Kept::In(_)),
        only: credential.only().cloned(),
        masked: mask(credential.secret.expose_for_storage("a mask")),
        fingerprint: match credential.kind {
            Kind::Key => row::fingerprint(credential.secret.expose_for_storage("a fingerprint")),
            Kind::Login(_) | Kind::Foreign => credential.id.clone(),
        },
        standing: credential.standing,
        rest: rest.filter(|rest| !rest.is_zero()),
        requests: credential.requests,
    }
}
