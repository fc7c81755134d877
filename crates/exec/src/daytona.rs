//! Commands in a sandbox of Daytona.
//!
//! Sandboxes are found and made with the vendor's API; what runs in one goes through the toolbox, a server inside of
//! it. A channel is a session of the toolbox, a terminal one of its terminals.

mod account;
mod api;
mod session;
mod terminal;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hermes_core::Random;
use hermes_http::BaseUrl;
use hermes_secrets::{Secret, SecretName};
use http::HeaderName;
use serde_json::json;

use crate::cloud::{self, CloudConfig, Vendor};
use crate::lease::Leases;
use crate::rest::Server;
use crate::supervise::{Channel, Crew, Role};
use crate::tether::{self, Wish};
use crate::{Backend, ExecError};
use account::Account;

pub(crate) const KIND: &str = "daytona";
const ORGANISATION: HeaderName = HeaderName::from_static("x-daytona-organization-id");

/// A sandbox of Daytona and where to make it.
#[derive(Clone)]
pub struct DaytonaConfig {
    cloud: CloudConfig,
    base: BaseUrl,
    key: Secret,
    /// The region; the account's own when absent.
    pub target: Option<String>,
    /// The organisation; the key's own when absent.
    pub organisation: Option<String>,
}

impl DaytonaConfig {
    /// Where what is written down about sandboxes lies.
    pub(crate) fn sandboxes(&self) -> &std::path::Path {
        &self.cloud.sandboxes
    }

    /// A sandbox made with `cloud`, by the API at `url`, which alone sees the key.
    pub fn new(cloud: CloudConfig, url: &str, key: &str) -> Result<Self, ExecError> {
        let wrong = |what: &str, next: &str| unavailable(what.to_owned(), next.to_owned());
        let set = "Set DAYTONA_API_URL to the address of the API.";
        let base: BaseUrl = url
            .parse()
            .map_err(|_| wrong("the address of the API is not a url", set))?;
        let origin = base
            .origin()
            .map_err(|_| wrong("the address of the API has no host", set))?;
        let missing = || wrong("there is no key", "Set DAYTONA_API_KEY.");
        let name = SecretName::new("DAYTONA_API_KEY").map_err(|_| missing())?;
        let key = Secret::builder(name, key.to_owned())
            .origins([origin.into()])
            .child(tether::child())
            .build()
            .map_err(|_| missing())?;
        Ok(Self {
            cloud,
            base,
            key,
            target: None,
            organisation: None,
        })
    }
}

/// A backend for the sandbox; nobody is asked before it is used.
pub(crate) fn backend(config: DaytonaConfig, random: &dyn Random) -> Arc<dyn Backend> {
    let vendor = Daytona {
        account: inventory(&config),
        stem: format!("hermes-{:08x}", random.next_u64() >> 32),
        opened: AtomicU64::new(0),
        config,
    };
    cloud::backend(vendor, random)
}

/// The sandboxes of the account.
pub(crate) fn inventory(config: &DaytonaConfig) -> Account {
    let organisation = config.organisation.iter().cloned();
    let organisation = organisation.map(|organisation| (ORGANISATION, organisation));
    Account {
        server: Server {
            http: config.cloud.http.clone(),
            base: config.base.clone(),
            key: config.key.clone(),
            headers: organisation.collect(),
            clock: config.cloud.clock.clone(),
            words: api::WORDS,
        },
    }
}

struct Daytona {
    config: DaytonaConfig,
    account: Account,
    /// Begins every name that we give.
    stem: String,
    opened: AtomicU64,
}

/// A sandbox that runs, and its toolbox.
#[derive(Clone)]
struct Found {
    id: String,
    name: String,
    toolbox: Server,
}

impl Daytona {
    fn next_name(&self) -> String {
        let number = self.opened.fetch_add(1, Ordering::Relaxed);
        format!("{}-{number}", self.stem)
    }
}

impl Vendor for Daytona {
    const KIND: &'static str = KIND;

    type Account = Account;

    type Found = Found;

    fn config(&self) -> &CloudConfig {
        &self.config.cloud
    }

    fn account(&self) -> &Account {
        &self.account
    }

    async fn ensure(&self, leases: &Leases) -> Result<Found, ExecError> {
        let name = self.next_name();
        let sandbox = self.account.ensure(&self.config, &name, leases).await?;
        Ok(Found {
            toolbox: self.account.toolbox(&sandbox).await?,
            name: sandbox.name().to_owned(),
            id: sandbox.id,
        })
    }

    fn named<'a>(&self, found: &'a Found) -> (&'a str, &'a str) {
        (&found.id, &found.name)
    }

    async fn open(&self, found: &Found, role: Role, crew: &Crew) -> Result<Channel, ExecError> {
        let name = self.next_name();
        let opened = match role {
            Role::Guard | Role::Pipes => session::open(&found.toolbox, &name, role, crew).await,
            Role::Terminal => terminal::open(&found.toolbox, &name, role, crew).await,
        };
        match opened {
            // A toolbox whose sandbox was stopped refuses in many words; only the API knows why.
            Err(error) if !self.account.runs(&found.id).await => {
                Err(ExecError::Gone(error.to_string()))
            }
            opened => opened,
        }
    }

    fn wish(&self, found: &Found, pid: u32) -> Result<Wish, ExecError> {
        let command = format!("sh -c 'kill -TERM {pid}'");
        let body = json!({ "command": command, "timeout": 5 }).to_string();
        let url = found.toolbox.base.join("process/execute");
        let wish = Wish::post(&url, "application/json", body.as_bytes());
        Ok(wish.secret("authorization", "Bearer ", &found.toolbox.key))
    }
}

fn unavailable(cause: String, next: String) -> ExecError {
    ExecError::Unavailable {
        backend: KIND,
        cause,
        next,
    }
}
