//! Packing a profile without what must not leave the machine.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use tar::{Builder, EntryType, Header};

use super::copy::{children, create_private, is_program, open_plain};
use super::error::ProfileError;
use super::{Note, Profiles, config_secrets, private};
use crate::files;
use crate::home::{Home, ProfileName};

const GZIP: [u8; 2] = [0x1f, 0x8b];
const DIRECTORY_MODE: u32 = 0o700;
const PROGRAM_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;

/// An archive that was written.
#[derive(Debug)]
pub struct Exported {
    pub path: PathBuf,
    pub files: usize,
    pub notes: Vec<Note>,
}

impl Profiles {
    /// Packs a profile into a `.tar.gz`, replacing an older archive; a directory gets one named after the profile.
    pub fn export(&self, name: &ProfileName, target: &Path) -> Result<Exported, ProfileError> {
        let home = self.existing(name)?;
        let path = if target.is_dir() {
            target.join(format!("{name}.tar.gz"))
        } else {
            target.to_owned()
        };
        check_replaceable(&path)?;
        let file_name = path.file_name().unwrap_or_default().to_string_lossy();
        let temporary = path.with_file_name(format!(".{file_name}.{}.tmp", std::process::id()));
        let file = create_private(&temporary, false)?;
        let packed = pack(&home, file).and_then(|packing| {
            fs::rename(&temporary, &path).map_err(ProfileError::disk(&path))?;
            Ok(packing)
        });
        if packed.is_err() {
            // The first error is the one to report.
            let _ = fs::remove_file(&temporary);
        }
        packed.map(|(files, notes)| Exported { path, files, notes })
    }
}

/// An archive may be replaced by a newer one; anything else was not meant.
fn check_replaceable(path: &Path) -> Result<(), ProfileError> {
    let read = || {
        let mut start = [0; GZIP.len()];
        File::open(path)?.read_exact(&mut start)?;
        io::Result::Ok(start)
    };
    match read() {
        Ok(GZIP) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Ok(_) | Err(_) => Err(ProfileError::NotAnArchive {
            path: path.to_owned(),
        }),
    }
}

fn pack(home: &Home, file: File) -> Result<(usize, Vec<Note>), ProfileError> {
    let mut packing = Packing {
        archive: Builder::new(GzEncoder::new(file, Compression::default())),
        home,
        files: 0,
        notes: Vec::new(),
    };
    packing.directory(Path::new(""))?;
    let finish = |archive: Builder<GzEncoder<File>>| archive.into_inner()?.finish()?.sync_all();
    finish(packing.archive).map_err(ProfileError::disk(home.path()))?;
    Ok((packing.files, packing.notes))
}

struct Packing<'a> {
    archive: Builder<GzEncoder<File>>,
    home: &'a Home,
    files: usize,
    notes: Vec<Note>,
}

impl Packing<'_> {
    /// Adds a directory and what is in it, in the order of the names.
    fn directory(&mut self, start: &Path) -> Result<(), ProfileError> {
        let mut open = vec![start.to_owned()];
        while let Some(relative) = open.pop() {
            let path = self.home.path().join(&relative);
            let found = match fs::symlink_metadata(&path) {
                Ok(found) => found,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(ProfileError::disk(&path)(error)),
            };
            let is_top = relative.as_os_str().is_empty();
            if found.is_symlink() && !is_top {
                self.notes.push(Note::LinkLeftOut { path: relative });
            } else if path.is_dir() {
                if !is_top && private::is_private_directory(&relative, &path) {
                    self.notes.push(Note::PrivateLeftOut { path: relative });
                    continue;
                }
                self.add_directory(&relative, found.mtime())?;
                let names = children(&path)?.into_iter().rev();
                let is_default = self.home.profile().is_default();
                open.extend(
                    names
                        .map(|name| relative.join(name))
                        .filter(|child| !is_default || private::is_exported_by_default(child)),
                );
            } else if !found.is_file() {
                self.notes.push(Note::SpecialLeftOut { path: relative });
            } else if private::is_private_file(&relative) {
                self.notes.push(Note::PrivateLeftOut { path: relative });
            } else if relative == Path::new("config.yaml") {
                self.add_config(&path, found.mtime())?;
            } else {
                self.add_file(&relative)?;
            }
        }
        Ok(())
    }

    fn add_directory(&mut self, relative: &Path, mtime: i64) -> Result<(), ProfileError> {
        let mut header = header(EntryType::Directory, DIRECTORY_MODE, mtime);
        header.set_size(0);
        let name = self.name(relative);
        self.archive
            .append_data(&mut header, &name, io::empty())
            .map_err(ProfileError::disk(&name))
    }

    fn add_file(&mut self, relative: &Path) -> Result<(), ProfileError> {
        let (file, found) = open_plain(&self.home.path().join(relative))?;
        let mode = if is_program(&found) {
            PROGRAM_MODE
        } else {
            FILE_MODE
        };
        let reader = Exactly {
            inner: file,
            left: found.len(),
        };
        self.add(
            relative,
            header(EntryType::Regular, mode, found.mtime()),
            found.len(),
            reader,
        )
    }

    /// Adds `config.yaml` without the keys somebody wrote into it.
    fn add_config(&mut self, path: &Path, mtime: i64) -> Result<(), ProfileError> {
        let relative = Path::new("config.yaml");
        let bytes = files::read(path)?.unwrap_or_default();
        let Some((text, removed)) = config_secrets::without_secrets(&bytes) else {
            let path = relative.to_owned();
            self.notes.push(Note::PrivateLeftOut { path });
            return Ok(());
        };
        let removed = removed.into_iter().map(|key| Note::SettingLeftOut { key });
        self.notes.extend(removed);
        let header = header(EntryType::Regular, FILE_MODE, mtime);
        self.add(relative, header, text.len() as u64, text.as_bytes())
    }

    fn add(
        &mut self,
        relative: &Path,
        mut header: Header,
        size: u64,
        reader: impl Read,
    ) -> Result<(), ProfileError> {
        header.set_size(size);
        let name = self.name(relative);
        self.files += 1;
        self.archive
            .append_data(&mut header, &name, reader)
            .map_err(ProfileError::disk(&self.home.path().join(relative)))
    }

    fn name(&self, relative: &Path) -> PathBuf {
        Path::new(self.home.profile().as_str()).join(relative)
    }
}

/// Nothing about the user or the machine: no owner, no group.
fn header(kind: EntryType, mode: u32, mtime: i64) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_mtime(u64::try_from(mtime).unwrap_or(0));
    header.set_uid(0);
    header.set_gid(0);
    header
}

/// As many bytes as the header promised: a file that shrinks meanwhile would ruin the archive.
struct Exactly<R> {
    inner: R,
    left: u64,
}

impl<R: Read> Read for Exactly<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.left)
            .unwrap_or(usize::MAX)
            .min(buffer.len());
        let Some(buffer) = buffer.get_mut(..most).filter(|buffer| !buffer.is_empty()) else {
            return Ok(0);
        };
        let read = self.inner.read(buffer)?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.left -= read as u64;
        Ok(read)
    }
}
