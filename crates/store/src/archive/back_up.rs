//! Writing a home into a zip file.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::database::{self, Copied};
use super::error::ArchiveError;
use super::held::{self, Held, PARTIAL};
use super::list::{self, Listed};
use super::manifest::{BackedUpDatabase, FORMAT, MANIFEST_NAME, Manifest};
use super::note::{NoteKind, Notes};
use super::{OnProgress, Progress};
use crate::error::StoreError;

/// What is copied at a time, so that memory does not depend on the size of a file.
const CHUNK: usize = 256 * 1024;
/// From here on an entry needs 64-bit sizes; a file may also grow while it is read.
const LARGE: u64 = 2 * 1024 * 1024 * 1024;

/// A backup to be made.
#[derive(Debug, Clone, Copy)]
pub struct BackUp<'a> {
    pub home: &'a Path,
    pub profile: &'a str,
    /// The zip file. One that is there is replaced once the new one is complete.
    pub output: &'a Path,
    pub at: Timestamp,
    /// The zone whose times the zip file holds.
    pub zone: &'a TimeZone,
    /// Name and version of the program, for the manifest.
    pub program: &'a str,
}

/// A backup that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackedUp {
    pub path: PathBuf,
    pub files: u64,
    /// Bytes before compression.
    pub bytes: u64,
    /// The size of the zip file.
    pub size: u64,
    pub databases: Vec<BackedUpDatabase>,
    pub notes: Notes,
}

impl BackUp<'_> {
    /// Writes the zip file, under its name only when it is complete and on the disk.
    pub fn run(&self, progress: OnProgress<'_>) -> Result<BackedUp, ArchiveError> {
        let _held = Held::take(self.home)?;
        let scratch = held::scratch_in(&self.home.join("backups"))?;
        let folder = match self.output.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        let temporary = tempfile::Builder::new()
            .prefix(PARTIAL)
            .suffix(".zip")
            .permissions(fs::Permissions::from_mode(0o600))
            .tempfile_in(folder)
            .map_err(ArchiveError::file(self.output))?;
        let mut notes = Notes::default();
        let mut files = list::files_of(self.home, &mut notes)?;
        let own = self.own_files(temporary.path());
        files.retain(|file| !own.contains(&self.home.join(&file.relative)));
        let packed = self.pack_all(temporary.as_file(), &files, notes, scratch.path(), progress)?;
        let size = temporary
            .as_file()
            .metadata()
            .map_err(ArchiveError::file(self.output))?
            .len();
        temporary
            .persist(self.output)
            .map_err(|failed| ArchiveError::file(self.output)(failed.error))?;
        held::sync_folder(folder);
        Ok(BackedUp { size, ..packed })
    }

    fn pack_all(
        &self,
        output: &File,
        files: &[Listed],
        notes: Notes,
        scratch: &Path,
        progress: OnProgress<'_>,
    ) -> Result<BackedUp, ArchiveError> {
        let total = files.iter().map(|file| file.size).sum();
        let mut writer = Writer {
            request: self,
            zip: ZipWriter::new(io::BufWriter::new(output)),
            scratch,
            done: Progress { done: 0, total },
            packed: BackedUp {
                path: self.output.to_owned(),
                files: 0,
                bytes: 0,
                size: 0,
                databases: Vec::new(),
                notes,
            },
            progress,
        };
        for file in files {
            writer.add(file)?;
        }
        writer.add_manifest()?;
        let Writer { zip, packed, .. } = writer;
        let mut inner = zip.finish().map_err(|source| self.failed(source))?;
        inner
            .flush()
            .and_then(|()| output.sync_all())
            .map_err(ArchiveError::file(self.output))?;
        Ok(packed)
    }

    /// The files that this backup itself writes, in case they lie in the home.
    fn own_files(&self, temporary: &Path) -> Vec<PathBuf> {
        let home = self.home.canonicalize();
        [temporary, self.output]
            .iter()
            .filter_map(|path| path.canonicalize().ok())
            .filter_map(|path| {
                let relative = path.strip_prefix(home.as_ref().ok()?).ok()?;
                Some(self.home.join(relative))
            })
            .collect()
    }

    fn failed(&self, source: zip::result::ZipError) -> ArchiveError {
        let path = self.output.to_owned();
        match source {
            zip::result::ZipError::Io(source) => ArchiveError::File { path, source },
            source => ArchiveError::Output { path, source },
        }
    }
}

struct Writer<'a, W: Write + io::Seek> {
    request: &'a BackUp<'a>,
    zip: ZipWriter<W>,
    scratch: &'a Path,
    done: Progress,
    packed: BackedUp,
    progress: OnProgress<'a>,
}

impl<W: Write + io::Seek> Writer<'_, W> {
    fn add(&mut self, file: &Listed) -> Result<(), ArchiveError> {
        let before = self.done.done;
        let path = self.request.home.join(&file.relative);
        match database::is_database(&path) {
            Ok(true) => self.add_database(file, &path)?,
            Ok(false) => self.add_plain(file, &path)?,
            Err(error) => self
                .packed
                .notes
                .add(&*file.relative, list::kind_of(&error)),
        }
        self.tell(before + file.size);
        Ok(())
    }

    fn add_database(&mut self, file: &Listed, path: &Path) -> Result<(), ArchiveError> {
        let copy = self.scratch.join("copy.db");
        let before = self.done.done;
        let copied = database::copy(path, &copy, |pages, all| {
            let share = u128::from(file.size) * u128::from(pages) / u128::from(all.max(1));
            // Half of the way is copying, the other half is packing.
            let half = u64::try_from(share / 2).unwrap_or(0);
            self.done.done = before + half;
            (self.progress)(self.done);
        });
        let outcome = match copied {
            Ok(Copied::Whole { schema }) => {
                let bytes = self.pack(file, &copy, path)?;
                if let Some(bytes) = bytes {
                    self.packed.databases.push(BackedUpDatabase {
                        path: file.relative.clone(),
                        schema,
                        bytes,
                    });
                }
                Ok(())
            }
            Ok(Copied::Damaged) => {
                self.packed.notes.add(&*file.relative, NoteKind::Damaged);
                self.pack(file, path, path).map(drop)
            }
            Err(_) if !path.exists() => {
                self.packed.notes.add(&*file.relative, NoteKind::Vanished);
                Ok(())
            }
            Err(StoreError::CannotOpen { path: at, .. } | StoreError::ReadOnly { path: at })
                if at == path =>
            {
                self.packed.notes.add(&*file.relative, NoteKind::Unreadable);
                Ok(())
            }
            Err(error) => Err(error.into()),
        };
        // The scratch directory goes away as a whole in any case.
        drop(fs::remove_file(&copy));
        outcome
    }

    fn add_plain(&mut self, file: &Listed, path: &Path) -> Result<(), ArchiveError> {
        self.pack(file, path, path).map(drop)
    }

    /// Packs the content of one file with the mode and time of another; `None` when it is gone.
    fn pack(
        &mut self,
        file: &Listed,
        content: &Path,
        original: &Path,
    ) -> Result<Option<u64>, ArchiveError> {
        let opened = File::open(content).and_then(|content| {
            let found = fs::metadata(original)?;
            Ok((content, found))
        });
        let (mut content, found) = match opened {
            Ok(opened) => opened,
            Err(error) => {
                self.packed
                    .notes
                    .add(&*file.relative, list::kind_of(&error));
                return Ok(None);
            }
        };
        let options = options(&found, self.request.zone);
        self.zip
            .start_file(&file.relative, options)
            .map_err(|source| self.request.failed(source))?;
        let start = self.done.done;
        let mut buffer = vec![0_u8; CHUNK];
        let mut copied = 0_u64;
        loop {
            let length = match content.read(&mut buffer) {
                Ok(0) => break,
                Ok(length) => length,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => {
                    self.packed.notes.add(&*file.relative, NoteKind::Unreadable);
                    break;
                }
            };
            let piece = buffer.get(..length).unwrap_or_default();
            self.zip
                .write_all(piece)
                .map_err(ArchiveError::file(self.request.output))?;
            copied += length as u64;
            self.tell(start + copied.min(file.size));
        }
        self.packed.files += 1;
        self.packed.bytes += copied;
        Ok(Some(copied))
    }

    fn add_manifest(&mut self) -> Result<(), ArchiveError> {
        let manifest = Manifest {
            version: FORMAT,
            program: self.request.program.to_owned(),
            created_at: self.request.at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            profile: self.request.profile.to_owned(),
            databases: self.packed.databases.clone(),
        };
        let output = self.request.output;
        let text = serde_json::to_vec_pretty(&manifest)
            .map_err(|error| ArchiveError::file(output)(error.into()))?;
        let options = SimpleFileOptions::default()
            .unix_permissions(0o600)
            .last_modified_time(zip_time(self.request.at, self.request.zone).unwrap_or_default());
        self.zip
            .start_file(MANIFEST_NAME, options)
            .map_err(|source| self.request.failed(source))?;
        self.zip
            .write_all(&text)
            .map_err(ArchiveError::file(output))
    }

    fn tell(&mut self, done: u64) {
        self.done.done = done.min(self.done.total);
        (self.progress)(self.done);
    }
}

fn options(found: &fs::Metadata, zone: &TimeZone) -> SimpleFileOptions {
    let modified = found.modified().ok();
    let modified = modified.and_then(|time| Timestamp::try_from(time).ok());
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .unix_permissions(found.permissions().mode() & 0o777)
        .large_file(found.len() >= LARGE);
    match modified.and_then(|moment| zip_time(moment, zone)) {
        Some(time) => options.last_modified_time(time),
        None => options,
    }
}

/// Zip files know local times with two seconds' precision, from 1980 on.
fn zip_time(moment: Timestamp, zone: &TimeZone) -> Option<zip::DateTime> {
    let local = moment.to_zoned(zone.clone());
    let small = |value: i8| u8::try_from(value).ok();
    zip::DateTime::from_date_and_time(
        u16::try_from(local.year()).ok()?,
        small(local.month())?,
        small(local.day())?,
        small(local.hour())?,
        small(local.minute())?,
        small(local.second())?,
    )
    .ok()
}
