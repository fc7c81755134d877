//! What is left of writers that were killed, and who clears it away.

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::journal;

/// What names of temporary files begin with.
pub(super) const PREFIX: &str = ".hermes-tmp.";
/// No write takes this long. Younger ones may be those of a process that cannot be seen from here: on another
/// machine, in another container.
const OLD: i64 = 3_600;
/// Folders of which is remembered that they were looked at.
const MOST_FOLDERS: usize = 1_000;

/// Clears away behind others, once for each folder.
#[derive(Debug, Default)]
pub(super) struct Tidy {
    /// Where changes of several files are written down.
    journals: Option<PathBuf>,
    recovered: OnceLock<()>,
    swept: Mutex<HashSet<PathBuf>>,
}

impl Tidy {
    pub(super) fn with_journals(folder: PathBuf) -> Self {
        Self {
            journals: Some(folder),
            ..Self::default()
        }
    }

    pub(super) fn journals(&self) -> Option<&Path> {
        self.journals.as_deref()
    }

    /// Takes back what programs that are gone had begun.
    pub(super) fn recover(&self) {
        if let Some(folder) = &self.journals {
            self.recovered.get_or_init(|| journal::recover(folder));
        }
    }

    /// Removes what killed writers left in a folder. `now` is the time as that folder's file system has it.
    pub(super) fn sweep(&self, folder: &Path, now: i64) {
        {
            let mut swept = self.swept.lock().unwrap_or_else(PoisonError::into_inner);
            if swept.len() >= MOST_FOLDERS {
                swept.clear();
            }
            if !swept.insert(folder.to_owned()) {
                return;
            }
        }
        let Ok(entries) = fs::read_dir(folder) else {
            return;
        };
        for entry in entries.flatten() {
            let Some(owner) = entry.file_name().to_str().and_then(owner) else {
                continue;
            };
            let old = entry
                .metadata()
                .is_ok_and(|facts| facts.is_file() && now.saturating_sub(facts.ctime()) >= OLD);
            if old && kill(owner, None::<Signal>) == Err(Errno::ESRCH) {
                // Whoever comes next tries again.
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

/// The process that made a temporary file of this name.
fn owner(name: &str) -> Option<Pid> {
    let (process, number) = name.strip_prefix(PREFIX)?.split_once('-')?;
    number.parse::<u32>().ok()?;
    let process = process.parse::<i32>().ok().filter(|process| *process > 0)?;
    Some(Pid::from_raw(process))
}

#[cfg(test)]
mod tests {
    use super::*;

    // EX-40
    #[test]
    fn only_old_files_of_processes_that_are_gone_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        // No process has a number this high.
        let gone = format!("{PREFIX}2147483647-0");
        let ours = format!("{PREFIX}{}-0", std::process::id());
        let others = [
            ours.as_str(),
            ".hermes-tmp.2147483647-0.old",
            ".hermes-tmp.x-0",
            "mine",
        ];
        for name in others.iter().chain([&gone.as_str()]) {
            fs::write(folder.path().join(name), "x").unwrap();
        }
        let facts = fs::metadata(folder.path().join(&gone)).unwrap();
        Tidy::default().sweep(folder.path(), facts.ctime() + OLD - 10);
        assert!(folder.path().join(&gone).exists());
        Tidy::default().sweep(folder.path(), facts.ctime() + OLD + 10);
        assert!(!folder.path().join(&gone).exists());
        for name in others {
            assert!(folder.path().join(name).exists(), "{name}");
        }
    }
}
