//! Directories that belong to one process, and clearing those whose process was killed.
//!
//! Shells run what lies in them, so commands of other sessions must not write there. A sandbox covers the one
//! directory that all dens of a user lie in: that also covers the dens that are made while a command runs.

use std::ffi::OsStr;
use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

/// Begins the names of all of them.
const PREFIX: &str = "hermes-";
/// Digits behind it.
const DIGITS: usize = 16;
/// Begins the name of the directory that the dens of one user lie in.
const YARD: &str = "hermes-user-";
/// How often a den is made again whose yard another process removed meanwhile.
const MOST_TRIES: usize = 5;
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

    /// The directory below `parent` that all dens of this user lie in.
    pub fn yard(parent: &Path) -> PathBuf {
        parent.join(format!("{YARD}{}", nix::unistd::geteuid()))
    }

    /// Where dens are made: in the yard, unless it is another user's or covered by a sandbox around us.
    pub fn home(parent: &Path) -> PathBuf {
        use nix::unistd::{AccessFlags, access};
        let yard = Self::yard(parent);
        let usable = || is_ours(&yard) && access(&yard, AccessFlags::W_OK).is_ok();
        match std::fs::symlink_metadata(&yard).is_err() || usable() {
            true => yard,
            false => parent.to_owned(),
        }
    }

    /// Whether another user could change what lies at `path`: the yard it is in is not ours.
    pub fn is_exposed(path: &Path) -> bool {
        let yard = path.parent().filter(|parent| is_yard(parent));
        yard.is_some_and(|yard| std::fs::symlink_metadata(yard).is_ok() && !is_ours(yard))
    }

    /// Makes the directory, for nobody but this user.
    pub fn claim(path: PathBuf) -> io::Result<Self> {
        make(&path)?;
        if Self::is_exposed(&path) {
            let why = "the directory it is in belongs to another user; set TMPDIR to another one";
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
        }
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
        if let Some(yard) = self.path.parent().filter(|parent| is_yard(parent)) {
            // The last one goes; others are still in it otherwise.
            let _ = std::fs::remove_dir(yard);
        }
    }
}

fn make(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true).mode(0o700);
    for _ in 1..MOST_TRIES {
        match builder.create(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            done => return done,
        }
    }
    builder.create(path)
}

/// Whether a name is that of a den, or of the directory that dens lie in.
pub(crate) fn is_den(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else {
        return false;
    };
    let number = name.strip_prefix(PREFIX).unwrap_or_default();
    let numbered = number.len() == DIGITS && number.bytes().all(|byte| byte.is_ascii_hexdigit());
    numbered || name.starts_with(YARD)
}

fn is_yard(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().starts_with(YARD)
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

    // EX-68
    #[test]
    fn dens_lie_in_one_directory_that_goes_with_the_last() {
        let folder = tempfile::tempdir().unwrap();
        let yard = Den::yard(folder.path());
        let den = |number| Den::claim(Den::named(&Den::home(folder.path()), number)).unwrap();
        let (one, other) = (den(1), den(2));
        assert!(one.path().starts_with(&yard) && other.path().starts_with(&yard));
        assert!(is_den(yard.file_name().unwrap()) && is_den(one.path().file_name().unwrap()));
        for name in ["hermes-ssh-1000", "hermes-shell-0123456789abcdef", "hermes"] {
            assert!(!is_den(OsStr::new(name)), "{name}");
        }
        drop(one);
        assert!(other.path().exists());
        drop(other);
        assert!(!yard.exists());
        // What is no directory of ours is not used.
        std::os::unix::fs::symlink(folder.path(), &yard).unwrap();
        assert_eq!(Den::home(folder.path()), folder.path());
        let inside = Den::named(&yard, 3);
        assert!(Den::is_exposed(&inside) && Den::claim(inside).is_err());
    }

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
