//! Commands in a container of Docker or Podman, through the engine's API.

mod arguments;
mod attach;
mod engine;
mod image;
mod spec;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bollard::exec::CreateExecOptions;
use futures_core::future::BoxFuture;
use hermes_core::{Clock, Random};

use crate::lease::{Leases, Tenant};
use crate::sandboxes;
use crate::supervise::{Carrier, Channel, Closed, Crew, Pulse, Role, Supervised};
use crate::{Backend, ExecError, Growing, Place};
pub(crate) use arguments::keep_away;
use attach::{Kind, attach};
pub(crate) use engine::Engine;
use engine::Found;

pub(crate) const KIND: &str = "docker";
/// The longest time between two looks at whether the container is idle.
const LONGEST_BEAT: Duration = Duration::from_secs(10);

/// A container and where to make it.
#[derive(Clone)]
pub struct DockerConfig {
    /// The engine's address as in `DOCKER_HOST`; only local sockets, `unix://…`.
    pub engine: String,
    /// The image.
    pub image: String,
    /// The directory commands start in.
    pub directory: String,
    /// Whose container it is: the same name finds it again.
    pub task: String,
    /// The profile it belongs to.
    pub profile: String,
    /// Processors; 0 is no limit.
    pub cpus: f64,
    /// Memory in MB; 0 is no limit.
    pub memory_mb: u32,
    /// Disk in MB where the engine can limit it; 0 is no limit.
    pub disk_mb: u32,
    /// Keeps `/root` and `/workspace` on this machine.
    pub persistent: bool,
    /// Leaves the container running for the next process.
    pub across_processes: bool,
    /// Removes containers that nobody has used for long.
    pub reaper: bool,
    /// How long the container may be idle.
    pub lifetime: Duration,
    /// Whether it has a network.
    pub network: bool,
    /// Runs it as this user and group.
    pub run_as: Option<(u32, u32)>,
    /// Shown in it as `/workspace`.
    pub workspace: Option<PathBuf>,
    /// Volumes as `host:container[:ro]`.
    pub volumes: Vec<String>,
    /// Files and directories it may read.
    pub offers: Growing<Offer>,
    /// Variables every program in it sees.
    pub environment: BTreeMap<String, String>,
    /// Variables only our commands see; not part of what the engine shows about the container.
    pub forwarded: Vec<(String, String)>,
    /// Further arguments of `docker run`.
    pub arguments: Vec<String>,
    /// The directory for the files of containers.
    pub sandboxes: PathBuf,
    /// Tells idle time.
    pub clock: Arc<dyn Clock>,
}

/// Something of this machine that a container may read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// Where it is here.
    pub from: PathBuf,
    /// Where it is there.
    pub to: String,
}

/// A backend for the container; the engine is not asked before it is used.
pub(crate) fn backend(config: DockerConfig, random: &dyn Random) -> Arc<dyn Backend> {
    let carrier = Docker {
        tenant: Tenant::new(
            Leases::new(&config.sandboxes),
            config.lifetime,
            config.clock.clone(),
        ),
        name: format!("hermes-{:08x}", random.next_u64() >> 32),
        config,
        found: Mutex::new(None),
    };
    Arc::new(Supervised::new(carrier, random))
}

struct Docker {
    config: DockerConfig,
    tenant: Tenant,
    /// Of the container, should we have to make one.
    name: String,
    found: Mutex<Option<Found>>,
}

impl Docker {
    fn found(&self) -> Option<Found> {
        self.found
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Finds the container or makes it, as whoever looks after it does first.
    async fn guarded(&self, crew: &Crew) -> Result<Found, ExecError> {
        let engine = Engine::connect(&self.config.engine).await?;
        let found = engine
            .ensure(&self.config, &self.name, self.tenant.leases())
            .await?;
        *self.found.lock().unwrap_or_else(PoisonError::into_inner) = Some(found.clone());
        self.tenant.arrive();
        // Before anybody tidies up.
        self.tenant.renew(&found.name, 0).await;
        if self.config.reaper {
            let (config, engine) = (self.config.clone(), found.engine.clone());
            let leases = self.tenant.leases().clone();
            crew.tasks.spawn(async move {
                let (profile, clock) = (&config.profile, &*config.clock);
                let tidied = sandboxes::reclaim_where(&engine, &leases, profile, clock, |_| true);
                if let Err(error) = tidied.await {
                    tracing::warn!(%error, "old containers were not removed");
                }
            });
        }
        Ok(found)
    }

    async fn channel(&self, role: Role, crew: &Crew) -> Result<Channel, ExecError> {
        let found = match (role, self.found()) {
            (Role::Pipes | Role::Terminal, Some(found)) => found,
            (Role::Pipes | Role::Terminal, None) => {
                return Err(ExecError::Gone("there is no container".to_owned()));
            }
            (Role::Guard, _) => self.guarded(crew).await?,
        };
        let kind = match role {
            Role::Guard | Role::Pipes => Kind::Frames,
            Role::Terminal => Kind::Terminal,
        };
        let environment = self.config.forwarded.iter();
        let options = CreateExecOptions {
            attach_stdin: Some(true),
            attach_stdout: Some(true),
            attach_stderr: Some(true),
            tty: Some(kind == Kind::Terminal),
            env: Some(
                environment
                    .map(|(name, value)| format!("{name}={value}"))
                    .collect(),
            ),
            cmd: Some(["/bin/sh", "-c", role.boot()].map(str::to_owned).to_vec()),
            ..CreateExecOptions::default()
        };
        let exec = found
            .engine
            .limited(
                "starting a program",
                found.engine.docker.create_exec(&found.id, options),
            )
            .await?;
        attach(
            &found.engine.socket,
            found.engine.docker.clone(),
            exec.id,
            kind,
            crew,
        )
        .await
        .map_err(|source| match source.kind() {
            std::io::ErrorKind::NotFound => ExecError::Gone(format!("{} is gone", found.name)),
            _ => ExecError::Io {
                what: "cannot start a program in the container".to_owned(),
                source,
            },
        })
    }

    /// Keeps the lease fresh and stops the container when it has been idle for too long.
    async fn look_after(&self, running: usize) {
        let Some(found) = self.found() else { return };
        self.tenant.renew(&found.name, running).await;
        let (leases, clock) = (self.tenant.leases(), &*self.config.clock);
        let profile = &self.config.profile;
        let reclaimed =
            sandboxes::reclaim_one(&found.engine, leases, profile, &found.name, clock).await;
        if let Err(error) = reclaimed {
            tracing::warn!(%error, "the idle container was not stopped");
        }
    }
}

impl Carrier for Docker {
    fn place(&self) -> Place {
        Place::Away {
            kind: KIND,
            label: self
                .found()
                .map_or_else(|| self.name.clone(), |found| found.name),
        }
    }

    fn scratch(&self) -> PathBuf {
        PathBuf::from("/tmp")
    }

    fn pulse(&self) -> Pulse {
        Pulse {
            every: (self.config.lifetime / 2).clamp(Duration::from_millis(500), LONGEST_BEAT),
            // The engine is on this machine and tells at once when we are gone.
            patience: Duration::ZERO,
        }
    }

    fn open(&self, role: Role, crew: &Crew) -> BoxFuture<'_, Result<Channel, ExecError>> {
        let crew = crew.clone();
        Box::pin(async move { self.channel(role, &crew).await })
    }

    fn explain(&self, closed: &Closed) -> ExecError {
        match closed.code {
            Some(126 | 127) => unavailable(
                format!(
                    "{} has no shell that works: {}",
                    self.config.image,
                    closed.why()
                ),
                "Use an image with /bin/sh, env, cat and mkfifo.".to_owned(),
            ),
            Some(_) | None => ExecError::Gone(format!("the container ended {}", closed.complaint)),
        }
    }

    fn beat(&self, running: usize) -> BoxFuture<'_, ()> {
        Box::pin(self.look_after(running))
    }

    fn close(&self) -> BoxFuture<'_, Result<(), ExecError>> {
        Box::pin(async move {
            let found = self
                .found
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take();
            let Some(found) = found else { return Ok(()) };
            if self.config.persistent && self.config.across_processes {
                return Ok(());
            }
            let (config, leases) = (&self.config, self.tenant.leases());
            if !sandboxes::is_free(leases, &found.name, 0, config.lifetime, &*config.clock) {
                // Another process works in it; the last one to leave removes it.
                return leases
                    .release(&found.name, crate::Owner::this())
                    .map_err(|source| ExecError::Io {
                        what: "cannot remove the lease".to_owned(),
                        source,
                    });
            }
            sandboxes::discard(&found.engine, leases, &found.id, &found.name).await
        })
    }
}

fn unavailable(cause: String, next: String) -> ExecError {
    ExecError::Unavailable {
        backend: KIND,
        cause,
        next,
    }
}
