//! Commands in a container of Apptainer or Singularity, through its command line.
//!
//! Kept files are a directory that is laid over the image, and a kernel does not allow two mounts to write to the same
//! one. So an instance with kept files is named after its directory: there is one for everybody, processes with
//! the same settings share it, and the last one to leave stops it.

mod instances;
mod watcher;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_core::future::BoxFuture;
use hermes_core::{Clock, Random};
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::docker::Offer;
use crate::lease::{Leases, Owner, Tenant};
use crate::sandboxes::{self, Inventory as _, Sandbox};
use crate::supervise::{Carrier, Carriers, Channel, Closed, Crew, Pulse, Role, Supervised};
use crate::{Backend, ExecError, Growing, Place, labels, turn};
pub(crate) use instances::Instances;
use instances::Record;
use watcher::Watcher;
pub(crate) use watcher::watch;

pub(crate) const KIND: &str = "singularity";
const PREFIX: &str = "hermes_";
const BUILD: Duration = Duration::from_secs(600);
/// The longest time between two looks at whether the instance is idle.
const LONGEST_BEAT: Duration = Duration::from_secs(10);

/// A container and how to make it.
#[derive(Clone)]
pub struct SingularityConfig {
    /// The programs to try, `apptainer` first; the first that exists is used.
    pub programs: Vec<PathBuf>,
    /// How they are started.
    pub carriers: Carriers,
    /// An image file or an address such as `docker://…`.
    pub image: String,
    /// The directory commands start in.
    pub directory: String,
    /// Whose container it is: the same name has the same files.
    pub task: String,
    /// The profile it belongs to.
    pub profile: String,
    /// Processors; 0 is no limit.
    pub cpus: f64,
    /// Memory in MB; 0 is no limit.
    pub memory_mb: u32,
    /// Keeps the files for the next session.
    pub persistent: bool,
    /// How long the container may be idle.
    pub lifetime: Duration,
    /// Files and directories it may read.
    pub offers: Growing<Offer>,
    /// Where built images and kept files are.
    pub scratch: PathBuf,
    /// The directory with the leases.
    pub sandboxes: PathBuf,
    /// Tells the time for leases.
    pub clock: Arc<dyn Clock>,
}

impl SingularityConfig {
    /// The directory with the kept files of a task.
    fn overlay(&self) -> PathBuf {
        let safe = |one: char| {
            if one.is_ascii_alphanumeric() {
                one
            } else {
                '_'
            }
        };
        let task: String = self.task.chars().map(safe).collect();
        let overlays = self.scratch.join("hermes-overlays");
        overlays.join(format!("overlay-{task}"))
    }
}

/// A backend for the container; nothing is started before it is used.
pub(crate) fn backend(config: SingularityConfig, random: &dyn Random) -> Arc<dyn Backend> {
    let leases = Leases::of(&config.sandboxes, KIND);
    let named = match config.persistent {
        true => hex(config.overlay().as_os_str().as_encoded_bytes(), 6),
        false => format!("{:012x}", random.next_u64() >> 16),
    };
    let carrier = Singularity {
        tenant: Tenant::new(leases, config.lifetime, config.clock.clone()),
        name: format!("{PREFIX}{named}"),
        config,
        used: Mutex::new(None),
        watcher: tokio::sync::Mutex::new(None),
    };
    Arc::new(Supervised::new(carrier, random))
}

struct Singularity {
    config: SingularityConfig,
    tenant: Tenant,
    name: String,
    /// The program the instance was started or found with.
    used: Mutex<Option<Instances>>,
    /// What stops it when we are killed.
    watcher: tokio::sync::Mutex<Option<Watcher>>,
}

impl Singularity {
    async fn channel(&self, role: Role, crew: &Crew) -> Result<Channel, ExecError> {
        if role == Role::Terminal {
            return Err(unavailable(
                "it gives commands no terminal".to_owned(),
                "Run the command without one, or use another backend.",
            ));
        }
        if role == Role::Guard {
            self.start().await?;
        }
        let instances = self
            .used()
            .ok_or_else(|| ExecError::Gone("no instance".to_owned()))?;
        let instance = format!("instance://{}", self.name);
        let words = ["exec", "--pwd", &self.config.directory, &instance];
        let shell = ["/bin/sh", "-c", role.boot()];
        let words: Vec<&str> = words.into_iter().chain(shell).collect();
        instances.channel(&words, crew).await
    }

    fn used(&self) -> Option<Instances> {
        self.used
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    async fn turn(&self) -> Result<std::fs::File, ExecError> {
        turn::take(&self.config.sandboxes.join(KIND)).await
    }

    /// Finds the instance that fits, or starts one.
    async fn start(&self) -> Result<(), ExecError> {
        let instances = Instances::of(&self.config)?;
        // Building takes long and concerns nobody else.
        let image = self.image(&instances).await?;
        let making = self.arguments(&image)?;
        let mut watcher = instances.watcher(&self.name)?;
        if let Err(error) = self.take_up(&instances, making, &mut watcher).await {
            watcher.release().await;
            return Err(error);
        }
        watcher.up().await;
        if let Some(before) = self.watcher.lock().await.replace(watcher) {
            before.release().await;
        }
        *self.used.lock().unwrap_or_else(PoisonError::into_inner) = Some(instances);
        Ok(())
    }

    /// Uses the instance, made as these words say if there is none, and writes that down.
    async fn take_up(
        &self,
        instances: &Instances,
        making: Vec<String>,
        watcher: &mut Watcher,
    ) -> Result<(), ExecError> {
        let _turn = self.turn().await?;
        self.stop_orphans(instances).await?;
        let made_as = labels::hash(&json!(making));
        if !self.is_usable(instances, &made_as).await? {
            self.note(instances, made_as)?;
            let words = making.iter().chain([&self.name]).map(String::as_str);
            let words: Vec<&str> = words.collect();
            if let Err(error) = instances.start(&words, watcher).await {
                instances.forget(&self.name)?;
                return Err(error);
            }
        }
        self.tenant.arrive();
        self.tenant.renew(&self.name, 0).await;
        Ok(())
    }

    /// Whether an instance of this name runs and can be used. One that cannot and that nobody needs is stopped.
    async fn is_usable(&self, instances: &Instances, config: &str) -> Result<bool, ExecError> {
        let running = instances.running().await?;
        if !running.contains(&self.name) {
            return Ok(false);
        }
        let record = instances.record(&self.name);
        let alike = record.as_ref().is_some_and(|known| known.config == config);
        let free = record.is_some_and(|known| self.is_free(known.created_at));
        // When our own guard was lost there may be something wrong with the instance.
        let fresh = self.used().is_none();
        if alike && (fresh || !free) {
            return Ok(true);
        }
        if !free {
            return Err(unavailable(
                format!(
                    "{} runs with other settings and somebody uses it, and {} cannot be shared",
                    self.name,
                    self.config.overlay().display()
                ),
                "End the other Hermes or wait until it has been idle for terminal.lifetime_seconds, or set \
                 terminal.container_persistent to false.",
            ));
        }
        tracing::info!(instance = self.name, "made differently, so it is replaced");
        instances.stop(&self.name).await?;
        Ok(false)
    }

    fn is_free(&self, created_at: i64) -> bool {
        let (leases, config) = (self.tenant.leases(), &self.config);
        sandboxes::is_free(
            leases,
            &self.name,
            created_at,
            config.lifetime,
            &*config.clock,
        )
    }

    /// Writes down what is known about the instance that is about to be started.
    fn note(&self, instances: &Instances, made_as: String) -> Result<(), ExecError> {
        let config = &self.config;
        instances.write(&Record {
            name: self.name.clone(),
            image: config.image.clone(),
            task: labels::value(&config.task),
            profile: labels::value(&config.profile),
            config: made_as,
            lifetime_seconds: config.lifetime.as_secs(),
            files: config.persistent.then(|| config.overlay()),
            created_at: config.clock.now().as_second(),
        })
    }

    /// The words that start the instance, but for its name.
    fn arguments(&self, image: &str) -> Result<Vec<String>, ExecError> {
        let config = &self.config;
        let mut words: Vec<String> = ["instance", "start", "--containall", "--no-home"]
            .map(str::to_owned)
            .to_vec();
        if config.persistent {
            let overlay = config.overlay();
            make_folder(&overlay)?;
            words.extend(["--overlay".to_owned(), overlay.display().to_string()]);
        } else {
            words.push("--writable-tmpfs".to_owned());
        }
        for offer in config.offers.list() {
            let bind = format!("{}:{}:ro", offer.from.display(), offer.to);
            words.extend(["--bind".to_owned(), bind]);
        }
        if config.memory_mb > 0 {
            words.extend(["--memory".to_owned(), format!("{}M", config.memory_mb)]);
        }
        if config.cpus > 0.0 {
            words.extend(["--cpus".to_owned(), config.cpus.to_string()]);
        }
        words.push(image.to_owned());
        Ok(words)
    }

    /// A file made from the image's address once; the address itself if that fails.
    async fn image(&self, instances: &Instances) -> Result<String, ExecError> {
        let image = &self.config.image;
        if !image.contains("://") {
            return Ok(image.clone());
        }
        let folder = self.config.scratch.join("hermes-images");
        make_folder(&folder)?;
        let stem = hex(image.as_bytes(), 8);
        let file = folder.join(format!("{stem}.sif"));
        if file.is_file() {
            return Ok(file.display().to_string());
        }
        // Another process may build the same; whoever is last wins with the same content.
        let draft = folder.join(format!("{stem}.{}.tmp", std::process::id()));
        let words = ["build", &draft.display().to_string(), image];
        match instances.run(&words, BUILD).await {
            Ok(()) if std::fs::rename(&draft, &file).is_ok() => Ok(file.display().to_string()),
            Ok(()) => Ok(image.clone()),
            Err(error) => {
                tracing::warn!(%error, "the image could not be built and is used by its address");
                let _ = std::fs::remove_file(&draft);
                Ok(image.clone())
            }
        }
    }

    /// Stops what processes that were killed left running, and forgets what is not there any more.
    async fn stop_orphans(&self, instances: &Instances) -> Result<(), ExecError> {
        let leases = self.tenant.leases();
        let known = sandboxes::known(instances, leases).await?;
        let listed = |name: &str| known.iter().any(|(id, _)| id == name);
        for gone in instances.records() {
            if !listed(&gone.name) {
                instances.forget(&gone.name)?;
            }
        }
        let left = |sandbox: &Sandbox| {
            let mut users = sandbox.leases.iter();
            sandbox.name != self.name && !users.any(|lease| lease.owner.is_alive())
        };
        for (id, sandbox) in known.iter().filter(|(_, sandbox)| left(sandbox)) {
            if let Err(error) = sandboxes::discard(instances, leases, id, &sandbox.name).await {
                tracing::warn!(%error, name = sandbox.name, "an old instance was not stopped");
            }
        }
        Ok(())
    }

    /// Keeps the lease fresh and stops the instance when it has been idle for too long.
    async fn look_after(&self, running: usize) {
        let Some(instances) = self.used() else { return };
        self.tenant.renew(&self.name, running).await;
        let (leases, config) = (self.tenant.leases(), &self.config);
        let (profile, clock) = (&config.profile, &*config.clock);
        let reclaimed = sandboxes::reclaim_one(&instances, leases, profile, &self.name, clock);
        if let Err(error) = reclaimed.await {
            tracing::warn!(%error, "the idle instance was not stopped");
        }
    }

    /// Stops the instance unless somebody else uses it.
    async fn leave(&self) -> Result<(), ExecError> {
        let used = self
            .used
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let Some(instances) = used else {
            return Ok(());
        };
        let left = self.let_go(&instances).await;
        if let Some(watcher) = self.watcher.lock().await.take() {
            watcher.release().await;
        }
        left
    }

    async fn let_go(&self, instances: &Instances) -> Result<(), ExecError> {
        let _turn = self.turn().await?;
        let (leases, name) = (self.tenant.leases(), &self.name);
        if self.is_free(0) {
            return sandboxes::discard(instances, leases, name, name).await;
        }
        leases
            .release(name, Owner::this())
            .map_err(|source| ExecError::Io {
                what: "cannot remove the lease".to_owned(),
                source,
            })
    }
}

impl Carrier for Singularity {
    fn place(&self) -> Place {
        Place::Away {
            kind: KIND,
            label: self.name.clone(),
        }
    }

    fn scratch(&self) -> PathBuf {
        PathBuf::from("/tmp")
    }

    fn pulse(&self) -> Pulse {
        Pulse {
            every: (self.config.lifetime / 2).clamp(Duration::from_millis(500), LONGEST_BEAT),
            // It runs on this machine and hears at once when we are gone.
            patience: Duration::ZERO,
        }
    }

    fn open(&self, role: Role, crew: &Crew) -> BoxFuture<'_, Result<Channel, ExecError>> {
        let crew = crew.clone();
        Box::pin(async move { self.channel(role, &crew).await })
    }

    fn explain(&self, closed: &Closed) -> ExecError {
        ExecError::Gone(format!(
            "the instance {} ended {}",
            self.name, closed.complaint
        ))
    }

    fn beat(&self, running: usize) -> BoxFuture<'_, ()> {
        Box::pin(self.look_after(running))
    }

    fn close(&self) -> BoxFuture<'_, Result<(), ExecError>> {
        Box::pin(self.leave())
    }
}

fn make_folder(folder: &Path) -> Result<(), ExecError> {
    std::fs::create_dir_all(folder).map_err(|source| ExecError::Io {
        what: format!("cannot make {}", folder.display()),
        source,
    })
}

/// The first bytes of a text's digest.
fn hex(text: &[u8], bytes: usize) -> String {
    let digest = Sha256::digest(text);
    let first = digest.iter().take(bytes);
    first.map(|byte| format!("{byte:02x}")).collect()
}

fn unavailable(cause: String, next: &str) -> ExecError {
    ExecError::Unavailable {
        backend: KIND,
        cause,
        next: next.to_owned(),
    }
}
