//! Reading and replacing the small files of a home.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Larger than any settings file; guards against reading a device or a log by mistake.
const LARGEST: u64 = 16 * 1024 * 1024;
const PRIVATE_FILE: u32 = 0o600;
const PRIVATE_DIRECTORY: u32 = 0o700;

/// A file that could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    #[error("{} cannot be read", path.display())]
    Read {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("{} cannot be written", path.display())]
    Write {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("no permission for {}", path.display())]
    Denied {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("no space left to write {}", path.display())]
    Full {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("{} is larger than {LARGEST} bytes", path.display())]
    TooLarge { path: PathBuf },
}

impl FileError {
    pub fn path(&self) -> &Path {
        match self {
            Self::Read { path, .. }
            | Self::Write { path, .. }
            | Self::Denied { path, .. }
            | Self::Full { path, .. }
            | Self::TooLarge { path } => path,
        }
    }

    /// What the user can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Read { .. } => "look whether it is a plain file",
            Self::Write { .. } => "the file was left as it was",
            Self::Denied { .. } => {
                "check who owns the file and its directory, and whether the disk is read-only"
            }
            Self::Full { .. } => "free some space; the file was left as it was",
            Self::TooLarge { .. } => "it is no settings file; move it away",
        }
    }

    fn reading(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::PermissionDenied => Self::Denied { path, source },
            _ => Self::Read { path, source },
        }
    }

    fn writing(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                Self::Denied { path, source }
            }
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                Self::Full { path, source }
            }
            _ => Self::Write { path, source },
        }
    }
}

/// The bytes of a file, `None` when there is none.
pub fn read(path: &Path) -> Result<Option<Vec<u8>>, FileError> {
    let failed = |source| FileError::reading(path, source);
    // Opening a pipe would wait for somebody to write to it.
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return Err(failed(io::Error::other("not a plain file")));
    }
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    let mut bytes = Vec::new();
    file.take(LARGEST + 1)
        .read_to_end(&mut bytes)
        .map_err(failed)?;
    if bytes.len() as u64 > LARGEST {
        return Err(FileError::TooLarge {
            path: path.to_owned(),
        });
    }
    Ok(Some(bytes))
}

/// Replaces a file in one step, so that a reader sees the old text or the new one and a crash keeps one of them.
///
/// A link is followed: its target is replaced, not the link. The mode of an existing file stays; a new one
/// can be read by its owner only.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    replace_with(path, bytes, |mode| mode)
}

/// As `replace`, for a file of secrets: one that others could read is closed to them.
pub fn replace_secret(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    replace_with(path, bytes, |mode| mode & PRIVATE_FILE)
}

/// Where a file lies, or would: links are followed, also to a file that is not there yet.
pub fn destination(path: &Path) -> io::Result<PathBuf> {
    let mut at = path.to_owned();
    loop {
        match fs::canonicalize(&at) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            // Links in a circle end here.
            found => return found,
        }
        match fs::read_link(&at) {
            Ok(link) => at = directory_of(&at).join(link),
            Err(_) => return Ok(at),
        }
    }
}

/// Keeps the bytes a file has beside it, under a name with the time that nothing else has.
pub fn keep_copy(path: &Path, now: SystemTime, bytes: &[u8]) -> Result<PathBuf, FileError> {
    let seconds = now
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs());
    let named = |tail: String| {
        let mut name = path.as_os_str().to_owned();
        name.push(tail);
        PathBuf::from(name)
    };
    let mut copy = named(format!(".bak.{seconds}"));
    let mut number = 1;
    while copy.exists() {
        copy = named(format!(".bak.{seconds}-{number}"));
        number += 1;
    }
    replace(&copy, bytes)?;
    Ok(copy)
}

/// The mode of a file when others than its owner can read it.
pub(crate) fn open_to_others(path: &Path) -> Option<u32> {
    let mode = fs::metadata(path).ok()?.permissions().mode() & 0o777;
    (mode & 0o044 != 0).then_some(mode)
}

fn replace_with(path: &Path, bytes: &[u8], keep: impl Fn(u32) -> u32) -> Result<(), FileError> {
    let failed = |source| FileError::writing(path, source);
    let target = destination(path).map_err(failed)?;
    let mode = match fs::metadata(&target) {
        Ok(found) => keep(found.permissions().mode() & 0o7777),
        Err(_) => PRIVATE_FILE,
    };
    let directory = directory_of(&target);
    let (mut file, temporary) = create_beside(&target).map_err(failed)?;
    let written = file
        .write_all(bytes)
        .and_then(|()| file.set_permissions(fs::Permissions::from_mode(mode)))
        .and_then(|()| file.sync_all())
        .and_then(|()| fs::rename(&temporary, &target));
    if let Err(error) = written {
        // The first error is the one to report; a file left behind does no harm.
        let _ = fs::remove_file(&temporary);
        return Err(failed(error));
    }
    // Without this a crash may bring the old name back. Some file systems cannot sync a directory.
    match File::open(directory).and_then(|directory| directory.sync_all()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        Err(error) => Err(failed(error)),
    }
}

/// How long a change of the settings waits for another one.
const PATIENCE: Duration = Duration::from_secs(5);
const STEP: Duration = Duration::from_millis(5);

/// Held while a file is read, changed and written, so that changes by several processes are all kept.
/// Given back on drop, and when the process ends.
#[derive(Debug)]
pub struct FileLock(#[expect(dead_code, reason = "held for its drop")] File);

/// Takes the lock that is kept in a file of its own, made if needed. Waits, blocking, for whoever holds it;
/// `None` when that took longer than `patience`.
pub fn lock_file(path: &Path, patience: Duration) -> Result<Option<FileLock>, FileError> {
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .mode(PRIVATE_FILE)
        .open(path)
        .map_err(|source| FileError::writing(path, source))?;
    let mut waited = Duration::ZERO;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Some(FileLock(file))),
            // Some network mounts cannot lock; there a lost change is the lesser evil.
            Err(TryLockError::Error(_)) => return Ok(Some(FileLock(file))),
            Err(TryLockError::WouldBlock) if waited >= patience => return Ok(None),
            Err(TryLockError::WouldBlock) => std::thread::sleep(STEP),
        }
        waited += STEP;
    }
}

/// Takes the lock of a home; after a few seconds another process counts as stuck.
pub(crate) fn lock(home: &Path) -> Result<FileLock, FileError> {
    let path = home.join(".settings.lock");
    lock_file(&path, PATIENCE)?
        .ok_or_else(|| FileError::writing(&path, io::Error::from(io::ErrorKind::TimedOut)))
}

/// Makes a directory and the ones above it, open to their owner only; one that is there is left as it is.
pub fn create_directory(path: &Path) -> Result<(), FileError> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(PRIVATE_DIRECTORY)
        .create(path)
        .map_err(|source| FileError::writing(path, source))
}

/// The directory a file is in; a bare name is in the current one.
fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

/// A new file in the directory of `target`, under a name nobody else has.
fn create_beside(target: &Path) -> io::Result<(File, PathBuf)> {
    static COUNTER: AtomicU32 = AtomicU32::new(0);
    let name = target
        .file_name()
        .ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?
        .to_string_lossy()
        .into_owned();
    loop {
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let temporary =
            target.with_file_name(format!(".{name}.{}.{number}.tmp", std::process::id()));
        let created = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(PRIVATE_FILE)
            .open(&temporary);
        match created {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            created => return created.map(|file| (file, temporary)),
        }
    }
}

/// The names of the directories inside a directory; none when it is not there.
pub(crate) fn names_of_directories(path: &Path) -> Result<Vec<String>, FileError> {
    let failed = |source| FileError::reading(path, source);
    let entries = match fs::read_dir(path) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(error)),
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(failed)?;
        if entry.path().is_dir()
            && let Ok(name) = entry.file_name().into_string()
        {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}
