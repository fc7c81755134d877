//! Unpacking an archive or copying a snapshot beside the home, and checking what came out.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::database;
use super::error::{ArchiveError, Refusal};
use super::held;
use super::list::Listed;
use super::note::{NoteKind, Notes};
use super::open::{Archive, Entry};
use super::rules::{self, STAGING};
use super::{OnProgress, Progress};
use crate::backup::is_sound;
use crate::error::StoreError;
use crate::schema::NEWEST;

const CHUNK: usize = 256 * 1024;
/// Only the owner may read what is restored: any of it can hold a key or a private word.
const PRIVATE: u32 = 0o600;
const PRIVATE_PROGRAM: u32 = 0o700;
/// The database whose schema must be one this program knows.
const OWN_DATABASE: &str = "hermes.db";
/// A backup in which one of these is damaged is not worth restoring.
const VITAL: [&str; 2] = [OWN_DATABASE, "state.db"];

/// Unpacked files on the home's file system. Goes away with everything in it when dropped.
#[derive(Debug)]
pub(super) struct Stage {
    folder: PathBuf,
    pub(super) files: Vec<Staged>,
    /// Names that were given.
    taken: usize,
}

/// One unpacked file.
#[derive(Debug)]
pub(super) struct Staged {
    pub(super) relative: String,
    pub(super) path: PathBuf,
    pub(super) is_database: bool,
}

impl Stage {
    /// Unpacks the chosen entries. Everything is checked and on the disk when this returns.
    pub(super) fn fill(
        home: &Path,
        archive: &mut Archive,
        chosen: &[Entry],
        notes: &mut Notes,
        progress: OnProgress<'_>,
    ) -> Result<Self, ArchiveError> {
        let mut stage = Self::empty(home)?;
        let mut state = Progress {
            done: 0,
            total: chosen.iter().map(|entry| entry.size).sum(),
        };
        for entry in chosen {
            let path = stage.next();
            unpack(archive, entry, &path)?;
            stage.judge(&entry.relative, path, notes)?;
            state.done += entry.size;
            progress(state);
        }
        stage.written()
    }

    /// Copies chosen files of a directory. Everything is checked and on the disk when this returns.
    pub(super) fn copy(
        home: &Path,
        from: &Path,
        chosen: &[Listed],
        notes: &mut Notes,
    ) -> Result<Self, ArchiveError> {
        let mut stage = Self::empty(home)?;
        for file in chosen {
            let path = stage.next();
            copy(&from.join(&file.relative), &path).map_err(ArchiveError::file(&path))?;
            stage.judge(&file.relative, path, notes)?;
        }
        stage.written()
    }

    fn empty(home: &Path) -> Result<Self, ArchiveError> {
        let folder = home.join(STAGING);
        remove(&folder)?;
        held::create_private(&folder)?;
        Ok(Self {
            folder,
            files: Vec::new(),
            taken: 0,
        })
    }

    fn next(&mut self) -> PathBuf {
        self.taken += 1;
        self.folder.join(self.taken.to_string())
    }

    fn judge(
        &mut self,
        relative: &str,
        path: PathBuf,
        notes: &mut Notes,
    ) -> Result<(), ArchiveError> {
        let is_database = match judge(relative, &path)? {
            Verdict::Plain => false,
            Verdict::Database => true,
            Verdict::LeftOut => {
                notes.add(relative, NoteKind::DamagedCopy);
                return Ok(());
            }
        };
        self.files.push(Staged {
            relative: relative.to_owned(),
            path,
            is_database,
        });
        Ok(())
    }

    /// Once all are written, so that the file system can put them on the disk together.
    fn written(self) -> Result<Self, ArchiveError> {
        for file in &self.files {
            File::open(&file.path)
                .and_then(|opened| opened.sync_all())
                .map_err(ArchiveError::file(&file.path))?;
        }
        Ok(self)
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // What cannot be removed now is removed by the next import.
        drop(remove(&self.folder));
    }
}

fn remove(folder: &Path) -> Result<(), ArchiveError> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(ArchiveError::file(folder)(error))
        }
        _ => Ok(()),
    }
}

fn unpack(archive: &mut Archive, entry: &Entry, to: &Path) -> Result<(), ArchiveError> {
    let from = archive.path.clone();
    let packed = archive
        .zip
        .by_index(entry.index)
        .map_err(ArchiveError::broken(&from))?;
    // One byte more than announced is enough to know that the announcement was wrong.
    let mut packed = packed.take(entry.size.saturating_add(1));
    let mode = if entry.executable {
        PRIVATE_PROGRAM
    } else {
        PRIVATE
    };
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(to)
        .map_err(ArchiveError::file(to))?;
    let mut buffer = vec![0_u8; CHUNK];
    let mut written = 0_u64;
    loop {
        let length = match packed.read(&mut buffer) {
            Ok(0) => break,
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            // The only reader here is the archive: a wrong checksum, or a stream that breaks off.
            Err(error) => return Err(ArchiveError::broken(&from)(error.into())),
        };
        let piece = buffer.get(..length).unwrap_or_default();
        file.write_all(piece).map_err(ArchiveError::file(to))?;
        written += length as u64;
    }
    if written != entry.size {
        return Err(ArchiveError::refused(&entry.relative, Refusal::WrongSize));
    }
    Ok(())
}

/// Copies a file for its owner's eyes only.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let mut file = File::open(from)?;
    let mut copy = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(PRIVATE)
        .open(to)?;
    io::copy(&mut file, &mut copy).map(drop)
}

/// What an unpacked file turned out to be.
enum Verdict {
    Plain,
    Database,
    LeftOut,
}

fn judge(relative: &str, path: &Path) -> Result<Verdict, ArchiveError> {
    if !database::has_header(path).map_err(ArchiveError::file(path))? {
        return Ok(Verdict::Plain);
    }
    let name = relative.rsplit('/').next().unwrap_or_default();
    if !is_sound(path)? {
        if VITAL.contains(&name) {
            let entry = relative.to_owned();
            return Err(ArchiveError::DamagedEntry { entry });
        }
        // A copy of a damaged file that somebody kept has another ending, and nothing opens it.
        return Ok(if rules::is_database_name(name) {
            Verdict::LeftOut
        } else {
            Verdict::Plain
        });
    }
    if name == OWN_DATABASE {
        let found = database::schema(path)?;
        if found > NEWEST {
            return Err(ArchiveError::Database(StoreError::TooNew {
                path: PathBuf::from(relative),
                found,
                known: NEWEST,
            }));
        }
    }
    Ok(Verdict::Database)
}
