//! Clients, codes and tokens.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::Value as Json;

/// Everything the server has given out.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    pub(crate) clients: BTreeMap<String, Client>,
    pub(crate) codes: BTreeMap<String, Code>,
    access: BTreeMap<String, Access>,
    refresh: BTreeMap<String, Refresh>,
    counter: usize,
}

#[derive(Debug, Clone)]
pub(crate) struct Client {
    pub(crate) secret: Option<String>,
    /// What it was registered with; a client added by hand may use any redirect.
    pub(crate) registration: Option<Json>,
}

#[derive(Debug, Clone)]
pub(crate) struct Code {
    pub(crate) client: String,
    pub(crate) redirect: String,
    pub(crate) challenge: String,
    pub(crate) scope: String,
    pub(crate) resource: String,
}

#[derive(Debug)]
struct Access {
    scope: String,
    until: Instant,
    revoked: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Refresh {
    pub(crate) client: String,
    pub(crate) scope: String,
    pub(crate) used: bool,
}

/// What is wrong with an access token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Good,
    Unknown,
    TooNarrow,
}

impl Ledger {
    pub(crate) fn name(&mut self, kind: &str) -> String {
        self.counter += 1;
        format!("ox-{kind}-{}", self.counter)
    }

    pub(crate) fn add_client(
        &mut self,
        id: &str,
        secret: Option<&str>,
        registration: Option<Json>,
    ) {
        let client = Client {
            secret: secret.map(str::to_owned),
            registration,
        };
        self.clients.insert(id.to_owned(), client);
    }

    pub(crate) fn new_access(&mut self, scope: &str, life: i64) -> String {
        let token = self.name("access");
        let life = Duration::from_secs(u64::try_from(life).unwrap_or(0));
        let access = Access {
            scope: scope.to_owned(),
            until: Instant::now() + life,
            revoked: false,
        };
        self.access.insert(token.clone(), access);
        token
    }

    pub(crate) fn new_refresh(&mut self, client: &str, scope: &str) -> String {
        let token = self.name("refresh");
        let refresh = Refresh {
            client: client.to_owned(),
            scope: scope.to_owned(),
            used: false,
        };
        self.refresh.insert(token.clone(), refresh);
        token
    }

    pub(crate) fn refresh(&mut self, token: &str) -> Option<&mut Refresh> {
        self.refresh.get_mut(token)
    }

    pub(crate) fn revoke_access(&mut self) {
        for access in self.access.values_mut() {
            access.revoked = true;
        }
    }

    /// What a careful server does when a token comes twice: somebody stole one of them.
    pub(crate) fn revoke_all(&mut self) {
        self.revoke_access();
        for refresh in self.refresh.values_mut() {
            refresh.used = true;
        }
    }

    pub(crate) fn judge(&self, token: &str, needs: Option<&str>) -> Verdict {
        match self.access.get(token) {
            Some(access) if !access.revoked && access.until > Instant::now() => {
                let has = |word: &str| access.scope.split(' ').any(|own| own == word);
                if needs.is_none_or(|needs| needs.split(' ').all(has)) {
                    Verdict::Good
                } else {
                    Verdict::TooNarrow
                }
            }
            Some(_) | None => Verdict::Unknown,
        }
    }
}
