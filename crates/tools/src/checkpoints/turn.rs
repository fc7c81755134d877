//! One operation on the store at a time, in this process and in all others.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use hermes_core::Clock;
use tokio::sync::MutexGuard;
use tokio_util::sync::CancellationToken;

use super::project::Project;
use super::{CheckpointError, Checkpoints};

/// How often a store that another process works on is looked at again.
const STEP: Duration = Duration::from_millis(20);
/// A lock of git on a name is left alone this long: packing the store takes such locks too.
const STALE_AFTER: Duration = Duration::from_secs(600);

/// The right to work on the store.
pub(super) struct Turn<'c> {
    _here: MutexGuard<'c, ()>,
    /// Held by all processes that work on the same store; given back when it is closed.
    _everywhere: File,
}

impl Checkpoints {
    /// Waits for its turn, no longer than one operation may take. Whatever lock a git that was killed left on this project's index is removed: whoever made it
    /// held the turn and is gone.
    pub(super) async fn turn(
        &self,
        project: Option<&Project>,
        cancel: &CancellationToken,
    ) -> Result<Turn<'_>, CheckpointError> {
        let path = self.settings.directory.join("turn");
        let failed = |source| CheckpointError::Io {
            path: path.clone(),
            source,
        };
        let file = open(&path).map_err(failed)?;
        let wait = async {
            let here = self.turn.lock().await;
            loop {
                match file.try_lock() {
                    Ok(()) => return Ok(here),
                    Err(TryLockError::WouldBlock) => tokio::time::sleep(STEP).await,
                    Err(TryLockError::Error(source)) => return Err(source),
                }
            }
        };
        let limit = self.settings.timeout;
        let limited = tokio::time::timeout(limit, wait);
        let here = match cancel.run_until_cancelled(limited).await {
            None => return Err(CheckpointError::Cancelled),
            Some(Err(_)) => return Err(CheckpointError::TimedOut(limit)),
            Some(Ok(locked)) => locked.map_err(failed)?,
        };
        if let Some(project) = project {
            self.clear_locks(project)?;
        }
        Ok(Turn {
            _here: here,
            _everywhere: file,
        })
    }

    fn clear_locks(&self, project: &Project) -> Result<(), CheckpointError> {
        let store = &self.git.store;
        let index = store.join("indexes").join(format!("{}.lock", project.hash));
        remove(&index)?;
        let name = store.join(format!("{}.lock", project.reference()));
        match is_old(&name, &*self.settings.clock) {
            true => remove(&name),
            false => Ok(()),
        }
    }
}

fn open(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path)
}

fn is_old(path: &Path, clock: &dyn Clock) -> bool {
    let changed = fs::metadata(path).and_then(|facts| facts.modified()).ok();
    let changed = changed.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let now = u64::try_from(clock.now().as_second()).unwrap_or_default();
    changed.is_some_and(|changed| now.saturating_sub(changed.as_secs()) >= STALE_AFTER.as_secs())
}

/// Removes a file of git's that is of no use any more.
pub(super) fn remove(path: &Path) -> Result<(), CheckpointError> {
    match fs::remove_file(path) {
        Ok(()) => {
            tracing::warn!(path = %path.display(), "removed what a git left behind");
            Ok(())
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(source) => Err(CheckpointError::Io {
            path: path.to_owned(),
            source,
        }),
    }
}
