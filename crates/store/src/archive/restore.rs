//! Putting an archive back into a home.

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
use super::open::{Archive, Entry};
use super::rules;
use super::snapshot::{Label, Snapshot, TakeSnapshot};
use super::stage::{Stage, Staged};

/// An archive to be put back.
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
        let chosen = self.choose(archive, &mut notes);
        self.check_way(&chosen)?;
        let stage = Stage::fill(self.home, archive, &chosen, &mut notes, progress)?;
        // Taken twice: first to know that nobody is in the way, then for the swap, because the
        // snapshot in between has to read the databases.
        drop(self.claim(&stage)?);
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
        let claims = self.claim(&stage)?;
        self.swap(&stage)?;
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

    fn choose(&self, archive: &Archive, notes: &mut Notes) -> Vec<Entry> {
        for entry in &archive.external {
            notes.add(&**entry, NoteKind::External);
        }
        let mut chosen = Vec::with_capacity(archive.entries.len());
        for entry in &archive.entries {
            if rules::is_runtime_file(&entry.relative) || rules::is_side_file(&entry.relative) {
                notes.add(&*entry.relative, NoteKind::Runtime);
            } else if rules::is_log(&entry.relative) {
                notes.add(&*entry.relative, NoteKind::Log);
            } else if !self.is_root && rules::is_of_root(&entry.relative) {
                notes.add(&*entry.relative, NoteKind::OtherProfile);
            } else {
                chosen.push(entry.clone());
            }
        }
        chosen
    }

    /// Refuses links and wrong kinds on the way, so that nothing is written outside the home and the
    /// swap cannot stop half way because of them.
    fn check_way(&self, chosen: &[Entry]) -> Result<(), ArchiveError> {
        let mut known = BTreeSet::new();
        for entry in chosen {
            for (at, _) in entry.relative.match_indices('/') {
                let parent = entry.relative.get(..at).unwrap_or_default();
                if known.insert(parent) {
                    check_directory(&self.home.join(parent))?;
                }
            }
            let path = self.home.join(&entry.relative);
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
