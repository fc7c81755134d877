//! Commands in a sandbox of Modal, on the user's own account or, in `managed`, on that of a gateway.
//!
//! Sandboxes are found and made with the vendor's control plane; what runs in one goes through a server of the sandbox
//! itself. Both speak gRPC.

mod account;
mod control;
mod exec;
mod grpc;
mod image;
pub(crate) mod managed;
mod proto;
mod router;
mod snapshots;
pub(crate) mod token;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use hermes_core::Random;
use hermes_http::{AuthScheme, BaseUrl};
use hermes_secrets::{Secret, SecretName};
use http::{HeaderName, HeaderValue};

use crate::cloud::{self, CloudConfig, Vendor};
use crate::lease::Leases;
use crate::supervise::{Channel, Crew, Role};
use crate::tether::Wish;
use crate::{Backend, ExecError};
use account::Account;
use control::Control;
use grpc::Service;
pub use managed::ManagedModalConfig;
use router::Router;
use snapshots::Snapshots;

pub(crate) const KIND: &str = "modal";
const NAME: &str = "modal.client.ModalClient";
/// Every call says which kind of client makes it and which version of the protocol it knows.
const HEADERS: [(&str, &str); 2] = [
    ("x-modal-client-type", "7"),
    ("x-modal-client-version", "1.0.0"),
];

/// A sandbox of Modal and where to make it.
#[derive(Clone)]
pub struct ModalConfig {
    cloud: CloudConfig,
    base: BaseUrl,
    token: [(Secret, AuthScheme); 2],
    /// The account's environment; its default one when empty.
    pub environment: String,
    /// The file that says which snapshot of a task's files is the last one.
    pub snapshots: PathBuf,
}

impl ModalConfig {
    /// Where what is written down about sandboxes lies.
    pub(crate) fn sandboxes(&self) -> &Path {
        &self.cloud.sandboxes
    }

    /// A sandbox made with `cloud`, by the control plane at `url`, which alone sees the token: its id and its secret.
    pub fn new(
        cloud: CloudConfig,
        url: &str,
        token: (&str, &str),
        snapshots: PathBuf,
    ) -> Result<Self, ExecError> {
        let wrong = |what: &str, next: &str| unavailable(what.to_owned(), next.to_owned());
        let set = "Set MODAL_SERVER_URL to the address of the control plane.";
        let base: BaseUrl = url
            .parse()
            .map_err(|_| wrong("the address of the control plane is not a url", set))?;
        let origin = base
            .origin()
            .map_err(|_| wrong("the address of the control plane has no host", set))?;
        let bound = |name: &str, header: &'static str, value: &str| {
            let next = "Set MODAL_TOKEN_ID and MODAL_TOKEN_SECRET.";
            let missing = || wrong("there is no token", next);
            let name = SecretName::new(name).map_err(|_| missing())?;
            let secret = Secret::new(name, value.to_owned(), [origin.clone().into()]);
            let scheme = AuthScheme::Header(HeaderName::from_static(header));
            Ok((secret.map_err(|_| missing())?, scheme))
        };
        Ok(Self {
            token: [
                bound("MODAL_TOKEN_ID", "x-modal-token-id", token.0)?,
                bound("MODAL_TOKEN_SECRET", "x-modal-token-secret", token.1)?,
            ],
            cloud,
            base,
            environment: String::new(),
            snapshots,
        })
    }
}

/// A backend for the sandbox; nobody is asked before it is used.
pub(crate) fn backend(config: ModalConfig, random: &dyn Random) -> Arc<dyn Backend> {
    let vendor = Modal {
        account: account_of(&config, random.next_u64()),
        config,
    };
    cloud::backend(vendor, random)
}

/// The sandboxes of the account.
pub(crate) fn inventory(config: &ModalConfig) -> Account {
    account_of(config, u64::from(std::process::id()) << 32)
}

fn account_of(config: &ModalConfig, stem: u64) -> Account {
    let service = Service {
        http: config.cloud.http.clone(),
        base: config.base.clone(),
        name: NAME,
        headers: HEADERS
            .map(|(name, value)| {
                (
                    HeaderName::from_static(name),
                    HeaderValue::from_static(value),
                )
            })
            .to_vec(),
        secrets: config.token.to_vec(),
    };
    Account {
        control: Arc::new(Control {
            service,
            stem,
            calls: AtomicU64::new(0),
        }),
        environment: config.environment.clone(),
        snapshots: Snapshots::new(&config.snapshots),
    }
}

struct Modal {
    config: ModalConfig,
    account: Account,
}

/// A sandbox that runs, and the way into it.
#[derive(Clone)]
struct Found {
    id: String,
    router: Arc<Router>,
}

impl Vendor for Modal {
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
        let running = self.account.ensure(&self.config, leases).await?;
        let router = Router::find(&self.account.control, &running.task).await?;
        Ok(Found {
            id: running.id,
            router: Arc::new(router),
        })
    }

    fn named<'a>(&self, found: &'a Found) -> (&'a str, &'a str) {
        (&found.id, &found.id)
    }

    async fn open(&self, found: &Found, role: Role, crew: &Crew) -> Result<Channel, ExecError> {
        exec::open(&found.router, role, crew).await
    }

    fn edition(&self, found: &Found) -> u64 {
        found.router.edition()
    }

    fn wish(&self, found: &Found, pid: u32) -> Result<Wish, ExecError> {
        let script = format!("kill -TERM {pid}");
        let (task, id) = (&found.router.task, found.router.next_id());
        let request = exec::start(task, &id, &script, Role::Pipes);
        Ok(found.router.wish("TaskExecStart", &request))
    }
}

fn unavailable(cause: String, next: String) -> ExecError {
    ExecError::Unavailable {
        backend: KIND,
        cause,
        next,
    }
}
