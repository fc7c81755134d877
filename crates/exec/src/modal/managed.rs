//! Commands in a sandbox of Modal on somebody else's account: a gateway makes it and runs commands in it, for whoever
//! has its token.
//!
//! The gateway takes a whole command and shows what it printed when it has ended. So each channel is a command that
//! relays lines from a pipe with a name into a log, and further short commands write to the one and read the other.

mod account;
mod channel;
mod command;

use std::path::Path;
use std::sync::Arc;

use hermes_core::Random;
use hermes_http::BaseUrl;
use hermes_secrets::{Secret, SecretName};

use super::{KIND, unavailable};
use crate::cloud::{self, CloudConfig, Vendor};
use crate::lease::Leases;
use crate::rest::{Server, Words};
use crate::supervise::{Channel, Crew, Role};
use crate::tether::{self, Wish};
use crate::{Backend, ExecError};
use account::Account;
use command::Sandbox;

/// The variable with the token for the gateway.
pub(crate) const TOKEN: &str = "TOOL_GATEWAY_USER_TOKEN";
const WORDS: Words = Words {
    backend: KIND,
    address: "Check MODAL_GATEWAY_URL.",
    unreachable: "Check MODAL_GATEWAY_URL and the network, or set terminal.modal_mode to direct.",
    refused,
};

fn refused(status: u16, scarce: bool) -> &'static str {
    match status {
        429 => "Wait a little and try again.",
        400 | 402 | 403 if scarce => {
            "Remove sandboxes with hermes sandbox rm, or lower terminal.container_cpu, \
             container_memory and container_disk."
        }
        401 | 403 => "Check TOOL_GATEWAY_USER_TOKEN.",
        500.. => "The gateway has trouble; try again later or set terminal.modal_mode to direct.",
        _ => "Check the settings terminal.modal_image and terminal.container_*.",
    }
}

/// A sandbox of Modal that a gateway makes.
#[derive(Clone)]
pub struct ManagedModalConfig {
    cloud: CloudConfig,
    base: BaseUrl,
    token: Secret,
}

impl ManagedModalConfig {
    /// Where what is written down about sandboxes lies.
    pub(crate) fn sandboxes(&self) -> &Path {
        &self.cloud.sandboxes
    }

    /// A sandbox made with `cloud`, by the gateway at `url`, which alone sees the token.
    pub fn new(cloud: CloudConfig, url: &str, token: &str) -> Result<Self, ExecError> {
        let wrong = |what: &str, next: &str| unavailable(what.to_owned(), next.to_owned());
        let base: BaseUrl = url
            .parse()
            .map_err(|_| wrong("the address of the gateway is not a url", WORDS.address))?;
        let origin = base
            .origin()
            .map_err(|_| wrong("the address of the gateway has no host", WORDS.address))?;
        let missing = || {
            let next = "Set TOOL_GATEWAY_USER_TOKEN, or terminal.modal_mode to direct.";
            wrong("there is no token for the gateway", next)
        };
        let name = SecretName::new(TOKEN).map_err(|_| missing())?;
        let token = Secret::builder(name, token.to_owned())
            .origins([origin.into()])
            .child(tether::child())
            .build()
            .map_err(|_| missing())?;
        Ok(Self { cloud, base, token })
    }
}

/// A backend for the sandbox; nobody is asked before it is used.
pub(crate) fn backend(config: ManagedModalConfig, random: &dyn Random) -> Arc<dyn Backend> {
    let stem = format!("{:016x}", random.next_u64());
    let vendor = Managed {
        account: account_of(&config, stem),
        config,
    };
    cloud::backend(vendor, random)
}

/// The sandboxes that were made from this home: a gateway does not list them.
pub(crate) fn inventory(config: &ManagedModalConfig) -> Account {
    let clock = &config.cloud.clock;
    let stem = format!("{:x}-{}", clock.now().as_nanosecond(), std::process::id());
    account_of(config, stem)
}

fn account_of(config: &ManagedModalConfig, stem: String) -> Account {
    let cloud = &config.cloud;
    let server = Server {
        http: cloud.http.clone(),
        base: config.base.clone(),
        key: config.token.clone(),
        headers: Vec::new(),
        clock: cloud.clock.clone(),
        words: WORDS,
    };
    Account::new(server, stem, cloud.sandboxes.join(KIND))
}

struct Managed {
    config: ManagedModalConfig,
    account: Account,
}

impl Vendor for Managed {
    const KIND: &'static str = KIND;

    type Account = Account;

    type Found = Sandbox;

    fn config(&self) -> &CloudConfig {
        &self.config.cloud
    }

    fn account(&self) -> &Account {
        &self.account
    }

    async fn ensure(&self, leases: &Leases) -> Result<Sandbox, ExecError> {
        self.account.ensure(&self.config.cloud, leases).await
    }

    fn named<'a>(&self, found: &'a Sandbox) -> (&'a str, &'a str) {
        (found.id(), found.id())
    }

    async fn open(&self, found: &Sandbox, role: Role, crew: &Crew) -> Result<Channel, ExecError> {
        channel::open(found, role, crew).await
    }

    fn wish(&self, found: &Sandbox, pid: u32) -> Result<Wish, ExecError> {
        let (url, body) = found.request(&channel::farewell(found, pid));
        let wish = Wish::post(&url, "application/json", body.to_string().as_bytes());
        Ok(wish.secret("authorization", "Bearer ", &self.config.token))
    }
}
