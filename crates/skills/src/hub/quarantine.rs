//! Where a skill waits until it is allowed in.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use hermes_config::{FileLock, create_directory, lock_file};
use hermes_core::Random;

use super::bundle::Files;
use super::error::HubError;
use super::state::State;

const LOCK: &str = ".lock";

/// A directory with the files of a skill, which goes away when it is dropped and was not moved on.
pub(super) struct Staged {
    path: PathBuf,
    /// Says to others that somebody still needs the directory; given back when the process ends.
    owner: Option<FileLock>,
}

impl Staged {
    /// Writes the files down. Everything is on the disk when this returns.
    pub(super) fn write(
        state: &State,
        random: &dyn Random,
        name: &str,
        files: &Files,
    ) -> Result<Self, HubError> {
        let quarantine = state.quarantine();
        let path = quarantine.join(format!("{name}-{:08x}", random.next_u64() & 0xffff_ffff));
        let owner = {
            // While it is held nobody clears away what has no owner yet.
            let _held = state.hold()?;
            create_directory(&quarantine)?;
            lock_file(&lock_of(&path), Duration::ZERO)?
        };
        let staged = Self { path, owner };
        if staged.owner.is_none() {
            return Err(HubError::Busy {
                path: staged.path.clone(),
            });
        }
        make_directory(&staged.path)?;
        for (relative, file) in files.iter() {
            let target = relative.below(&staged.path);
            if let Some(parent) = target.parent() {
                make_directory(parent)?;
            }
            write_file(&target, &file.bytes, file.executable)?;
        }
        sync(&staged.path)?;
        Ok(staged)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The name of the directory.
    pub(super) fn name(&self) -> String {
        let name = self.path.file_name();
        name.map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default()
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        // What cannot be removed now is removed by the next start.
        let _ = remove_directory(&self.path);
        let _ = fs::remove_file(lock_of(&self.path));
        drop(self.owner.take());
    }
}

/// Clears away what processes left behind that are gone. Only while the state is held.
pub(super) fn sweep(state: &State, keep: &[String]) -> Result<usize, HubError> {
    let quarantine = state.quarantine();
    let entries = match fs::read_dir(&quarantine) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(HubError::io(quarantine, "read")(error)),
    };
    let mut swept = 0;
    for entry in entries.flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_file = path.is_file() && name.ends_with(LOCK);
        if keep.contains(&name) || (is_file && path.with_extension("").is_dir()) {
            continue;
        }
        let lock = if is_file {
            path.clone()
        } else {
            lock_of(&path)
        };
        let Some(owner) = lock_file(&lock, Duration::ZERO)? else {
            continue;
        };
        if !is_file {
            remove_directory(&path)?;
            swept += 1;
        }
        // A file that is gone already is as good.
        let _ = fs::remove_file(&lock);
        drop(owner);
    }
    Ok(swept)
}

/// Removes a directory with everything in it; one that is not there is as good. A link is removed, never
/// followed.
pub(super) fn remove_directory(path: &Path) -> Result<(), HubError> {
    let removed = match fs::symlink_metadata(path) {
        Ok(about) if about.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(HubError::io(path, "removed")(error))
        }
        _ => Ok(()),
    }
}

/// Sees to it that the names in a directory survive a crash. Some file systems cannot do that.
pub(super) fn sync(directory: &Path) -> Result<(), HubError> {
    match fs::File::open(directory).and_then(|opened| opened.sync_all()) {
        Err(error) if error.kind() != io::ErrorKind::InvalidInput => {
            Err(HubError::io(directory, "written")(error))
        }
        _ => Ok(()),
    }
}

fn lock_of(directory: &Path) -> PathBuf {
    let mut name = directory.as_os_str().to_owned();
    name.push(LOCK);
    PathBuf::from(name)
}

fn make_directory(path: &Path) -> Result<(), HubError> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o755)
        .create(path)
        .map_err(HubError::io(path, "made"))
}

fn write_file(path: &Path, bytes: &[u8], executable: bool) -> Result<(), HubError> {
    let mode = if executable { 0o755 } else { 0o644 };
    let written = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(path)
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()));
    written.map_err(HubError::io(path, "written"))
}
