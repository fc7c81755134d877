//! What is kept below `skills/.hub`.

mod audit;
mod cache;
mod lock;
mod taps;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hermes_config::{FileError, FileLock, create_directory, lock_file, read_file, replace_file};
use hermes_core::Clock;

use super::error::HubError;

pub use audit::AuditLine;
pub(super) use audit::Event;
pub(super) use lock::{LockFile, Pending};
pub use lock::{Locked, Phase};
pub use taps::{Tap, Taps};

const HUB: &str = ".hub";
const LOCK: &str = "lock.json";
/// How long another program may hold the lock before we give up.
const PATIENCE: Duration = Duration::from_secs(10);

/// The files of the hub.
#[derive(Clone)]
pub(super) struct State {
    skills: PathBuf,
    clock: Arc<dyn Clock>,
}

/// Held while the hub changes something.
pub(super) struct Held(#[expect(dead_code, reason = "held for its drop")] FileLock);

impl State {
    pub(super) fn new(skills: PathBuf, clock: Arc<dyn Clock>) -> Self {
        Self { skills, clock }
    }

    /// The directory of all skills.
    pub(super) fn skills(&self) -> &Path {
        &self.skills
    }

    pub(super) fn clock(&self) -> &dyn Clock {
        &*self.clock
    }

    fn hub(&self) -> PathBuf {
        self.skills.join(HUB)
    }

    pub(super) fn quarantine(&self) -> PathBuf {
        self.hub().join("quarantine")
    }

    /// Where changed skills go before they are replaced or removed.
    pub(super) fn backups(&self) -> PathBuf {
        self.hub().join("backups")
    }

    fn lock_path(&self) -> PathBuf {
        self.hub().join(LOCK)
    }

    /// Makes the directory. Searches of other programs are kept out of it.
    pub(super) fn create(&self) -> Result<(), HubError> {
        create_directory(&self.hub())?;
        let ignore = self.hub().join(".ignore");
        if !ignore.exists() {
            replace_file(&ignore, b"*\n")?;
        }
        Ok(())
    }

    /// Waits until nobody else changes anything, and keeps others out until it is dropped.
    pub(super) fn hold(&self) -> Result<Held, HubError> {
        self.create()?;
        let path = self.hub().join("lock.json.lock");
        match lock_file(&path, PATIENCE)? {
            Some(lock) => Ok(Held(lock)),
            None => Err(HubError::Busy { path }),
        }
    }

    /// What is installed.
    pub(super) fn lock(&self) -> Result<LockFile, HubError> {
        let path = self.lock_path();
        match read_file(&path)? {
            Some(bytes) => {
                LockFile::parse(&bytes).map_err(|source| HubError::BadState { path, source })
            }
            None => Ok(LockFile::default()),
        }
    }

    /// Writes what is installed. Only while it is held.
    pub(super) fn write_lock(&self, file: &LockFile, _held: &Held) -> Result<(), HubError> {
        Ok(replace_file(&self.lock_path(), &file.bytes())?)
    }
}

/// The list of what is installed, for a copy of all skills.
pub(crate) fn copy_of_list(skills: &Path) -> Result<Vec<u8>, FileError> {
    let list = read_file(&skills.join(HUB).join(LOCK))?;
    Ok(list.unwrap_or_else(|| LockFile::default().bytes()))
}

/// Keeps the hub from changing anything until it is dropped; nothing when it does so right now.
pub(crate) fn hold_list(skills: &Path) -> Result<Option<FileLock>, FileError> {
    let hub = skills.join(HUB);
    create_directory(&hub)?;
    lock_file(&hub.join("lock.json.lock"), PATIENCE)
}

/// Puts such a copy back, while the list is held: files and list belong together.
pub(crate) fn put_list_back(skills: &Path, copy: &[u8], _held: &FileLock) -> Result<(), FileError> {
    replace_file(&skills.join(HUB).join(LOCK), copy)
}
