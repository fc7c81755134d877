//! What a change of several files was about to do, written down before the first name moves.
//!
//! Whoever is killed while names move leaves such a record. The next program finds it, free of its lock, and takes
//! back what was done, unless somebody has changed one of the files since.

use std::fs::{self, File, Metadata};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The endings of a record: being written, of names that move, of names that all have moved.
const DRAFT: &str = "tmp";
const OPEN: &str = "json";
const DONE: &str = "done";

/// What was about to be done.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) steps: Vec<Planned>,
    /// Directories that were made for it.
    pub(super) directories: Vec<PathBuf>,
}

/// What was about to be done with one file.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Planned {
    pub(super) path: PathBuf,
    /// Where its new content lies, and which file that is; none when the file goes.
    pub(super) staged: Option<(PathBuf, Identity)>,
    /// Where its old content goes; none for a new file.
    pub(super) backup: Option<PathBuf>,
}

/// Which file it is, as long as nobody writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Identity {
    device: u64,
    inode: u64,
    size: u64,
    seconds: i64,
    nanoseconds: i64,
}

impl Identity {
    fn of(facts: &Metadata) -> Self {
        Self {
            device: facts.dev(),
            inode: facts.ino(),
            size: facts.size(),
            seconds: facts.mtime(),
            nanoseconds: facts.mtime_nsec(),
        }
    }

    /// Of what lies there, not of what it links to.
    pub(super) fn at(path: &Path) -> io::Result<Self> {
        Ok(Self::of(&fs::symlink_metadata(path)?))
    }
}

/// A record on disk. It is ours as long as this lives; dropping it leaves it to whoever comes next.
pub(super) struct Journal {
    path: PathBuf,
    _lock: File,
}

impl Journal {
    /// Writes a record down.
    pub(super) fn begin(folder: &Path, name: &str, record: &Record) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let draft = folder.join(format!("{name}.{DRAFT}"));
        let mut file = File::options().write(true).create_new(true).open(&draft)?;
        file.try_lock()?;
        file.write_all(&serde_json::to_vec(record)?)?;
        file.sync_all()?;
        let path = draft.with_extension(OPEN);
        fs::rename(&draft, &path)?;
        File::open(folder)?.sync_all()?;
        Ok(Self { path, _lock: file })
    }

    /// All names have moved: from here on there is nothing to take back.
    pub(super) fn done(&mut self) -> io::Result<()> {
        let done = self.path.with_extension(DONE);
        fs::rename(&self.path, &done)?;
        self.path = done;
        if let Some(folder) = self.path.parent() {
            File::open(folder)?.sync_all()?;
        }
        Ok(())
    }

    /// Nothing is left to be looked after.
    pub(super) fn forget(self) {
        // One that stays says what is true already, and goes the next time.
        let _ = fs::remove_file(&self.path);
    }
}

/// Looks after the records of programs that are gone.
pub(super) fn recover(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for path in entries.flatten().map(|entry| entry.path()) {
        if let Err(error) = recover_one(&path) {
            tracing::warn!(%error, path = %path.display(), "a change of files that was cut short could not be taken back");
        }
    }
}

fn recover_one(path: &Path) -> io::Result<()> {
    let file = File::open(path)?;
    if file.try_lock().is_err() {
        return Ok(());
    }
    let ending = path.extension().and_then(|ending| ending.to_str());
    if ending == Some(DRAFT) {
        return fs::remove_file(path);
    }
    let record: Record = serde_json::from_reader(io::BufReader::new(&file))?;
    match ending {
        Some(OPEN) => take_back(&record)?,
        Some(DONE) => {
            for backup in record.steps.iter().filter_map(|step| step.backup.as_ref()) {
                gone(fs::remove_file(backup))?;
            }
        }
        Some(_) | None => return Ok(()),
    }
    fs::remove_file(path)
}

/// How far a step came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    NotYet,
    Moved,
    /// Somebody else was there since.
    Changed,
}

fn take_back(record: &Record) -> io::Result<()> {
    let found: Vec<Found> = record.steps.iter().map(Planned::found).collect();
    let names = || -> Vec<&PathBuf> { record.steps.iter().map(|step| &step.path).collect() };
    let changed = found.contains(&Found::Changed);
    if changed {
        tracing::warn!(files = ?names(), "a change of several files was cut short; some were changed since and all are left as they are");
    } else if found.contains(&Found::Moved) {
        tracing::warn!(files = ?names(), "a change of several files was cut short and is taken back");
    }
    for (step, found) in record.steps.iter().zip(&found).rev() {
        match found {
            Found::Moved if !changed => step.take_back()?,
            Found::NotYet => step.clear()?,
            // The old content stays beside the file, for whoever misses it.
            Found::Moved | Found::Changed => {}
        }
    }
    for directory in record.directories.iter().rev() {
        // Only empty ones go.
        let _ = fs::remove_dir(directory);
    }
    Ok(())
}

impl Planned {
    fn found(&self) -> Found {
        let lies = |path: &Path| fs::symlink_metadata(path).is_ok();
        match (&self.staged, &self.backup) {
            (Some((staged, _)), Some(_)) if lies(staged) => Found::NotYet,
            (Some((_, identity)), Some(backup)) => {
                let ours = Identity::at(&self.path).is_ok_and(|at| at == *identity);
                match ours && lies(backup) {
                    true => Found::Moved,
                    false => Found::Changed,
                }
            }
            (Some((staged, identity)), None) => match Identity::at(&self.path) {
                Ok(at) if at == *identity => Found::Moved,
                Ok(_) | Err(_) if lies(staged) => Found::NotYet,
                Ok(_) | Err(_) => Found::Changed,
            },
            (None, Some(backup)) if lies(backup) => match lies(&self.path) {
                true => Found::Changed,
                false => Found::Moved,
            },
            (None, _) => Found::NotYet,
        }
    }

    fn take_back(&self) -> io::Result<()> {
        match &self.backup {
            Some(backup) => fs::rename(backup, &self.path),
            None => {
                gone(fs::remove_file(&self.path))?;
                self.clear()
            }
        }
    }

    /// Removes what was prepared.
    fn clear(&self) -> io::Result<()> {
        let staged = self.staged.as_ref().map(|(staged, _)| staged);
        for path in staged.into_iter().chain(&self.backup) {
            gone(fs::remove_file(path))?;
        }
        Ok(())
    }
}

/// What is gone already needs no removing.
fn gone(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}
