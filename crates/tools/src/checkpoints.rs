//! Snapshots of directories, taken before the agent changes something in them.
//!
//! All of them are commits in one bare repository that no other git looks at; a directory has one ref. The
//! real `git` does the work, with a deadline, and nothing of the user's own git settings or of a project's
//! attributes has a say. Ignored and oversize files are neither stored nor ever touched.

mod git;
mod maintain;
mod project;
mod restore;
mod snapshot;
mod turn;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hermes_core::{Clock, SessionId, TurnId};
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use self::git::Git;
pub use self::maintain::{Pruned, Status};
use self::project::Project;
pub use self::project::ProjectStatus;
pub use self::restore::Restored;

/// Turns whose directories are remembered.
const MOST_TURNS: usize = 1_000;

/// How snapshots are taken and kept.
#[derive(Clone)]
pub struct CheckpointSettings {
    /// The directory everything is kept in; made when it is needed.
    pub directory: PathBuf,
    /// The `git` program.
    pub git: PathBuf,
    /// The user's home directory, of which no snapshot is taken.
    pub user_home: Option<PathBuf>,
    /// Snapshots kept of one directory.
    pub most_snapshots: usize,
    /// Bytes all snapshots may take; none is no limit.
    pub most_bytes: Option<u64>,
    /// Bytes above which a file is left out; none is no limit.
    pub largest_file: Option<u64>,
    /// How long a snapshot is kept.
    pub retention: Duration,
    /// Removes snapshots of directories that are gone.
    pub delete_orphans: bool,
    /// Least time between two clean-ups by itself; none leaves cleaning to the user.
    pub clean_every: Option<Duration>,
    /// How long one operation may take.
    pub timeout: Duration,
    /// The time.
    pub clock: Arc<dyn Clock>,
}

/// A snapshot of a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// Its name.
    pub hash: String,
    /// When it was taken, in seconds since 1970.
    pub taken_at: i64,
    /// What it was taken for.
    pub reason: String,
}

/// Why something about snapshots could not be done.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// `git` is not there or cannot be started.
    #[error("git cannot be run: {0}")]
    NoGit(#[source] std::io::Error),
    /// `git` failed.
    #[error("git {command} failed: {told}")]
    Git {
        /// The subcommand.
        command: String,
        /// The end of what it said.
        told: String,
    },
    /// It took too long.
    #[error("git took more than {} s", .0.as_secs())]
    TimedOut(Duration),
    /// It was stopped.
    #[error("stopped")]
    Cancelled,
    /// There is no such snapshot of this directory.
    #[error("there is no checkpoint {0} of this directory; list them first")]
    Unknown(String),
    /// The directory is not one snapshots are taken of.
    #[error("no checkpoints are taken of {}: {reason}", directory.display())]
    Unfit {
        /// The directory.
        directory: PathBuf,
        /// Why.
        reason: &'static str,
    },
    /// A file to restore is outside the directory.
    #[error("{0} is not a path inside the directory")]
    Outside(String),
    /// A file of the store or of the directory could not be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// Which one.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

/// A turn of a session, and a directory that it is about to change.
type Turned = (SessionId, TurnId, PathBuf);

/// Takes, lists, compares, restores and removes snapshots. One for the whole process.
pub struct Checkpoints {
    settings: CheckpointSettings,
    git: Git,
    /// What was or is being stored; whoever is about to change something waits for it.
    taken: Mutex<HashMap<Turned, Arc<OnceCell<()>>>>,
    /// One operation at a time: they share indexes.
    turn: tokio::sync::Mutex<()>,
    /// One at a time makes room; two would remove twice as much.
    shrinking: tokio::sync::Mutex<()>,
    /// Bytes that were left when all that could go to make room had gone.
    smallest: AtomicU64,
    background: TaskTracker,
    stop: CancellationToken,
}

impl Checkpoints {
    /// Snapshots by these settings. Touches nothing yet.
    pub fn new(settings: CheckpointSettings) -> Arc<Self> {
        Arc::new(Self {
            git: Git::new(&settings),
            settings,
            taken: Mutex::default(),
            turn: tokio::sync::Mutex::default(),
            shrinking: tokio::sync::Mutex::default(),
            smallest: AtomicU64::default(),
            background: TaskTracker::new(),
            stop: CancellationToken::new(),
        })
    }

    /// Takes a snapshot of the project around a directory, once for each turn. Never fails what comes after;
    /// answers why there is none, when there should be one.
    pub async fn before_change(
        self: &Arc<Self>,
        directory: &Path,
        session: &SessionId,
        turn: TurnId,
        cancel: &CancellationToken,
    ) -> Option<CheckpointError> {
        let project = match self.project(directory) {
            Ok(project) => project,
            Err(error) => {
                tracing::debug!(%error, "no checkpoint");
                return None;
            }
        };
        let cell = self.cell((session.clone(), turn, project.workdir.clone()));
        let mut failed = None;
        let taking = cell.get_or_init(async || {
            match self.take(&project, "before a change", cancel).await {
                Ok(_) => self.maintain_later(&project),
                Err(error) => {
                    tracing::warn!(%error, directory = %project.workdir.display(), "no checkpoint");
                    failed = Some(error);
                }
            }
        });
        // Of calls that run side by side one stores for all; none may change anything before that is done. When the
        // one is stopped, the next does it.
        cancel.run_until_cancelled(taking).await;
        failed.filter(|error| !matches!(error, CheckpointError::Cancelled))
    }

    /// Where the calls of a turn meet that are about to change a project.
    fn cell(&self, key: Turned) -> Arc<OnceCell<()>> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if taken.len() >= MOST_TURNS && !taken.contains_key(&key) {
            taken.clear();
        }
        taken.entry(key).or_default().clone()
    }

    /// Takes a snapshot now. `None` when nothing changed since the last one.
    pub async fn snapshot(
        self: &Arc<Self>,
        directory: &Path,
        reason: &str,
        cancel: &CancellationToken,
    ) -> Result<Option<Snapshot>, CheckpointError> {
        let project = self.project(directory)?;
        let taken = self.take(&project, reason, cancel).await?;
        self.maintain_later(&project);
        Ok(taken)
    }

    /// The snapshots of the project around a directory, newest first.
    pub async fn list(
        &self,
        directory: &Path,
        cancel: &CancellationToken,
    ) -> Result<Vec<Snapshot>, CheckpointError> {
        let project = self.project(directory)?;
        self.snapshots(&project, self.settings.most_snapshots, cancel)
            .await
    }

    /// What changed in the project since a snapshot. `which` is a number of the list, from 1, or a hash.
    pub async fn diff(
        self: &Arc<Self>,
        directory: &Path,
        which: &str,
        cancel: &CancellationToken,
    ) -> Result<String, CheckpointError> {
        let project = self.project(directory)?;
        let wanted = self.resolve(&project, which, cancel).await?;
        let _turn = self.turn(Some(&project), cancel).await?;
        let now = self.tree(&project, cancel).await?;
        let git = self.git.at(&project, cancel);
        git.text(&[
            "diff",
            "--no-color",
            "--no-ext-diff",
            "--no-textconv",
            &wanted.hash,
            &now,
        ])
        .await
    }

    /// What is stored, and how much room it takes.
    pub async fn status(&self, cancel: &CancellationToken) -> Result<Status, CheckpointError> {
        maintain::status(self, cancel).await
    }

    /// Removes what is too old, too much or without its directory.
    pub async fn prune(&self, cancel: &CancellationToken) -> Result<Pruned, CheckpointError> {
        maintain::prune(self, cancel).await
    }

    /// Removes all snapshots.
    pub async fn clear(&self) -> Result<(), CheckpointError> {
        let _turn = self.turn(None, &self.stop).await?;
        maintain::remove_directory(&self.git.store)
    }

    /// Removes stores of older forms. Says how many there were.
    pub async fn clear_legacy(&self) -> Result<usize, CheckpointError> {
        let _turn = self.turn(None, &self.stop).await?;
        maintain::clear_legacy(&self.settings.directory)
    }

    /// Ends what runs in the background and waits for it.
    pub async fn close(&self) {
        self.stop.cancel();
        self.background.close();
        self.background.wait().await;
    }

    fn project(&self, directory: &Path) -> Result<Project, CheckpointError> {
        Project::around(directory, self.settings.user_home.as_deref())
    }

    /// Looks after the store when it is time, without anybody waiting for it.
    fn maintain_later(self: &Arc<Self>, project: &Project) {
        let (own, project) = (self.clone(), project.clone());
        self.background.spawn(async move {
            if let Err(error) = maintain::after_snapshot(&own, &project, &own.stop).await {
                tracing::warn!(%error, "checkpoints could not be cleaned up");
            }
        });
    }
}
