//! One process at a time.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::time::Duration;

use tokio::time::timeout;

use crate::ExecError;

/// How long another process may be busy with finding or making the same sandbox.
const TURN: Duration = Duration::from_secs(180);
const TURN_STEP: Duration = Duration::from_millis(50);

/// Waits until no other process finds or makes the sandbox of this folder; the turn ends when the file is dropped.
pub(crate) async fn take(folder: &Path) -> Result<File, ExecError> {
    let file = file(folder).map_err(|source| ExecError::Io {
        what: format!("cannot write to {}", folder.display()),
        source,
    })?;
    let wait = async {
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(()),
                Err(TryLockError::WouldBlock) => tokio::time::sleep(TURN_STEP).await,
                Err(TryLockError::Error(source)) => return Err(source),
            }
        }
    };
    match timeout(TURN, wait).await {
        Ok(Ok(())) => Ok(file),
        Ok(Err(source)) => Err(ExecError::Io {
            what: "cannot lock the sandbox".to_owned(),
            source,
        }),
        Err(_) => Err(ExecError::TimedOut {
            what: "waiting for another process to make the sandbox".to_owned(),
            limit: TURN,
        }),
    }
}

/// The file that is locked by whose turn it is.
pub(crate) fn file(folder: &Path) -> std::io::Result<File> {
    std::fs::create_dir_all(folder)?;
    File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(folder.join("lock"))
}
