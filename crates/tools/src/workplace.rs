//! Where a session works: what its tools that run things share.

mod behind;
mod defined;
mod refused;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hermes_core::{Random, ToolContext};
use hermes_exec::guidance::Masking;
use hermes_exec::{Backend, Granted, Place, Processes, RunId, Shell, sudo_needs_no_password};
use hermes_policy::Confinement;
use hermes_secrets::{ChildName, RedactorHandle, Secret, SecretName};
use tokio::sync::Mutex as AsyncMutex;
use tokio_util::sync::CancellationToken;

use crate::checkpoints::{CheckpointError, Checkpoints};
use crate::guard::Guard;
pub use behind::Behind;
pub(crate) use behind::{Refused, Wanted};
pub use defined::Defined;
pub(crate) use refused::refused_by_sandbox;

/// What the tools of one session that run things share.
pub struct Workplace {
    /// Where commands run.
    pub backend: Arc<dyn Backend>,
    /// The directory there that belongs to the session: no other session's commands write to it.
    pub scratch: PathBuf,
    /// The session's shell there.
    pub shell: Shell,
    /// The shell of commands that a person let out of the sandbox. It has a state of its own: a function or
    /// alias that was made inside must not decide what an allowed command means outside.
    pub outside: Shell,
    /// What earlier commands defined in the session's shell.
    pub defined: Defined,
    /// What its commands may touch.
    pub confinement: LazyConfined,
    /// The environment of its commands.
    pub environment: Vec<(String, String)>,
    /// What they see besides, because a skill of the session asked for it.
    pub granted: Granted,
    /// What runs in the background, of all sessions.
    pub processes: Processes,
    /// What of it is this session's and confined.
    pub behind: Behind,
    /// Who decides what may run.
    pub guard: Arc<Guard>,
    /// Masks secrets in what commands print.
    pub redactor: RedactorHandle,
    /// How much of it is masked.
    pub masking: Masking,
    /// Makes names nobody else has.
    pub random: Arc<dyn Random>,
    /// Limits.
    pub limits: Limits,
    /// The password for `sudo`.
    pub sudo: Sudo,
    /// Snapshots before commands that change files, when they are switched on. Only of this machine.
    pub checkpoints: Option<Arc<Checkpoints>>,
}

/// What results say of something that a person let out of the sandbox.
pub(crate) const LET_OUT: &str = "outside the sandbox, as allowed";

/// What results say of something nobody saw the end of.
pub(crate) const LOST: &str = "the connection to where this ran broke, or the place is gone: how far it came is not known. \
                               Look at what it changed before it runs again";

/// What a person is told when there is nothing to go back to.
pub(crate) fn no_checkpoint(error: &CheckpointError) -> String {
    format!("No checkpoint was taken before this change: {error}\n")
}

/// How long a person may take to type a password, at most.
const MOST_PATIENCE: Duration = Duration::from_secs(45);

/// The password for `sudo`, as far as it is known.
#[derive(Debug)]
pub struct Sudo {
    /// The one the user set, bound to the child `sudo`.
    pub configured: Option<Secret>,
    /// How long a person may take to type it.
    pub(crate) patience: Duration,
    typed: Mutex<Option<Secret>>,
}

impl Sudo {
    /// What the user set.
    pub fn new(configured: Option<Secret>) -> Self {
        Self {
            configured,
            patience: MOST_PATIENCE,
            typed: Mutex::default(),
        }
    }

    /// Waits for a person no longer than this, and never longer than 45 seconds.
    #[must_use]
    pub fn patience(mut self, limit: Duration) -> Self {
        self.patience = limit.min(MOST_PATIENCE);
        self
    }

    pub(crate) fn typed(&self) -> Option<Secret> {
        self.lock().clone()
    }

    pub(crate) fn forget(&self) {
        *self.lock() = None;
    }

    /// Keeps what a person typed for the rest of the session, and masks it from here on.
    pub(crate) fn keep(&self, typed: String, redactor: &RedactorHandle) -> Option<Secret> {
        let name = SecretName::new("SUDO_PASSWORD").ok()?;
        let secret = Secret::builder(name, typed)
            .child(ChildName::new("sudo"))
            .build()
            .ok()?;
        redactor.add(&secret);
        *self.lock() = Some(secret.clone());
        Some(secret)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Secret>> {
        self.typed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How long things may take and how much of them is kept.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// How long a command may take unless the model asks for more.
    pub usual: Duration,
    /// How long one in the foreground may take at most.
    pub most: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            usual: Duration::from_secs(180),
            most: Duration::from_secs(600),
        }
    }
}

/// Whether commands are confined, and how results say so.
#[derive(Debug, Clone)]
pub enum Confined {
    /// By this, and the words for it.
    By(Arc<Confinement>, String),
    /// Not at all, and why.
    Not(String),
    /// Nothing may run: a sandbox is required and there is none.
    Refused(String),
}

impl Confined {
    /// The confinement of a command.
    pub(crate) fn confinement(&self) -> Option<Arc<Confinement>> {
        match self {
            Self::By(confinement, _) => Some(confinement.clone()),
            Self::Not(_) | Self::Refused(_) => None,
        }
    }

    /// What results say.
    pub(crate) fn words(&self) -> &str {
        match self {
            Self::By(_, words) | Self::Not(words) | Self::Refused(words) => words,
        }
    }
}

/// Finding out what can confine commands here takes a moment, so it is done when the first one runs, and
/// again when commands may read more files than before.
pub struct LazyConfined {
    found: AsyncMutex<Option<(usize, Confined)>>,
    find: Arc<dyn Fn() -> Confined + Send + Sync>,
    granted: Granted,
}

impl LazyConfined {
    /// Asks `find`, where blocking is allowed, as often as files are granted.
    pub fn new(find: Arc<dyn Fn() -> Confined + Send + Sync>, granted: Granted) -> Self {
        Self {
            found: AsyncMutex::default(),
            find,
            granted,
        }
    }

    pub(crate) async fn get(&self) -> Confined {
        let mut found = self.found.lock().await;
        let files = self.granted.files().len();
        if let Some((then, confined)) = &*found
            && *then == files
        {
            return confined.clone();
        }
        let find = self.find.clone();
        let looked = tokio::task::spawn_blocking(move || find()).await;
        let confined = looked.unwrap_or_else(|_| {
            Confined::Refused("the sandbox could not be looked for".to_owned())
        });
        *found = Some((files, confined.clone()));
        confined
    }
}

impl Workplace {
    /// The name of the place, as results say it.
    pub(crate) fn place(&self) -> String {
        match self.backend.place() {
            Place::Host => "local".to_owned(),
            Place::Away { kind, label } => format!("{kind} {label}"),
        }
    }

    /// Where the next command starts.
    pub fn directory(&self) -> PathBuf {
        self.shell.directory()
    }

    /// Takes a snapshot of where a command is about to change files. Never fails the command.
    pub(crate) async fn before_change(&self, workdir: Option<&str>, context: &ToolContext) {
        let (Some(checkpoints), Place::Host) = (&self.checkpoints, self.backend.place()) else {
            return;
        };
        let here = self.directory();
        let directory = workdir.map_or_else(|| here.clone(), |workdir| here.join(workdir));
        let missing = checkpoints
            .before_change(&directory, &context.session, context.turn, &context.cancel)
            .await;
        if let Some(error) = missing {
            context.host.show(context, no_checkpoint(&error)).await;
        }
    }

    /// Whether `sudo` works here without a password.
    pub(crate) async fn sudo_needs_none(&self, cancel: &CancellationToken) -> bool {
        let id = RunId::new(format!("{:016x}", self.random.next_u64()));
        sudo_needs_no_password(&*self.backend, id, cancel).await
    }
}
