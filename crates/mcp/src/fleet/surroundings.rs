//! What a fleet is handed: nothing of it is looked up here.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures_core::future::BoxFuture;
use hermes_config::Environment;
use hermes_core::{Clock, Random};
use hermes_exec::Backend;
use hermes_http::ClientSettings;
use hermes_secrets::RedactorHandle;
use hermes_store::Store;

use crate::{Authority, Memory, RecoveryPolicy, Sampler, Server, Shelf};

/// What servers run in and are reached through.
pub struct Surroundings {
    /// How servers are kept up.
    pub policy: RecoveryPolicy,
    /// Starts programs on this machine.
    pub backend: Arc<dyn Backend>,
    /// How addresses are reached: proxies, authorities.
    pub network: ClientSettings,
    /// Masks what must not be shown, and learns the secrets that are used.
    pub redactor: RedactorHandle,
    /// The home directory of Hermes.
    pub home: PathBuf,
    /// The home directory of the user, for `~`.
    pub user_home: Option<PathBuf>,
    /// Where programs start, and what servers are told when they ask for it.
    pub directory: PathBuf,
    /// Our own environment, of which programs see a little.
    pub environment: Environment,
    /// Tells the time that is shown.
    pub clock: Arc<dyn Clock>,
    /// What confined programs may touch.
    pub borders: Borders,
    /// Makes names of programs and questions.
    pub random: Arc<dyn Random>,
    /// Vouches for us and looks at what is to be started.
    pub gatekeeper: Arc<dyn Gatekeeper>,
    /// Where files of answers are kept.
    pub shelf: Arc<Shelf>,
    /// Remembers tools between runs, so that they are offered before their server is connected.
    pub memory: Option<Memory>,
    /// Where it is written down who allowed a call and who refused one.
    pub decisions: Option<Store>,
    /// How long a person may take to allow a call.
    pub patience: Duration,
    /// Asks models on behalf of servers.
    pub sampler: Option<Arc<dyn Sampler>>,
    /// Names of tools that are taken.
    pub reserved: Vec<String>,
    /// Texts that no server may have in its entry, besides the built-in list.
    pub blocked: Vec<String>,
}

/// What a confinement of programs is made from.
#[derive(Debug, Clone)]
pub struct Borders {
    /// The directories.
    pub places: hermes_policy::confine::Surroundings,
    /// The network of those that are confined.
    pub network: hermes_policy::Network,
}

impl Default for Borders {
    /// No directories and no network.
    fn default() -> Self {
        Self {
            places: hermes_policy::confine::Surroundings::default(),
            network: hermes_policy::Network::Off,
        }
    }
}

/// Decides about servers before they are reached.
///
/// `authority` is called once for each server at an address, `clear` before each start of a program. Both
/// may be called for several servers at once; `clear` is dropped when the attempt is stopped or its time
/// is over.
pub trait Gatekeeper: Send + Sync {
    /// Who vouches for us at a server that wants a login.
    fn authority(&self, server: &Server) -> Option<Arc<dyn Authority>>;

    /// Whether a server's program may be started; the reason when it may not.
    fn clear<'a>(&'a self, server: &'a Server) -> BoxFuture<'a, Result<(), String>>;
}
