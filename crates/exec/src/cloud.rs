//! What sandboxes in somebody's cloud have in common: finding or making one, keeping it while it is used,
//! and not leaving anything behind in it.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_core::future::BoxFuture;
use hermes_core::{Clock, Random};
use hermes_http::HttpClient;

use crate::lease::{Leases, Tenant};
use crate::sandboxes::{self, Inventory};
use crate::supervise::{Carrier, Channel, Closed, Crew, Pulse, Role, Supervised};
use crate::tether::{Tether, TetherProgram, Wish};
use crate::{Backend, ExecError, Place, labels, turn};

/// The longest time between two looks at whether the sandbox is idle.
const LONGEST_BEAT: Duration = Duration::from_secs(10);
/// A network that is gone for a moment is waited for; the tether tells at once when we are gone for good.
const PATIENCE: Duration = Duration::from_secs(60);

/// What every sandbox in a cloud is made with, whoever the vendor is.
#[derive(Clone)]
pub struct CloudConfig {
    /// The image.
    pub image: String,
    /// Whose sandbox it is: the same name finds it again.
    pub task: String,
    /// The profile it belongs to.
    pub profile: String,
    /// Processors; 0 is the vendor's default.
    pub cpus: f64,
    /// Memory in MB; 0 is the vendor's default.
    pub memory_mb: u32,
    /// Disk in MB; 0 is the vendor's default.
    pub disk_mb: u32,
    /// Keeps its files for the next session.
    pub persistent: bool,
    /// How long the sandbox may be idle.
    pub lifetime: Duration,
    /// The directory for what is written down about sandboxes.
    pub sandboxes: PathBuf,
    /// Makes all requests.
    pub http: HttpClient,
    /// Ends what was started when this process is killed.
    pub tether: TetherProgram,
    /// Tells idle time.
    pub clock: Arc<dyn Clock>,
}

impl CloudConfig {
    /// The directory for one vendor's sandbox of this task.
    pub(crate) fn folder(&self, kind: &str) -> PathBuf {
        self.sandboxes.join(kind).join(labels::value(&self.task))
    }
}

/// One vendor's way of doing it.
///
/// `Cloud` calls `ensure` while no other process does, `open` for every channel, and `wish` once the guard
/// runs. Ids and names are those of `Inventory`.
pub(crate) trait Vendor: Send + Sync + 'static {
    /// The backend's name in the configuration.
    const KIND: &'static str;

    /// The sandboxes of the account.
    type Account: Inventory;

    /// A sandbox that can be used.
    type Found: Clone + Send + Sync + 'static;

    fn config(&self) -> &CloudConfig;

    fn account(&self) -> &Self::Account;

    /// Finds the sandbox that fits, or makes one.
    fn ensure(
        &self,
        leases: &Leases,
    ) -> impl Future<Output = Result<Self::Found, ExecError>> + Send;

    /// Its id and its name.
    fn named<'a>(&self, found: &'a Self::Found) -> (&'a str, &'a str);

    /// Runs `role.boot()` in it. Fails with `Gone` when it has to be made again.
    fn open(
        &self,
        found: &Self::Found,
        role: Role,
        crew: &Crew,
    ) -> impl Future<Output = Result<Channel, ExecError>> + Send;

    /// Another number means that a wish made before may not be heard any more.
    fn edition(&self, _found: &Self::Found) -> u64 {
        0
    }

    /// The request that ends the process `pid` in it softly.
    fn wish(&self, found: &Self::Found, pid: u32) -> Result<Wish, ExecError>;
}

/// A backend for the vendor's sandbox; nobody is asked before it is used.
pub(crate) fn backend<V: Vendor>(vendor: V, random: &dyn Random) -> Arc<dyn Backend> {
    let config = vendor.config();
    let leases = Leases::of(&config.sandboxes, V::KIND);
    let carrier = Cloud {
        tenant: Tenant::new(leases, config.lifetime, config.clock.clone()),
        tether: Tether::new(config.tether.clone()),
        found: Mutex::new(None),
        armed: Mutex::new(None),
        vendor,
    };
    Arc::new(Supervised::new(carrier, random))
}

struct Cloud<V: Vendor> {
    vendor: V,
    tenant: Tenant,
    tether: Tether,
    found: Mutex<Option<V::Found>>,
    /// The guard that the wish is about, and the wish's edition.
    armed: Mutex<Option<(u32, u64)>>,
}

impl<V: Vendor> Cloud<V> {
    fn found(&self) -> Option<V::Found> {
        self.found
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    async fn channel(&self, role: Role, crew: &Crew) -> Result<Channel, ExecError> {
        let found = match (role, self.found()) {
            (Role::Pipes | Role::Terminal, Some(found)) => found,
            (Role::Pipes | Role::Terminal, None) => {
                return Err(ExecError::Gone("there is no sandbox".to_owned()));
            }
            (Role::Guard, _) => {
                let config = self.vendor.config();
                let _turn = turn::take(&config.folder(V::KIND)).await?;
                let found = self.vendor.ensure(self.tenant.leases()).await?;
                *self.found.lock().unwrap_or_else(PoisonError::into_inner) = Some(found.clone());
                self.tenant.arrive();
                self.tenant.renew(self.vendor.named(&found).1, 0).await;
                found
            }
        };
        let opened = self.vendor.open(&found, role, crew).await;
        // Whatever that took was not idleness.
        self.tenant.arrive();
        opened
    }

    async fn guarded(&self, pid: u32) -> Result<(), ExecError> {
        let Some(found) = self.found() else {
            return Err(ExecError::Gone("there is no sandbox".to_owned()));
        };
        let edition = self.vendor.edition(&found);
        let wish = self.vendor.wish(&found, pid)?;
        let armed = self.tether.arm(&wish).await;
        armed.map_err(|source| ExecError::Io {
            what: "cannot start the helper that clears up after us".to_owned(),
            source,
        })?;
        *self.armed.lock().unwrap_or_else(PoisonError::into_inner) = Some((pid, edition));
        Ok(())
    }

    /// Makes the wish anew when it may not be heard any more.
    async fn refresh(&self, found: &V::Found) {
        let armed = *self.armed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((pid, edition)) = armed
            && edition != self.vendor.edition(found)
            && let Err(error) = self.guarded(pid).await
        {
            tracing::warn!(%error, "the helper that clears up after us is not up to date");
        }
    }

    /// Keeps the lease fresh and stops the sandbox when it has been idle for too long.
    async fn look_after(&self, running: usize) {
        let Some(found) = self.found() else { return };
        self.refresh(&found).await;
        let (_, name) = self.vendor.named(&found);
        self.tenant.renew(name, running).await;
        let config = self.vendor.config();
        let (leases, clock) = (self.tenant.leases(), &*config.clock);
        let reclaimed =
            sandboxes::reclaim_one(self.vendor.account(), leases, &config.profile, name, clock)
                .await;
        if let Err(error) = reclaimed {
            tracing::warn!(%error, "the idle sandbox was not stopped");
        }
    }

    async fn leave(&self) -> Result<(), ExecError> {
        self.tether.release().await;
        let found = self
            .found
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let Some(found) = found else { return Ok(()) };
        let (id, name) = self.vendor.named(&found);
        let (config, leases) = (self.vendor.config(), self.tenant.leases());
        if !sandboxes::is_free(leases, name, 0, config.lifetime, &*config.clock) {
            return leases
                .release(name, crate::Owner::this())
                .map_err(|source| ExecError::Io {
                    what: "cannot remove the lease".to_owned(),
                    source,
                });
        }
        if config.persistent {
            // What is not used costs money, and starts again when it is needed.
            return self.vendor.account().stop(id).await;
        }
        sandboxes::discard(self.vendor.account(), leases, id, name).await
    }
}

impl<V: Vendor> Carrier for Cloud<V> {
    fn place(&self) -> Place {
        let found = self.found();
        let label = found.as_ref().map(|found| self.vendor.named(found).1);
        Place::Away {
            kind: V::KIND,
            label: label
                .unwrap_or(self.vendor.config().image.as_str())
                .to_owned(),
        }
    }

    fn scratch(&self) -> PathBuf {
        Path::new("/tmp").to_owned()
    }

    fn pulse(&self) -> Pulse {
        let lifetime = self.vendor.config().lifetime;
        Pulse {
            every: (lifetime / 2).clamp(Duration::from_millis(500), LONGEST_BEAT),
            patience: PATIENCE,
        }
    }

    fn open(&self, role: Role, crew: &Crew) -> BoxFuture<'_, Result<Channel, ExecError>> {
        let crew = crew.clone();
        Box::pin(async move { self.channel(role, &crew).await })
    }

    fn guarded(&self, pid: u32) -> BoxFuture<'_, Result<(), ExecError>> {
        Box::pin(self.guarded(pid))
    }

    fn explain(&self, closed: &Closed) -> ExecError {
        let image = &self.vendor.config().image;
        match closed.code {
            Some(126 | 127) => ExecError::Unavailable {
                backend: V::KIND,
                cause: format!("{image} has no shell that works: {}", closed.why()),
                next: "Use an image with /bin/sh, env, cat, mkfifo, dd, tr, fold and base64."
                    .to_owned(),
            },
            Some(_) | None => ExecError::Gone(format!("the sandbox ended {}", closed.complaint)),
        }
    }

    fn beat(&self, running: usize) -> BoxFuture<'_, ()> {
        Box::pin(self.look_after(running))
    }

    fn close(&self) -> BoxFuture<'_, Result<(), ExecError>> {
        Box::pin(self.leave())
    }
}
