//! Putting an archive or a snapshot back into a home.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::OnProgress;
use super::claim::Claim;
use super::error::{ArchiveError, Obstacle};
use super::held::{self, Held};
use super::note::{NoteKind, Notes};
use super::open::Archive;
use super::rules;
use super::snapshot::{KeptSnapshot, Label, Snapshot, TakeSnapshot};
use super::stage::{Stage, Staged};

/// An archive or a snapshot to be put back.
#[derive(Debug, Clone, Copy)]
pub struct Restore<'a> {
    pub home: &'a Path,
    /// Whether this is the default home, which holds the other profiles.
    pub is_root: bool,
    /// Takes a snapshot with this label before the first file is replaced.
    pub snapshot: Option<&'a Label>,
    pub at: Timestamp,
}

/// What was put back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    pub files: u64,
    pub databases: Vec<String>,
    pub snapshot: Option<Snapshot>,
    pub notes: Notes,
}

impl Restore<'_> {
    /// Replaces file by file. Files that the archive does not have stay.
    ///
    /// Nothing is replaced before everything was unpacked and checked and no database is in use.
    pub fn run(
        &self,
        archive: &mut Archive,
        progress: OnProgress<'_>,
    ) -> Result<Restored, ArchiveError> {
        held::create_private(self.home)?;
        let held = Held::take(self.home)?;
        let mut notes = Notes::default();
        for entry in &archive.external {
            notes.add(&**entry, NoteKind::External);
        }
        let mut chosen = archive.entries.clone();
        chosen.retain(|entry| self.takes(&entry.relative, &mut notes));
        self.check_way(chosen.iter().map(|entry| entry.relative.as_str()))?;
        let stage = Stage::fill(self.home, archive, &chosen, &mut notes, progress)?;
        self.replace(&stage, notes, held)
    }

    /// The same with a snapshot of this home.
    pub fn run_snapshot(&self, snapshot: &KeptSnapshot) -> Result<Restored, ArchiveError> {
        let held = Held::take(self.home)?;
        let mut notes = Notes::default();
        let mut chosen = snapshot.files(self.home, &mut notes)?;
        chosen.retain(|file| self.takes(&file.relative, &mut notes));
        self.check_way(chosen.iter().map(|file| file.relative.as_str()))?;
        let folder = snapshot.folder(self.home);
        let stage = Stage::copy(self.home, &folder, &chosen, &mut notes)?;
        self.replace(&stage, notes, held)
    }

    /// Puts what was unpacked and checked in the place of what is there.
    fn replace(&self, stage: &Stage, notes: Notes, held: Held) -> Result<Restored, ArchiveError> {
        // Taken twice: first to know that nobody is in the way, then for the swap, because the
        // snapshot in between has to read the databases.
        drop(self.claim(stage)?);
        let snapshot = self
            .snapshot
            .map(|label| {
                let snapshot = TakeSnapshot {
                    home: self.home,
                    label: Some(label),
                    at: self.at,
                };
                snapshot.run_held()
            })
            .transpose()?;
        let claims = self.claim(stage)?;
        self.swap(stage)?;
        drop(claims);
        let databases = stage
            .files
            .iter()
            .filter(|file| file.is_database)
            .map(|file| file.relative.clone())
            .collect();
        drop(held);
        Ok(Restored {
            files: stage.files.len() as u64,
            databases,
            snapshot,
            notes,
        })
    }

    /// Whether a file is put back; why not is noted.
    fn takes(&self, relative: &str, notes: &mut Notes) -> bool {
        let why_not = if rules::is_runtime_file(relative) || rules::is_side_file(relative) {
            NoteKind::Runtime
        } else if rules::is_log(relative) {
            NoteKind::Log
        } else if !self.is_root && rules::is_of_root(relative) {
            NoteKind::OtherProfile
        } else {
            return true;
        };
        notes.add(relative, why_not);
        false
    }

    /// Refuses links and wrong kinds on the way, so that nothing is written outside the home and the
    /// swap cannot stop half way because of them.
    fn check_way<'p>(&self, chosen: impl Iterator<Item = &'p str>) -> Result<(), ArchiveError> {
        let mut known = BTreeSet::new();
        for relative in chosen {
            for (at, _) in relative.match_indices('/') {
                let parent = relative.get(..at).unwrap_or_default();
                if known.insert(parent) {
                    check_directory(&self.home.join(parent))?;
                }
            }
            let path = self.home.join(relative);
            if fs::symlink_metadata(&path).is_ok_and(|found| found.is_dir()) {
                let obstacle = Obstacle::Directory;
                return Err(ArchiveError::InTheWay { path, obstacle });
            }
        }
        Ok(())
    }

    fn claim(&self, stage: &Stage) -> Result<Vec<Claim>, ArchiveError> {
        let databases = stage.files.iter().filter(|file| file.is_database);
        databases
            .map(|file| Claim::take(&self.home.join(&file.relative)))
            .collect()
    }

    fn swap(&self, stage: &Stage) -> Result<(), ArchiveError> {
        let mut folders = BTreeSet::new();
        for (replaced, file) in stage.files.iter().enumerate() {
            let target = self.home.join(&file.relative);
            let folder = target.parent().unwrap_or(self.home).to_owned();
            put(file, &target, &folder).map_err(|source| ArchiveError::HalfRestored {
                path: target,
                replaced,
                total: stage.files.len(),
                source,
            })?;
            folders.insert(folder);
        }
        for folder in folders {
            held::sync_folder(&folder);
        }
        Ok(())
    }
}

fn check_directory(path: &Path) -> Result<(), ArchiveError> {
    let obstacle = match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => return Ok(()),
        Ok(found) if found.is_symlink() => Obstacle::Link,
        Ok(_) => Obstacle::File,
        Err(_) => return Ok(()),
    };
    let path = path.to_owned();
    Err(ArchiveError::InTheWay { path, obstacle })
}

fn put(file: &Staged, target: &Path, folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)?;
    match fs::rename(&file.path, target) {
        // A directory of the home may be a mount of its own.
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
            let beside = beside(target);
            fs::copy(&file.path, &beside)?;
            fs::File::open(&beside)?.sync_all()?;
            fs::rename(&beside, target)
        }
        renamed => renamed,
    }
}

fn beside(target: &Path) -> PathBuf {
    rules::with_tail(target, ".import.tmp")
}
