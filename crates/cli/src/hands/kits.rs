//! What each session holds on to between turns: where it works, and what its file tools saw.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock, PoisonError};

use hermes_core::SessionId;
use hermes_exec::{Backend, Place, Ready, Shell, ShellOptions, Startup, directory_there};
use hermes_policy::confine::Surroundings;
use hermes_secrets::{ChildName, Secret, SecretName};
use hermes_tools::{Behind, Confined, Defined, FileTools, LazyConfined, Limits, Sudo, Workplace};

use super::Hands;
use super::dens::Dens;
use super::places;

/// Sessions whose shells are kept; the one that came first goes first.
pub(super) const MOST_SESSIONS: usize = 256;

#[derive(Default)]
pub(super) struct Kits {
    by_session: HashMap<SessionId, Kit>,
    order: Vec<SessionId>,
}

/// What one session holds on to between turns.
#[derive(Clone)]
pub(super) struct Kit {
    pub(super) place: Arc<Workplace>,
    pub(super) files: FileTools,
}

impl Hands {
    /// Removes the states of all shells: they hold exported variables.
    pub(super) async fn forget_shells(&self) {
        let kits: Vec<Kit> = {
            let mut kits = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
            kits.order.clear();
            kits.by_session.drain().map(|(_, kit)| kit).collect()
        };
        for kit in kits {
            for shell in [&kit.place.shell, &kit.place.outside] {
                if let Err(error) = shell.close().await {
                    tracing::warn!(%error, "the state of a shell was not removed");
                }
            }
        }
    }

    /// What a session holds on to, or why commands cannot run.
    pub(super) fn kit(&self, session: &SessionId, directory: &Path) -> Result<Kit, &str> {
        let backend = self.backend.as_ref().map_err(String::as_str)?;
        let mut kits = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kit) = kits.by_session.get(session) {
            return Ok(kit.clone());
        }
        let here = backend.place() == Place::Host;
        let place = Arc::new(self.workplace(backend, session, directory, here));
        let kit = Kit {
            files: FileTools::new(self.file_services(&place, here)),
            place,
        };
        kits.order.push(session.clone());
        if kits.order.len() > MOST_SESSIONS {
            let oldest = kits.order.remove(0);
            kits.by_session.remove(&oldest);
        }
        kits.by_session.insert(session.clone(), kit.clone());
        Ok(kit)
    }

    fn workplace(
        &self,
        backend: &Arc<dyn Backend>,
        session: &SessionId,
        directory: &Path,
        here: bool,
    ) -> Workplace {
        let granted = self.grants.of(session);
        let directory = self.first_directory(directory, here);
        let scratch = match here {
            true => {
                let name = format!("session-{:016x}", self.random.next_u64());
                backend.scratch().join(name)
            }
            false => backend.scratch(),
        };
        let confine = places::Confine {
            sandbox: self.sandbox.clone(),
            config: self.config.clone(),
            surroundings: self.around(&directory, scratch.clone()),
            granted: granted.clone(),
            here,
            begun: OnceLock::new(),
        };
        let environment = self.environment_of(session, here);
        let ready = here.then(|| self.ready(backend, &scratch));
        let shell = |folder| {
            Shell::new(ShellOptions {
                backend: backend.clone(),
                directory: directory.clone(),
                environment: environment.clone(),
                startup: self.startup(),
                output_limit: self.config.tool_output.max_bytes as usize,
                folder,
                ready: ready.clone(),
                random: self.random.clone(),
            })
            .granting(granted.clone())
        };
        Workplace {
            shell: shell(scratch.clone()),
            // Beside the directories of sessions, where no confined command can write.
            outside: shell(backend.scratch()),
            backend: backend.clone(),
            defined: Defined::default(),
            confinement: LazyConfined::new(
                confining(confine, self.needed(&scratch, here), ready),
                granted.clone(),
            ),
            scratch,
            environment,
            granted,
            processes: self.processes.clone(),
            behind: Behind::default(),
            guard: self.guard.clone(),
            redactor: self.redactor.clone(),
            masking: places::masking(&self.config),
            random: self.random.clone(),
            limits: self.limits(),
            sudo: Sudo::new(self.sudo_password()).patience(self.config.approvals.timeout),
            checkpoints: self.checkpoints.clone().filter(|_| here),
        }
    }

    /// Where the first command starts.
    fn first_directory(&self, directory: &Path, here: bool) -> PathBuf {
        let terminal = &self.config.terminal;
        match (terminal.cwd.as_str(), here) {
            ("" | "." | "auto" | "cwd", true) => directory.to_owned(),
            (named, true) => directory.join(expanded(named, self.user.home.as_deref())),
            (_, false) => {
                let ours = [directory, self.home.path()].into_iter();
                let here: Vec<&Path> = ours.chain(self.user.home.as_deref()).collect();
                directory_there(terminal, &here)
            }
        }
    }

    fn startup(&self) -> Startup {
        let terminal = &self.config.terminal;
        match (&terminal.shell_init_files[..], terminal.auto_source_bashrc) {
            ([], true) => Startup::Login,
            ([], false) => Startup::Nothing,
            (files, _) => Startup::Files(files.to_vec()),
        }
    }

    fn environment_of(&self, session: &SessionId, here: bool) -> Vec<(String, String)> {
        match here {
            true => {
                let ours = ("HERMES_SESSION_ID".to_owned(), session.as_str().to_owned());
                self.environment.iter().cloned().chain([ours]).collect()
            }
            false => self.passed_through.clone(),
        }
    }

    /// The directories that must be there before a command is confined, and what they are.
    fn needed(&self, scratch: &Path, here: bool) -> Vec<(&'static str, PathBuf)> {
        let own_home = self.own_home().map(|home| ("home", home));
        match here {
            true => own_home
                .into_iter()
                .chain([("temporary", scratch.to_owned())])
                .collect(),
            false => Vec::new(),
        }
    }

    /// Makes the directory of a session on this machine.
    fn ready(&self, backend: &Arc<dyn Backend>, scratch: &Path) -> Ready {
        let make = || Arc::new(Dens::new(backend.scratch()));
        let dens = self.dens.get_or_init(make).clone();
        let own = scratch.to_owned();
        Arc::new(move || {
            dens.hold();
            if let Err(error) = places::make_private(&own) {
                tracing::warn!(%error, path = %own.display(), "a directory could not be made");
            }
        })
    }

    /// The directories a session's confinement is made from.
    pub(super) fn around(&self, directory: &Path, scratch: PathBuf) -> Surroundings {
        let mut around = places::surroundings(
            &self.config,
            directory,
            scratch,
            &self.user,
            &self.home,
            &self.secluded,
        );
        around.writable.extend(self.own_home());
        around
    }

    /// The home directory commands get, where it is not the user's but one that we keep for them.
    fn own_home(&self) -> Option<PathBuf> {
        let (_, home) = self.environment.iter().find(|(name, _)| name == "HOME")?;
        let home = PathBuf::from(home);
        home.starts_with(self.home.path()).then_some(home)
    }

    pub(super) fn limits(&self) -> Limits {
        Limits {
            usual: self.config.terminal.timeout,
            most: self.config.terminal.max_foreground_timeout,
        }
    }

    fn sudo_password(&self) -> Option<Secret> {
        let text = self.config.terminal.sudo_password.as_ref()?;
        let name = SecretName::new("SUDO_PASSWORD").ok()?;
        Secret::builder(name, text.expose().to_owned())
            .child(ChildName::new("sudo"))
            .build()
            .ok()
    }
}

/// Finds out how commands are confined, when what that needs is there.
fn confining(
    confine: places::Confine,
    needed: Vec<(&'static str, PathBuf)>,
    ready: Option<Ready>,
) -> Arc<dyn Fn() -> Confined + Send + Sync> {
    Arc::new(move || {
        // What is mounted has to be there.
        if let Some(ready) = &ready {
            ready();
        }
        for (what, place) in &needed {
            if let Err(error) = places::make_private(place) {
                let place = place.display();
                return Confined::Refused(format!(
                    "the {what} directory of commands, {place}, cannot be made: {error}"
                ));
            }
        }
        confine.find()
    })
}

pub(super) fn expanded(path: &str, user_home: Option<&Path>) -> PathBuf {
    let Some(home) = user_home else {
        return PathBuf::from(path);
    };
    match path.strip_prefix('~') {
        Some("") => home.to_owned(),
        Some(rest) if rest.starts_with('/') => home.join(rest.trim_start_matches('/')),
        Some(_) | None => PathBuf::from(path),
    }
}
