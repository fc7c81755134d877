//! What came of a package before its download was stopped, and how the rest is fetched.
//!
//! pip starts over every time. But what it wrote until it was stopped is the beginning of the package, and it
//! says where the package lies, so the machine's python can ask for the rest. Whatever comes is compared with
//! the known checksum like every download.

use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::Command;

use tokio_util::sync::CancellationToken;

use super::child;
use super::pip::UNFINISHED;
use super::{PullError, WHEEL};

/// Asks a server for a file from some byte on and appends it.
const SCRIPT: &str = include_str!("rest.py");
/// Folders pip makes inside its own.
const DEPTH: u8 = 3;

/// The beginning of a package.
pub(super) struct Part {
    folder: PathBuf,
}

impl Part {
    /// What earlier downloads left in this folder.
    pub(super) fn collect(folder: &Path) -> Result<Self, PullError> {
        let part = Self {
            folder: folder.to_owned(),
        };
        let failed = |error| PullError::file(folder, error);
        for entry in fs::read_dir(folder).map_err(failed)?.flatten() {
            if !entry.file_name().to_string_lossy().starts_with(UNFINISHED) {
                continue;
            }
            if let Some((found, bytes)) = longest(&entry.path(), DEPTH)
                && bytes > part.bytes()
            {
                fs::rename(found, part.path()).map_err(failed)?;
            }
            fs::remove_dir_all(entry.path()).map_err(failed)?;
        }
        Ok(part)
    }

    fn path(&self) -> PathBuf {
        self.folder.join(format!("{WHEEL}.part"))
    }

    fn source_path(&self) -> PathBuf {
        self.folder.join(format!("{WHEEL}.from"))
    }

    fn bytes(&self) -> u64 {
        fs::metadata(self.path()).map_or(0, |found| found.len())
    }

    /// A listener for what pip says; notes down where the package lies.
    pub(super) fn listener(&self) -> impl FnMut(&str) + Send + use<> {
        let path = self.source_path();
        let mut noted = false;
        move |line| {
            if let Some(source) = address(line)
                && !noted
            {
                // Without it the next pull starts over, which is no harm.
                noted = fs::write(&path, source).is_ok();
            }
        }
    }

    /// Fetches the rest, as long as some of it comes. Whether the package is whole now, judged by its size.
    pub(super) fn complete(
        &self,
        total: u64,
        environment: &[(OsString, OsString)],
        mut report: impl FnMut(u64),
        cancel: &CancellationToken,
    ) -> Result<bool, PullError> {
        let Ok(source) = fs::read_to_string(self.source_path()) else {
            return Ok(false);
        };
        let mut had = self.bytes();
        while had > 0 && had < total {
            let mut command = Command::new("python3");
            command
                .args(["-c", SCRIPT, &source])
                .arg(self.path())
                .env_clear()
                .envs(environment.iter().cloned());
            let ended = child::watch(&mut command, |_| {}, || report(self.bytes()), cancel)?;
            let has = self.bytes();
            if ended.is_none() || has <= had {
                return Ok(false);
            }
            had = has;
        }
        if had != total {
            return Ok(false);
        }
        let whole = self.folder.join(WHEEL);
        fs::rename(self.path(), &whole).map_err(|error| PullError::file(&whole, error))?;
        Ok(true)
    }

    /// Forgets it: what it was the beginning of is there, or was not what it should be.
    pub(super) fn discard(&self) -> Result<(), PullError> {
        for path in [self.path(), self.source_path()] {
            match fs::remove_file(&path) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(PullError::file(&path, error));
                }
                Ok(()) | Err(_) => {}
            }
        }
        Ok(())
    }
}

/// The largest beginning of the package below a folder.
fn longest(folder: &Path, depth: u8) -> Option<(PathBuf, u64)> {
    let entries = fs::read_dir(folder).ok()?.flatten();
    entries
        .filter_map(|entry| {
            let kind: io::Result<_> = entry.file_type();
            match kind.ok()? {
                kind if kind.is_dir() && depth > 0 => longest(&entry.path(), depth - 1),
                kind if kind.is_file() && entry.file_name() == WHEEL => {
                    Some((entry.path(), entry.metadata().ok()?.len()))
                }
                _ => None,
            }
        })
        .max_by_key(|(_, bytes)| *bytes)
}

/// The address of the package in a line of pip's.
fn address(line: &str) -> Option<&str> {
    line.split_ascii_whitespace().find_map(|word| {
        let (address, _) = word.split_once('#').unwrap_or((word, ""));
        let known = address.starts_with("https://") || address.starts_with("http://");
        // pip writes stars instead of a password.
        (known && address.ends_with(WHEEL) && !address.contains("****")).then_some(address)
    })
}
