//! Unpacking a profile that somebody packed.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use tar::{Archive, Entry, EntryType, PaxExtensions};

use super::copy::create_private;
use super::create::furnish;
use super::error::ProfileError;
use super::member::{ArchiveError, Kind, MemberFault, kind, parts};
use super::{Note, Profiles, private};
use crate::files;
use crate::home::{Home, ProfileName};

/// More entries are refused.
pub(super) const MOST_ARCHIVE_ENTRIES: usize = 100_000;
/// Archives that unpack to more bytes are refused.
pub(super) const LARGEST_ARCHIVE_TOTAL: u64 = 4 * 1024 * 1024 * 1024;
/// A single file may not be larger.
pub const LARGEST_ARCHIVE_FILE: u64 = 1024 * 1024 * 1024;
/// Long names and extended headers are read into memory.
const LARGEST_HEADER: u64 = 64 * 1024;
const RUN_BY_OWNER: u32 = 0o100;

/// A profile that was unpacked.
#[derive(Debug)]
pub struct Imported {
    pub home: Home,
    pub files: usize,
    pub notes: Vec<Note>,
}

/// What an unpacked profile is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Renamed {
    /// Like the directory in the archive.
    AsPacked,
    To(ProfileName),
}

impl Profiles {
    /// Unpacks an archive into a new profile, or leaves everything as it was.
    pub fn import(&self, archive: &Path, name: &Renamed) -> Result<Imported, ProfileError> {
        if let Renamed::To(name) = name {
            self.free_home(name)?;
        }
        let file = File::open(archive).map_err(ProfileError::disk(archive))?;
        let staging = self.staging()?;
        let mut unpacking = Unpacking {
            archive,
            target: staging.path(),
            entries: 0,
            bytes: 0,
            seen: HashSet::new(),
            files: HashSet::new(),
            roots: HashSet::new(),
            notes: Vec::new(),
        };
        unpacking.run(file)?;
        let root = unpacking.root()?;
        let name = match name {
            Renamed::To(name) => name.clone(),
            Renamed::AsPacked => ProfileName::for_creation(&root).map_err(|_| {
                let name = root.clone();
                ArchiveError::BadName { name }
            })?,
        };
        let home = self.free_home(&name)?;
        let staged = staging.path().join(&root);
        furnish(&staged)?;
        self.settle(&staged, &home)?;
        Ok(Imported {
            home,
            files: unpacking.files.len(),
            notes: unpacking.notes,
        })
    }
}

struct Unpacking<'a> {
    archive: &'a Path,
    target: &'a Path,
    entries: usize,
    bytes: u64,
    seen: HashSet<PathBuf>,
    files: HashSet<PathBuf>,
    roots: HashSet<String>,
    notes: Vec<Note>,
}

type Source = MultiGzDecoder<File>;

impl Unpacking<'_> {
    fn run(&mut self, file: File) -> Result<(), ProfileError> {
        let mut archive = Archive::new(MultiGzDecoder::new(file));
        // Raw, because the library would read extended headers of any size into memory.
        let entries = archive
            .entries()
            .map_err(|error| self.damaged(error))?
            .raw(true);
        let mut long_name = None;
        for entry in entries {
            let mut entry = entry.map_err(|error| self.damaged(error))?;
            self.entries += 1;
            if self.entries > MOST_ARCHIVE_ENTRIES {
                let limit = MOST_ARCHIVE_ENTRIES;
                return Err(ArchiveError::TooMany { limit }.into());
            }
            match entry.header().entry_type() {
                EntryType::GNULongName => long_name = Some(self.long_name(&mut entry)?),
                EntryType::XHeader => long_name = self.extended_name(&mut entry)?.or(long_name),
                // A comment of the program that packed it; a link that may follow is refused anyway.
                EntryType::XGlobalHeader | EntryType::GNULongLink => {
                    self.extended_name(&mut entry)?;
                }
                _ => {
                    let name = long_name.take();
                    let name = name.unwrap_or_else(|| entry.path_bytes().into_owned());
                    self.unpack(&mut entry, &name)?;
                }
            }
        }
        Ok(())
    }

    fn unpack(&mut self, entry: &mut Entry<'_, Source>, name: &[u8]) -> Result<(), ProfileError> {
        let refused = |fault| refused(name, fault);
        let kind = kind(entry.header().entry_type()).map_err(refused)?;
        let parts = parts(name).map_err(refused)?;
        let Some((root, inside)) = parts.split_first() else {
            return Ok(());
        };
        if kind == Kind::File && inside.is_empty() {
            return Err(ArchiveError::Roots { roots: 0 }.into());
        }
        self.roots.insert(root.clone());
        if self.roots.len() > 1 {
            let roots = self.roots.len();
            return Err(ArchiveError::Roots { roots }.into());
        }
        let relative: PathBuf = inside.iter().collect();
        let path: PathBuf = parts.iter().collect();
        let below_file = path
            .ancestors()
            .skip(1)
            .any(|above| self.files.contains(above));
        if !self.seen.insert(path.clone()) || below_file {
            return Err(refused(MemberFault::Twice));
        }
        if private::is_foreign_grant(&relative) {
            self.notes.push(Note::PrivateLeftOut { path: relative });
            return Ok(());
        }
        let target = self.target.join(&path);
        match kind {
            Kind::Directory => Ok(files::create_directory(&target)?),
            Kind::File => {
                self.files.insert(path);
                // A file of secrets is no program, whatever the archive says.
                let runs = entry.header().mode().unwrap_or(0) & RUN_BY_OWNER != 0;
                let runs = runs && !private::is_private_file(&relative);
                self.unpack_file(entry, name, &target, runs)
            }
        }
    }

    fn unpack_file(
        &mut self,
        entry: &mut Entry<'_, Source>,
        name: &[u8],
        target: &Path,
        runs: bool,
    ) -> Result<(), ProfileError> {
        let size = entry.size();
        if size > LARGEST_ARCHIVE_FILE {
            return Err(refused(name, MemberFault::TooLarge));
        }
        self.bytes = self.bytes.saturating_add(size);
        if self.bytes > LARGEST_ARCHIVE_TOTAL {
            let limit = LARGEST_ARCHIVE_TOTAL;
            return Err(ArchiveError::TooLarge { limit }.into());
        }
        if let Some(directory) = target.parent() {
            files::create_directory(directory)?;
        }
        if target.symlink_metadata().is_ok() {
            return Err(refused(name, MemberFault::Twice));
        }
        let mut file = create_private(target, runs)?;
        let mut buffer = vec![0; 64 * 1024];
        let mut left = size;
        while left > 0 {
            let read = entry
                .read(&mut buffer)
                .map_err(|error| self.damaged(error))?;
            let Some(bytes) = buffer.get(..read).filter(|bytes| !bytes.is_empty()) else {
                return Err(self.damaged(io::ErrorKind::UnexpectedEof.into()));
            };
            io::Write::write_all(&mut file, bytes).map_err(ProfileError::disk(target))?;
            left = left.saturating_sub(read as u64);
        }
        Ok(())
    }

    /// The one directory everything is in.
    fn root(&self) -> Result<String, ProfileError> {
        match self.roots.iter().next() {
            Some(root) if self.target.join(root).is_dir() => Ok(root.clone()),
            _ => Err(ArchiveError::Roots { roots: 0 }.into()),
        }
    }

    fn long_name(&self, entry: &mut Entry<'_, Source>) -> Result<Vec<u8>, ProfileError> {
        let mut name = self.header(entry)?;
        while name.last() == Some(&0) {
            name.pop();
        }
        Ok(name)
    }

    /// The path an extended header gives to the next member. One that changes a size is refused: it would
    /// make two readers see two different archives.
    fn extended_name(
        &self,
        entry: &mut Entry<'_, Source>,
    ) -> Result<Option<Vec<u8>>, ProfileError> {
        let is_link = entry.header().entry_type() == EntryType::GNULongLink;
        let is_global = entry.header().entry_type() == EntryType::XGlobalHeader;
        let text = self.header(entry)?;
        let mut path = None;
        if is_link {
            return Ok(path);
        }
        for extension in PaxExtensions::new(&text) {
            let extension = extension.map_err(|error| self.damaged(error))?;
            let key = extension.key_bytes();
            if key == b"path" && !is_global {
                path = Some(extension.value_bytes().to_vec());
            } else if key == b"size" || key == b"path" || key.starts_with(b"GNU.sparse") {
                return Err(refused(extension.value_bytes(), MemberFault::Special));
            }
        }
        Ok(path)
    }

    fn header(&self, entry: &mut Entry<'_, Source>) -> Result<Vec<u8>, ProfileError> {
        if entry.size() > LARGEST_HEADER {
            return Err(refused(&entry.path_bytes(), MemberFault::Unreadable));
        }
        let mut bytes = Vec::new();
        entry
            .take(LARGEST_HEADER)
            .read_to_end(&mut bytes)
            .map_err(|error| self.damaged(error))?;
        Ok(bytes)
    }

    fn damaged(&self, source: io::Error) -> ProfileError {
        let path = self.archive.to_owned();
        ArchiveError::Damaged { path, source }.into()
    }
}

fn refused(name: &[u8], fault: MemberFault) -> ProfileError {
    let name = String::from_utf8_lossy(name);
    let member = name.chars().take(80).flat_map(char::escape_debug).collect();
    ArchiveError::Member { member, fault }.into()
}
