//! Files of a project that are told to the model.
//!
//! Whoever can write in a project, a command in the sandbox or a stranger whose repository this is, can put a link
//! in the place of such a file. What is told leaves this machine, so a link counts only where it leads to another
//! file of the same project that holds no keys, and what was looked at is what is read.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hermes_policy::FileRules;
use rustix::fs::{CWD, Mode, OFlags};

use crate::references::KeyGuard;

/// A file longer than this is not read at all.
pub(super) const MOST_BYTES: u64 = 8 * 1024 * 1024;

/// A project and who must not be told of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Project<'a> {
    /// The directory that is worked in.
    pub(crate) directory: &'a Path,
    /// The home directory of the program.
    pub(crate) home: &'a Path,
    /// What the file tools may read.
    pub(crate) rules: &'a Arc<FileRules>,
}

impl Project<'_> {
    /// The repository around the directory, or the directory itself.
    pub(super) fn root(&self) -> &Path {
        let mut above = self.directory.ancestors();
        let found = above.find(|path| path.join(".git").exists());
        found.unwrap_or(self.directory)
    }

    /// The text of a file, if it says anything. What keeps one that is there from being read is a warning.
    pub(super) fn read(&self, path: &Path, warnings: &mut Vec<String>) -> Option<String> {
        let may = |real: &Path| match self.leads_away(path, real) {
            true => Err(format!(
                "leads to {}, which is no file of this project that may be told, and is left out",
                real.display()
            )),
            false => Ok(()),
        };
        told(path, may, warnings)
    }

    /// Whether a file is reached through a link that leads out of the project, or to keys.
    fn leads_away(&self, path: &Path, real: &Path) -> bool {
        let canonical = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let root = canonical(self.root());
        let below = path.strip_prefix(self.root());
        if below.is_ok_and(|below| root.join(below) == real) {
            return false;
        }
        // A repository that has our own home in it is a whole home, and what lies in that is no project.
        let project = match canonical(self.home).starts_with(&root) {
            true => canonical(self.directory),
            false => root,
        };
        !real.starts_with(project) || KeyGuard::new(self.rules).is_denied(real)
    }
}

/// The text of a file of the user's own home, if it says anything.
pub(super) fn own(path: &Path, warnings: &mut Vec<String>) -> Option<String> {
    told(path, |_| Ok(()), warnings)
}

fn told(
    path: &Path,
    may: impl FnOnce(&Path) -> Result<(), String>,
    warnings: &mut Vec<String>,
) -> Option<String> {
    if !path.metadata().ok()?.is_file() {
        return None;
    }
    let opened = open(path).map_err(|error| format!("cannot be read: {error}"));
    let text = opened.and_then(|(file, real)| {
        may(&real)?;
        text(file)
    });
    match text {
        Ok(text) => (!text.trim().is_empty()).then_some(text),
        Err(why) => {
            warnings.push(format!("{} {why}", path.display()));
            None
        }
    }
}

/// Opens a file and says which one that is. A pipe that took its place keeps nobody waiting.
fn open(path: &Path) -> std::io::Result<(File, PathBuf)> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = File::from(rustix::fs::openat(CWD, path, flags, Mode::empty())?);
    #[cfg(target_os = "linux")]
    {
        use std::os::fd::AsRawFd as _;
        let real = std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
        Ok((file, real))
    }
    // There is no sandbox here whose commands could swap anything.
    #[cfg(not(target_os = "linux"))]
    {
        let real = path.canonicalize()?;
        Ok((file, real))
    }
}

fn text(file: File) -> Result<String, String> {
    let failed = |error: std::io::Error| format!("cannot be read: {error}");
    let facts = file.metadata().map_err(failed)?;
    if !facts.is_file() {
        return Err("is no ordinary file any more".to_owned());
    }
    if facts.len() > MOST_BYTES {
        return Err(format!(
            "has {} bytes and is left out; at most {MOST_BYTES} are read",
            facts.len()
        ));
    }
    let mut bytes = Vec::new();
    let mut limited = file.take(MOST_BYTES);
    limited.read_to_end(&mut bytes).map_err(failed)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
