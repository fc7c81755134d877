//! One backup or import at a time in a home.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use super::error::ArchiveError;

/// Where backups go unless told otherwise; also holds the lock.
const BACKUPS: &str = "backups";
/// Work in progress is called so; whatever is left of it after a crash goes away at the next run.
pub(super) const PARTIAL: &str = ".partial-";

/// Keeps others away until it is dropped; the system lets go of it even after a crash.
#[derive(Debug)]
pub(super) struct Held {
    _lock: File,
}

impl Held {
    /// Takes the home, and removes what an earlier run that died may have left.
    pub(super) fn take(home: &Path) -> Result<Self, ArchiveError> {
        let folder = home.join(BACKUPS);
        create_private(&folder)?;
        let path = folder.join(".lock");
        let lock = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&path)
            .map_err(ArchiveError::file(&path))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(ArchiveError::AlreadyRunning {
                    home: home.to_owned(),
                });
            }
            Err(TryLockError::Error(source)) => return Err(ArchiveError::File { path, source }),
        }
        remove_partial(&folder);
        Ok(Self { _lock: lock })
    }
}

/// A scratch directory that goes away when it is dropped.
pub(super) fn scratch_in(folder: &Path) -> Result<tempfile::TempDir, ArchiveError> {
    create_private(folder)?;
    tempfile::Builder::new()
        .prefix(PARTIAL)
        .permissions(fs::Permissions::from_mode(0o700))
        .tempdir_in(folder)
        .map_err(ArchiveError::file(folder))
}

pub(super) fn create_private(folder: &Path) -> Result<(), ArchiveError> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .map_err(ArchiveError::file(folder))
}

/// Leftovers only take space; one that cannot be removed now is tried again at the next run.
pub(super) fn remove_partial(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if !entry.file_name().to_string_lossy().starts_with(PARTIAL) {
            continue;
        }
        let path = entry.path();
        drop(fs::remove_dir_all(&path).or_else(|_| fs::remove_file(&path)));
    }
}

/// Makes a rename durable; not every file system can, and the content is safe either way.
pub(super) fn sync_folder(folder: &Path) {
    if let Ok(handle) = File::open(folder) {
        drop(handle.sync_all());
    }
}
