//! Directories that belong to one process, and clearing those whose process was killed.
//!
//! Shells run what lies in them, so commands of other sessions must not write there: they belong below a directory
//! that sandboxes cover.

use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

/// Begins the names of all of them.
const PREFIX: &str = "hermes-";
/// Locked as long as the owner lives, however it ends and in whatever container it runs.
const LOCK: &str = ".owner";
/// More entries of a directory are not looked at.
const MAX_ENTRIES: usize = 10_000;
/// More are left for the next time.
const MAX_CLEARED: usize = 200;

/// A directory of this process, removed with all that is in it when this is dropped; when the process is killed,
/// by [`clear_dens`] of another.
#[derive(Debug)]
pub struct Den {
    path: PathBuf,
    _lock: File,
}

impl Den {
    /// A name below `parent` that nobody else has.
    pub fn named(parent: &Path, number: u64) -> PathBuf {
        parent.join(format!("{PREFIX}{number:016x}"))
    }

    /// Makes the directory, for nobody but this user.
    pub fn claim(path: PathBuf) -> io::Result<Self> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&path)?;
        // It gets its name when it is locked, so that nobody finds it without an owner.
        let draft = path.join(format!("{LOCK}-{}", std::process::id()));
        let lock = File::create(&draft)?;
        lock.try_lock()?;
        std::fs::rename(draft, path.join(LOCK))?;
        Ok(Self { path, _lock: lock })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Den {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.path)
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(%error, "a directory of ours was not removed");
        }
    }
}

fn is_ours(path: &Path) -> bool {
    std::fs::symlink_metadata(path)
        .is_ok_and(|data| data.is_dir() && data.uid() == nix::unistd::geteuid().as_raw())
}

/// Removes the dens below `parent` whose owners are gone, and says how many. Blocks.
pub fn clear_dens(parent: &Path) -> usize {
    let entries = std::fs::read_dir(parent).into_iter().flatten().flatten();
    let dens = entries
        .take(MAX_ENTRIES)
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX))
        .map(|entry| entry.path());
    dens.filter(|path| clear(path)).take(MAX_CLEARED).count()
}

/// Removes one if its lock can be had; false if it is somebody's, or not a den.
fn clear(path: &Path) -> bool {
    if !is_ours(path) {
        return false;
    }
    let Ok(lock) = File::open(path.join(LOCK)) else {
        return false;
    };
    lock.try_lock().is_ok() && std::fs::remove_dir_all(path).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_dens_whose_owner_is_gone_are_cleared() {
        let folder = tempfile::tempdir().unwrap();
        let den = |number| Den::named(folder.path(), number);
        let lived = Den::claim(den(1)).unwrap();
        // As if killed: the lock is gone, the files are not.
        for number in 2..5 {
            std::fs::create_dir(den(number)).unwrap();
            std::fs::write(den(number).join(LOCK), "").unwrap();
            std::fs::write(den(number).join("state"), "export A=1").unwrap();
        }
        std::fs::create_dir(den(5)).unwrap();
        std::os::unix::fs::symlink(folder.path(), den(6)).unwrap();
        std::fs::create_dir(folder.path().join("other")).unwrap();
        assert_eq!(clear_dens(folder.path()), 3);
        assert_eq!(clear_dens(folder.path()), 0);
        for kept in [den(1), den(5), den(6), folder.path().join("other")] {
            assert!(kept.exists(), "{}", kept.display());
        }
        let path = lived.path().to_owned();
        drop(lived);
        assert!(!path.exists());
        assert_eq!(clear_dens(&folder.path().join("absent")), 0);
    }
}
