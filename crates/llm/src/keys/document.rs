//! What `auth.json` says. What is not understood keeps its place.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::{Map, Value as Json, json};

use super::row;

const VERSION: u64 = 1;
const PROVIDERS: &str = "providers";
const POOL: &str = "credential_pool";
const ACTIVE: &str = "active_provider";

/// One credential as it is written down.
pub(super) type Row = Map<String, Json>;

/// The content of `auth.json`: a login for each provider, pools of further credentials, and the
/// provider that was logged in to last.
#[derive(Clone, PartialEq)]
pub struct AuthDocument(Map<String, Json>);

/// Why a text is no `auth.json`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Damage {
    /// It does not parse. The parser's words are left out, they may quote a token.
    #[error("it is not JSON (line {line}, column {column})")]
    Syntax {
        /// Where.
        line: usize,
        /// Where in the line.
        column: usize,
    },
    /// Something has the wrong type.
    #[error("`{0}` has the wrong form")]
    Form(&'static str),
    /// A newer program wrote it.
    #[error("its version is {0}, and only {VERSION} is known here")]
    Version(u64),
}

impl Default for AuthDocument {
    fn default() -> Self {
        let mut map = Map::new();
        map.insert("version".to_owned(), json!(VERSION));
        map.insert(PROVIDERS.to_owned(), json!({}));
        map.insert(ACTIVE.to_owned(), Json::Null);
        map.insert(POOL.to_owned(), json!({}));
        Self(map)
    }
}

impl fmt::Debug for AuthDocument {
    /// Names the providers and nothing else.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AuthDocument")
            .field(&self.providers())
            .finish()
    }
}

impl AuthDocument {
    /// Reads the file's text.
    pub fn parse(bytes: &[u8]) -> Result<Self, Damage> {
        let value: Json = serde_json::from_slice(bytes).map_err(|error| Damage::Syntax {
            line: error.line(),
            column: error.column(),
        })?;
        let Json::Object(map) = value else {
            return Err(Damage::Form("the file"));
        };
        match map.get("version") {
            None | Some(Json::Null) => {}
            Some(version) => match version.as_u64() {
                Some(..=VERSION) => {}
                Some(version) => return Err(Damage::Version(version)),
                None => return Err(Damage::Form("version")),
            },
        }
        let objects = |name| match map.get(name) {
            None | Some(Json::Null) => Some(None),
            Some(Json::Object(inner)) => Some(Some(inner)),
            Some(_) => None,
        };
        objects(PROVIDERS).ok_or(Damage::Form(PROVIDERS))?;
        let pools = objects(POOL).ok_or(Damage::Form(POOL))?;
        let sound = |pool: &Json| {
            pool.as_array()
                .is_some_and(|rows| rows.iter().all(Json::is_object))
        };
        if !pools.is_none_or(|pools| pools.values().all(sound)) {
            return Err(Damage::Form(POOL));
        }
        Ok(Self(map))
    }

    /// The providers that have anything.
    pub fn providers(&self) -> BTreeSet<&str> {
        let names = |name| {
            self.0
                .get(name)
                .and_then(Json::as_object)
                .into_iter()
                .flat_map(|map| map.keys().map(String::as_str))
        };
        let pooled = names(POOL).filter(|provider| self.pool(provider).next().is_some());
        names(PROVIDERS).chain(pooled).collect()
    }

    /// The provider that was logged in to last.
    pub fn active_provider(&self) -> Option<&str> {
        self.0.get(ACTIVE)?.as_str()
    }

    pub(super) fn set_active(&mut self, provider: Option<&str>) {
        self.0.insert(ACTIVE.to_owned(), json!(provider));
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        format!("{:#}\n", Json::Object(self.0.clone())).into_bytes()
    }

    /// The login of a provider.
    pub(super) fn login(&self, provider: &str) -> Option<&Row> {
        self.0.get(PROVIDERS)?.get(provider)?.as_object()
    }

    /// Sets or removes the login of a provider.
    pub(super) fn set_login(&mut self, provider: &str, login: Option<Row>) {
        let Some(logins) = self.section(PROVIDERS) else {
            return;
        };
        match login {
            Some(login) => {
                logins.insert(provider.to_owned(), Json::Object(login));
            }
            None => {
                logins.shift_remove(provider);
            }
        }
    }

    /// The pool of a provider, in its order.
    pub(super) fn pool(&self, provider: &str) -> impl Iterator<Item = &Row> {
        self.0
            .get(POOL)
            .and_then(|pools| pools.get(provider))
            .and_then(Json::as_array)
            .into_iter()
            .flatten()
            .filter_map(Json::as_object)
    }

    /// Adds to the pool of a provider.
    pub(super) fn push(&mut self, provider: &str, row: Row) {
        if let Some(pools) = self.section(POOL)
            && let Some(pool) = pools
                .entry(provider)
                .or_insert_with(|| json!([]))
                .as_array_mut()
        {
            pool.push(Json::Object(row));
        }
    }

    /// Keeps the rows of a provider's pool for which `keep` says so.
    pub(super) fn retain(&mut self, provider: &str, keep: impl Fn(&Row) -> bool) {
        if let Some(pool) = self
            .section(POOL)
            .and_then(|pools| pools.get_mut(provider))
            .and_then(Json::as_array_mut)
        {
            pool.retain(|row| row.as_object().is_none_or(&keep));
        }
    }

    /// Everything a provider has, the login first, to be changed.
    pub(super) fn rows_mut(&mut self, provider: &str) -> Vec<&mut Row> {
        let mut rows = Vec::new();
        for (name, value) in &mut self.0 {
            let Some(mine) = value.get_mut(provider) else {
                continue;
            };
            match (name.as_str(), mine) {
                (PROVIDERS, Json::Object(login)) => rows.insert(0, login),
                (POOL, Json::Array(pool)) => {
                    rows.extend(pool.iter_mut().filter_map(Json::as_object_mut));
                }
                _ => {}
            }
        }
        rows
    }

    /// The row that a credential is written in.
    pub(super) fn row(&self, provider: &str, id: &str) -> Option<&Row> {
        if id == row::LOGIN {
            return self.login(provider);
        }
        self.pool(provider).find(|row| row::is_named(row, id))
    }

    pub(super) fn row_mut(&mut self, provider: &str, id: &str) -> Option<&mut Row> {
        if id == row::LOGIN {
            return self.section(PROVIDERS)?.get_mut(provider)?.as_object_mut();
        }
        self.section(POOL)?
            .get_mut(provider)?
            .as_array_mut()?
            .iter_mut()
            .filter_map(Json::as_object_mut)
            .find(|row| row::is_named(row, id))
    }

    fn section(&mut self, name: &str) -> Option<&mut Map<String, Json>> {
        let section = self.0.entry(name).or_insert(Json::Null);
        if section.is_null() {
            *section = json!({});
        }
        section.as_object_mut()
    }
}
