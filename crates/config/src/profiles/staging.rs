//! A place for what is not finished.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use super::error::ProfileError;
use super::gateway;
use crate::files;

/// No profile can be called this, because names do not start with a dot.
pub(super) const PREFIX: &str = ".staged-";

/// A directory that goes away with the value. What is finished is renamed out of it.
#[derive(Debug)]
pub struct Staging {
    path: PathBuf,
    /// The directory above, when it was made for this.
    parent: Option<PathBuf>,
}

impl Staging {
    /// Makes one in `parent`, after removing what crashed processes left there.
    pub(super) fn new(parent: &Path) -> Result<Self, ProfileError> {
        static COUNTER: AtomicU32 = AtomicU32::new(0);
        let is_new = !parent.exists();
        files::create_directory(parent)?;
        sweep(parent);
        let own = std::process::id();
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let path = parent.join(format!("{PREFIX}{own}-{number}"));
        // Left by a process that had our id before.
        if fs::symlink_metadata(&path).is_ok() {
            fs::remove_dir_all(&path).map_err(ProfileError::disk(&path))?;
        }
        files::create_directory(&path)?;
        let parent = is_new.then(|| parent.to_owned());
        Ok(Self { path, parent })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // The next command sweeps it when this fails.
        let _ = fs::remove_dir_all(&self.path);
        if let Some(parent) = &self.parent {
            // Fails, as it should, when something was put there.
            let _ = fs::remove_dir(parent);
        }
    }
}

fn sweep(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let owner = name
            .to_str()
            .and_then(|name| name.strip_prefix(PREFIX)?.split('-').next()?.parse().ok());
        if owner.is_some_and(|pid: i32| !gateway::alive(pid)) {
            // Harmless when it stays.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}
