//! A file of entries that several processes, editors and the reference write.
//!
//! Reading needs no lock, because a file is only ever replaced as a whole. Changing it is done under the lock
//! that the reference takes too, from a fresh look at it, and only if nobody replaced it meanwhile: an editor
//! takes no lock.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

use hermes_config::FileLock;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

use crate::entries::{Aside, digest};
use crate::error::MemoryError;

/// How long another process may keep the lock.
const PATIENCE: Duration = Duration::from_secs(30);
const PRIVATE: u32 = 0o600;
/// What the names of unfinished files begin with.
const UNFINISHED: &str = ".mem_";

/// One file of entries.
#[derive(Debug, Clone)]
pub(crate) struct MemoryFile {
    path: PathBuf,
}

/// What a file holds now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    /// The bytes; none when there is no file.
    pub(crate) bytes: Vec<u8>,
    pub(crate) digest: String,
}

impl Found {
    pub(crate) fn text(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.bytes)
    }
}

/// A file that nobody else who asks is changing.
pub(crate) struct Held<'f> {
    file: &'f MemoryFile,
    _lock: FileLock,
}

/// New bytes for a file, on disk beside it. Dropped, they are gone.
pub(crate) struct Draft {
    temporary: PathBuf,
    target: PathBuf,
    digest: String,
}

impl MemoryFile {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn read(&self) -> Result<Found, MemoryError> {
        let bytes = hermes_config::read_file(&self.path)?.unwrap_or_default();
        let digest = digest(&bytes);
        Ok(Found { bytes, digest })
    }

    /// What is kept aside; damage counts as nothing.
    pub(crate) fn aside(&self) -> Aside {
        let bytes = hermes_config::read_file(&self.beside(".ids"));
        let read = bytes.ok().flatten();
        let aside = read.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        aside.unwrap_or_default()
    }

    /// Waits for the lock.
    pub(crate) fn hold(&self) -> Result<Held<'_>, MemoryError> {
        if let Some(directory) = self.path.parent() {
            hermes_config::create_directory(directory)?;
        }
        let lock = hermes_config::lock_file(&self.beside(".lock"), PATIENCE)?;
        let lock = lock.ok_or_else(|| MemoryError::Busy {
            path: self.path.clone(),
        })?;
        Ok(Held {
            file: self,
            _lock: lock,
        })
    }

    fn beside(&self, tail: &str) -> PathBuf {
        let mut name = self.path.as_os_str().to_owned();
        name.push(tail);
        PathBuf::from(name)
    }

    fn name(&self) -> OsString {
        self.path.file_name().unwrap_or_default().to_owned()
    }

    fn failed(&self, source: io::Error) -> MemoryError {
        MemoryError::Write {
            path: self.path.clone(),
            source,
        }
    }
}

impl Held<'_> {
    pub(crate) fn read(&self) -> Result<Found, MemoryError> {
        self.file.read()
    }

    /// Keeps a copy of what was found beside the file; one that is there already is as good.
    pub(crate) fn back_up(&self, found: &Found, now: SystemTime) -> Result<PathBuf, MemoryError> {
        let mut start = self.file.name();
        start.push(".bak.");
        for entry in self.siblings() {
            let named = entry
                .as_encoded_bytes()
                .starts_with(start.as_encoded_bytes());
            let copy = self.file.path.with_file_name(&entry);
            if named && hermes_config::read_file(&copy)?.as_deref() == Some(&found.bytes) {
                return Ok(copy);
            }
        }
        Ok(hermes_config::keep_copy(
            &self.file.path,
            now,
            &found.bytes,
        )?)
    }

    /// Writes new bytes beside the file, down to the disk.
    pub(crate) fn draft(&self, text: &str) -> Result<Draft, MemoryError> {
        self.clear_unfinished();
        let failed = |source| self.file.failed(source);
        // A link stays a link; what it leads to is replaced.
        let target = hermes_config::file_destination(&self.file.path).map_err(failed)?;
        let mode =
            fs::metadata(&target).map_or(PRIVATE, |found| found.permissions().mode() & 0o7777);
        let temporary = target.with_file_name(self.unfinished());
        let draft = Draft {
            temporary,
            target,
            digest: digest(text.as_bytes()),
        };
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(PRIVATE)
            .open(&draft.temporary)
            .map_err(failed)?;
        file.write_all(text.as_bytes())
            .and_then(|()| file.set_permissions(fs::Permissions::from_mode(mode)))
            .and_then(|()| file.sync_all())
            .map_err(failed)?;
        Ok(draft)
    }

    /// Puts a draft in the place of what was found. Answers `false`, and leaves the file alone, when that is not
    /// there any more.
    pub(crate) fn replace(&self, found: &Found, draft: &Draft) -> Result<bool, MemoryError> {
        let failed = |source| self.file.failed(source);
        let unchanged = self.read()?.digest == found.digest;
        if !unchanged || !draft.put_in_place(found).map_err(failed)? {
            return Ok(false);
        }
        // Without this a crash may bring the old name back. Some file systems cannot sync a directory.
        let directory = draft.target.parent().unwrap_or(Path::new("."));
        match File::open(directory).and_then(|directory| directory.sync_all()) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(true),
            Err(error) => Err(failed(error)),
        }
    }

    /// Keeps what belongs to the file aside. Nothing depends on it, so failing is only logged.
    pub(crate) fn keep_aside(
        &self,
        draft: &Draft,
        ids: std::collections::BTreeMap<String, String>,
    ) {
        let aside = Aside {
            written: draft.digest.clone(),
            ids,
        };
        let kept = serde_json::to_vec(&aside)
            .map_err(io::Error::other)
            .and_then(|bytes| {
                hermes_config::replace_file(&self.file.beside(".ids"), &bytes)
                    .map_err(io::Error::other)
            });
        if let Err(error) = kept {
            tracing::warn!(%error, "the ids of memory entries were not kept");
        }
    }

    /// A name for an unfinished file that nobody else has.
    fn unfinished(&self) -> OsString {
        static COUNTER: AtomicU32 = AtomicU32::new(0);
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let mut name = self.unfinished_start();
        name.push(format!("{}_{number}.tmp", std::process::id()));
        name
    }

    fn unfinished_start(&self) -> OsString {
        let mut name = OsString::from(UNFINISHED);
        name.push(self.file.name());
        name.push("_");
        name
    }

    /// Removes what a process that was killed left unfinished: under the lock nobody else is at it.
    fn clear_unfinished(&self) {
        let start = self.unfinished_start();
        for name in self.siblings() {
            if name
                .as_encoded_bytes()
                .starts_with(start.as_encoded_bytes())
            {
                // The next one tries again.
                let _ = fs::remove_file(self.file.path.with_file_name(name));
            }
        }
    }

    fn siblings(&self) -> Vec<OsString> {
        let directory = self.file.path.parent().unwrap_or(Path::new("."));
        let Ok(entries) = fs::read_dir(directory) else {
            return Vec::new();
        };
        entries
            .filter_map(|entry| Some(entry.ok()?.file_name()))
            .collect()
    }
}

impl Draft {
    /// Says whether what was found was still there. Looking first is not enough: an editor may save between the look
    /// and the change. So the two files change places in one step, and what came out is looked at.
    fn put_in_place(&self, found: &Found) -> io::Result<bool> {
        match self.rename(RenameFlags::EXCHANGE) {
            Ok(()) => {
                if digest(&fs::read(&self.temporary)?) == found.digest {
                    return Ok(true);
                }
                self.rename(RenameFlags::EXCHANGE)?;
                Ok(false)
            }
            Err(Errno::NOENT) => match self.rename(RenameFlags::NOREPLACE) {
                Ok(()) => Ok(true),
                Err(Errno::EXIST) => Ok(false),
                Err(error) => Err(error.into()),
            },
            // Not every file system can do that.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                fs::rename(&self.temporary, &self.target).map(|()| true)
            }
            Err(error) => Err(error.into()),
        }
    }

    fn rename(&self, how: RenameFlags) -> Result<(), Errno> {
        renameat_with(CWD, &self.temporary, CWD, &self.target, how)
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // The draft, or what it took the place of.
        let _ = fs::remove_file(&self.temporary);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fixture() -> (tempfile::TempDir, MemoryFile) {
        let folder = tempfile::tempdir().unwrap();
        let file = MemoryFile::new(folder.path().join("MEMORY.md"));
        (folder, file)
    }

    // LN-8: an editor that saves after the look and before the change.
    #[test]
    fn what_was_saved_at_the_last_moment_stays() {
        let (folder, file) = fixture();
        fs::write(&file.path, "found").unwrap();
        let held = file.hold().unwrap();
        let found = held.read().unwrap();
        let draft = held.draft("ours").unwrap();
        fs::write(&file.path, "an editor's").unwrap();
        assert!(!draft.put_in_place(&found).unwrap());
        drop(draft);
        assert_eq!(fs::read_to_string(&file.path).unwrap(), "an editor's");
        let found = held.read().unwrap();
        let draft = held.draft("ours").unwrap();
        assert!(draft.put_in_place(&found).unwrap());
        drop(draft);
        assert_eq!(fs::read_to_string(&file.path).unwrap(), "ours");
        let names = fs::read_dir(folder.path()).unwrap();
        assert_eq!(names.count(), 2, "the file and its lock");
    }

    #[test]
    fn a_file_that_came_at_the_last_moment_stays() {
        let (_folder, file) = fixture();
        let held = file.hold().unwrap();
        let found = held.read().unwrap();
        let draft = held.draft("ours").unwrap();
        fs::write(&file.path, "an editor's").unwrap();
        assert!(!draft.put_in_place(&found).unwrap());
        drop(draft);
        assert_eq!(fs::read_to_string(&file.path).unwrap(), "an editor's");
    }
}
