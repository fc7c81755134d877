//! How backup and restore fail.

use std::io;
use std::path::{Path, PathBuf};

use crate::error::StoreError;

/// A failure to back up or restore. The home is as it was, unless `HalfRestored` says otherwise.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArchiveError {
    /// The file is no zip file, or is cut off or damaged.
    #[error("{} cannot be read as a backup", path.display())]
    Broken {
        path: PathBuf,
        #[source]
        source: zip::result::ZipError,
    },
    /// A zip file, but not of a home.
    #[error("{} is not a backup of a home", path.display())]
    NotABackup { path: PathBuf },
    /// The file was written by a newer Hermes.
    #[error("{} has backup format {found}, this program knows {known}", path.display())]
    TooNew {
        path: PathBuf,
        found: u32,
        known: u32,
    },
    /// An entry that no backup has and that could do harm.
    #[error("the backup holds {entry:?}, which {refusal}")]
    Refused { entry: String, refusal: Refusal },
    /// More than is taken from one archive.
    #[error("the backup goes over a limit: {0}")]
    TooMuch(Cap),
    /// A database in the archive is damaged.
    #[error("the database {entry} in the backup is damaged")]
    DamagedEntry { entry: String },
    /// A database that would be replaced is open in another program.
    #[error("{} is in use by another program", path.display())]
    InUse { path: PathBuf },
    /// Something in the home is not what the archive has in its place.
    #[error("{} is {obstacle}", path.display())]
    InTheWay { path: PathBuf, obstacle: Obstacle },
    /// Another backup or restore works on the same home.
    #[error("another backup or import is running in {}", home.display())]
    AlreadyRunning { home: PathBuf },
    /// A label that cannot be part of a directory's name.
    #[error("{label:?} cannot be a label")]
    BadLabel { label: String },
    /// Some files were replaced before this happened.
    #[error("{replaced} of {total} files were restored, then {} failed", path.display())]
    HalfRestored {
        path: PathBuf,
        replaced: usize,
        total: usize,
        #[source]
        source: io::Error,
    },
    /// A file could not be read or written.
    #[error("{} could not be read or written", path.display())]
    File {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    /// The zip file could not be written.
    #[error("{} could not be written", path.display())]
    Output {
        path: PathBuf,
        #[source]
        source: zip::result::ZipError,
    },
    /// A database could not be copied.
    #[error(transparent)]
    Database(#[from] StoreError),
}

/// What is wrong with an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("leads out of the home")]
    Outside,
    #[error("has a name that cannot be restored")]
    BadName,
    #[error("is a link")]
    Link,
    #[error("is a device or another special file")]
    Special,
    #[error("is there twice")]
    Duplicate,
    #[error("is a file and a directory at once")]
    FileAndDirectory,
    #[error("is encrypted")]
    Encrypted,
    #[error("is not as long as it says")]
    WrongSize,
    #[error("shares bytes with another entry")]
    Overlap,
}

/// What stands where something is to be restored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Obstacle {
    /// Restored files could end up anywhere.
    #[error("a link, and files would be restored through it")]
    Link,
    #[error("a file where the backup has a directory")]
    File,
    #[error("a directory where the backup has a file")]
    Directory,
}

/// Limits of an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Cap {
    #[error("at most {most} files, not {found}")]
    Entries { most: u64, found: u64 },
    #[error("at most {most} bytes unpacked, not {found}")]
    Bytes { most: u64, found: u64 },
    #[error("it unpacks to over {most} times its size")]
    Ratio { most: u64 },
}

impl ArchiveError {
    /// The next step, when there is one.
    pub fn hint(&self) -> Option<String> {
        let text = match self {
            Self::Broken { .. } => {
                "the file may be cut off; copy it again, or use another backup; nothing was changed"
            }
            Self::NotABackup { .. } => {
                "a backup holds config.yaml, .env, state.db or hermes.db at its top"
            }
            Self::TooNew { .. } => "update hermes, or use the version that wrote it",
            Self::Refused { .. } | Self::TooMuch(_) => {
                "only import files that hermes backup wrote; nothing was changed"
            }
            Self::DamagedEntry { .. } => "use another backup; nothing was changed",
            Self::InUse { .. } => "stop the gateway and other hermes programs, then try again",
            Self::InTheWay { .. } => "move it away and try again; nothing was changed",
            Self::AlreadyRunning { .. } => "wait until it is done",
            Self::BadLabel { .. } => {
                "use letters, digits, - _ and ., starting with a letter or digit, at most 40"
            }
            Self::HalfRestored { .. } => "run the same import again with --force",
            Self::File { source, .. } if source.kind() == io::ErrorKind::StorageFull => {
                "free some space; nothing was changed"
            }
            Self::Output { .. } | Self::File { .. } => "check the path and the space left",
            Self::Database(error) => return error.hint(),
        };
        Some(text.to_owned())
    }

    pub(super) fn file(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { path, source }
    }

    pub(super) fn broken(path: &Path) -> impl FnOnce(zip::result::ZipError) -> Self {
        let path = path.to_owned();
        move |source| Self::Broken { path, source }
    }

    pub(super) fn refused(entry: &str, refusal: Refusal) -> Self {
        Self::Refused {
            entry: entry.to_owned(),
            refusal,
        }
    }
}
