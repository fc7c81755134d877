//! Commands in a container of Apptainer or Singularity, through its command line.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_core::future::BoxFuture;
use hermes_core::{Clock, Random};
use sha2::{Digest, Sha256};
use tokio::process::Command;
use tokio::time::timeout;

use crate::docker::Offer;
use crate::lease::{Lease, Leases, Owner};
use crate::supervise::{
    Carrier, Channel, Closed, Crew, Pulse, Role, Supervised, start_program, tail,
};
use crate::{Backend, ExecError, Place};

const KIND: &str = "singularity";
const PREFIX: &str = "hermes_";
const BUILD: Duration = Duration::from_secs(600);
const ANSWER: Duration = Duration::from_secs(120);
const PULSE: Pulse = Pulse {
    every: Duration::from_secs(10),
    // It runs on this machine and hears at once when we are gone.
    patience: Duration::ZERO,
};

/// A container and how to make it.
#[derive(Clone)]
pub struct SingularityConfig {
    /// The programs to try, `apptainer` first; the first that exists is used.
    pub programs: Vec<PathBuf>,
    /// Their whole environment, without anything secret.
    pub environment: Vec<(String, String)>,
    /// An image file or an address such as `docker://…`.
    pub image: String,
    /// The directory commands start in.
    pub directory: String,
    /// Whose container it is: the same name has the same files.
    pub task: String,
    /// Processors; 0 is no limit.
    pub cpus: f64,
    /// Memory in MB; 0 is no limit.
    pub memory_mb: u32,
    /// Keeps the files for the next session.
    pub persistent: bool,
    /// Files and directories it may read.
    pub offers: Vec<Offer>,
    /// Where built images and kept files are.
    pub scratch: PathBuf,
    /// The directory with the leases.
    pub sandboxes: PathBuf,
    /// Tells the time for leases.
    pub clock: Arc<dyn Clock>,
}

/// A backend for the container; nothing is started before it is used.
pub(crate) fn backend(config: SingularityConfig, random: &dyn Random) -> Arc<dyn Backend> {
    let carrier = Singularity {
        leases: Leases::new(&config.sandboxes),
        name: format!("{PREFIX}{:012x}", random.next_u64() >> 16),
        config,
        program: Mutex::new(None),
    };
    Arc::new(Supervised::new(carrier, random))
}

struct Singularity {
    config: SingularityConfig,
    leases: Leases,
    name: String,
    /// The program that started the instance.
    program: Mutex<Option<PathBuf>>,
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
        let program = self
            .program()
            .ok_or_else(|| ExecError::Gone("no instance".to_owned()))?;
        let mut command = self.command(&program);
        command.arg("exec").arg("--pwd").arg(&self.config.directory);
        command.arg(format!("instance://{}", self.name));
        command.args(["/bin/sh", "-c", role.boot()]);
        start_program(command, crew).map_err(|source| ExecError::Io {
            what: format!("cannot start {}", program.display()),
            source,
        })
    }

    fn program(&self) -> Option<PathBuf> {
        self.program
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    async fn start(&self) -> Result<(), ExecError> {
        let known = self
            .config
            .programs
            .iter()
            .find(|program| program.is_file());
        let Some(program) = known else {
            return Err(unavailable(
                "neither apptainer nor singularity is installed".to_owned(),
                "Install apptainer.",
            ));
        };
        self.stop_orphans(program).await;
        // One that is left from a guard that was lost is in the way.
        let _ = self
            .run(program, &["instance", "stop", &self.name], ANSWER)
            .await;
        let image = self.image(program).await?;
        let arguments = self.arguments(&image)?;
        let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
        self.run(program, &words, ANSWER).await?;
        *self.program.lock().unwrap_or_else(PoisonError::into_inner) = Some(program.clone());
        self.lease(0).await;
        Ok(())
    }

    /// The words that start the instance.
    fn arguments(&self, image: &str) -> Result<Vec<String>, ExecError> {
        let config = &self.config;
        let mut words: Vec<String> = ["instance", "start", "--containall", "--no-home"]
            .map(str::to_owned)
            .to_vec();
        if config.persistent {
            let task: String = config
                .task
                .chars()
                .map(|one| {
                    if one.is_ascii_alphanumeric() {
                        one
                    } else {
                        '_'
                    }
                })
                .collect();
            let overlay = config
                .scratch
                .join("hermes-overlays")
                .join(format!("overlay-{task}"));
            std::fs::create_dir_all(&overlay).map_err(|source| ExecError::Io {
                what: format!("cannot make {}", overlay.display()),
                source,
            })?;
            words.extend(["--overlay".to_owned(), overlay.display().to_string()]);
        } else {
            words.push("--writable-tmpfs".to_owned());
        }
        for offer in &config.offers {
            let bind = format!("{}:{}:ro", offer.from.display(), offer.to);
            words.extend(["--bind".to_owned(), bind]);
        }
        if config.memory_mb > 0 {
            words.extend(["--memory".to_owned(), format!("{}M", config.memory_mb)]);
        }
        if config.cpus > 0.0 {
            words.extend(["--cpus".to_owned(), config.cpus.to_string()]);
        }
        words.extend([image.to_owned(), self.name.clone()]);
        Ok(words)
    }

    /// A file made from the image's address once; the address itself if that fails.
    async fn image(&self, program: &Path) -> Result<String, ExecError> {
        let image = &self.config.image;
        if !image.contains("://") {
            return Ok(image.clone());
        }
        let folder = self.config.scratch.join("hermes-images");
        std::fs::create_dir_all(&folder).map_err(|source| ExecError::Io {
            what: format!("cannot make {}", folder.display()),
            source,
        })?;
        let digest = Sha256::digest(image.as_bytes());
        let stem: String = digest
            .iter()
            .take(8)
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let file = folder.join(format!("{stem}.sif"));
        if file.is_file() {
            return Ok(file.display().to_string());
        }
        // Another process may build the same; whoever is last wins with the same content.
        let draft = folder.join(format!("{stem}.{}.tmp", std::process::id()));
        let words = ["build", &draft.display().to_string(), image];
        match self.run(program, &words, BUILD).await {
            Ok(()) if std::fs::rename(&draft, &file).is_ok() => Ok(file.display().to_string()),
            Ok(()) => Ok(image.clone()),
            Err(error) => {
                tracing::warn!(%error, "the image could not be built and is used by its address");
                let _ = std::fs::remove_file(&draft);
                Ok(image.clone())
            }
        }
    }

    /// Stops what a process that was killed left running.
    async fn stop_orphans(&self, program: &Path) {
        let all = self.leases.all().unwrap_or_default();
        let ours = all.into_iter().filter(|(name, _)| name.starts_with(PREFIX));
        for (name, leases) in ours {
            if leases.iter().any(|lease| lease.owner.is_alive()) {
                continue;
            }
            if let Err(error) = self
                .run(program, &["instance", "stop", &name], ANSWER)
                .await
            {
                tracing::debug!(%error, name, "an old instance was not stopped");
            }
            if let Err(error) = self.leases.forget(&name) {
                tracing::debug!(%error, name, "an old lease was not removed");
            }
        }
    }

    async fn lease(&self, running: usize) {
        let lease = Lease {
            sandbox: self.name.clone(),
            owner: Owner::this(),
            running,
            used_at: self.config.clock.now().as_second(),
            lifetime_seconds: 0,
        };
        let leases = self.leases.clone();
        let written = tokio::task::spawn_blocking(move || leases.write(&lease)).await;
        if !matches!(written, Ok(Ok(()))) {
            tracing::warn!("the lease on the instance could not be written");
        }
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .envs(self.config.environment.iter().cloned());
        command
    }

    async fn run(&self, program: &Path, words: &[&str], limit: Duration) -> Result<(), ExecError> {
        let what = format!("{} {}", program.display(), words.join(" "));
        let mut child = self
            .command(program)
            .args(words)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(|source| ExecError::Io {
                what: what.clone(),
                source,
            })?;
        let errors = child.stderr.take();
        let ended = async {
            let said = match errors {
                Some(errors) => tail(errors).await,
                None => String::new(),
            };
            Ok::<_, io::Error>((child.wait().await?, said))
        };
        match timeout(limit, ended).await {
            Ok(Ok((status, _))) if status.success() => Ok(()),
            Ok(Ok((_, said))) => Err(unavailable(
                format!("{what}: {said}"),
                "Check terminal.singularity_image, or try the same by hand.",
            )),
            Ok(Err(source)) => Err(ExecError::Io { what, source }),
            Err(_) => Err(ExecError::TimedOut { what, limit }),
        }
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
        PULSE
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
        Box::pin(self.lease(running))
    }

    fn close(&self) -> BoxFuture<'_, Result<(), ExecError>> {
        Box::pin(async move {
            let program = self
                .program
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take();
            let Some(program) = program else {
                return Ok(());
            };
            self.run(&program, &["instance", "stop", &self.name], ANSWER)
                .await?;
            self.leases
                .forget(&self.name)
                .map_err(|source| ExecError::Io {
                    what: "cannot remove the lease".to_owned(),
                    source,
                })
        })
    }
}

fn unavailable(cause: String, next: &str) -> ExecError {
    ExecError::Unavailable {
        backend: KIND,
        cause,
        next: next.to_owned(),
    }
}
