//! Reading and writing where commands run.
//!
//! On this machine that is plain file access; anywhere else each call is one command with the request in its
//! words and the bytes on its input or output, so nothing of a file's size is ever held in memory.

mod framed;
mod native;

use std::path::{Path, PathBuf};

use futures_core::future::BoxFuture;
use tokio::io::AsyncRead;

use crate::ExecError;
pub use framed::FramedFiles;
pub use native::NativeFiles;

/// What is at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// A file.
    File,
    /// A directory.
    Directory,
    /// A link; only in lists, everything else follows links.
    Link,
    /// A device, a pipe, a socket.
    Other,
}

/// What is known about a file without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileStat {
    /// What it is.
    pub kind: FileKind,
    /// Its size in bytes.
    pub size: u64,
    /// Its permissions, such as `0o644`.
    pub mode: u32,
    /// When it was last changed, in seconds since 1970.
    pub modified_at: i64,
    /// How many names it has; writing a file with several leaves the others with the old content.
    pub links: u64,
}

/// One entry of a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEntry {
    /// Its name.
    pub name: PathBuf,
    /// What it is; links are not followed.
    pub stat: FileStat,
}

/// The SHA-256 of a file's content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileHash(pub [u8; 32]);

impl FileHash {
    /// Reads the 64 hexadecimal digits.
    pub fn parse(text: &str) -> Option<Self> {
        let mut bytes = [0; 32];
        if text.len() != 64 || !text.is_ascii() {
            return None;
        }
        for (index, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(text.get(index * 2..index * 2 + 2)?, 16).ok()?;
        }
        Some(Self(bytes))
    }
}

impl std::fmt::Display for FileHash {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0
            .iter()
            .try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}

/// What has to be there for a write to happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expect {
    /// Anything or nothing.
    Anything,
    /// Nothing.
    Absent,
    /// A file with this content.
    Content(FileHash),
}

/// A part of a file that is being read.
pub struct FileReader {
    /// What it was when it was opened.
    pub stat: FileStat,
    /// The bytes asked for, fewer if the file ends before.
    pub bytes: Box<dyn AsyncRead + Send + Unpin>,
}

/// What a file is to hold.
pub struct Content {
    /// How many bytes follow; a source that ends before leaves the file as it was.
    pub size: u64,
    /// The bytes.
    pub bytes: Box<dyn AsyncRead + Send + Unpin>,
}

impl Content {
    /// Bytes from memory.
    pub fn of(bytes: impl Into<Vec<u8>>) -> Self {
        let bytes = bytes.into();
        Self {
            size: bytes.len() as u64,
            bytes: Box::new(std::io::Cursor::new(bytes)),
        }
    }
}

/// Why something could not be done with a file.
#[derive(Debug, thiserror::Error)]
pub enum FilesError {
    /// There is nothing at the path.
    #[error("{0} is not there")]
    Missing(PathBuf),
    /// There is something at the path already.
    #[error("{0} is there already")]
    Exists(PathBuf),
    /// It is a directory where a file is needed, or the other way round.
    #[error("{0} is not the kind of file that is needed")]
    Kind(PathBuf),
    /// It may not be read or changed.
    #[error("{0} may not be used")]
    Denied(PathBuf),
    /// It does not hold what the writer last saw; read it again.
    #[error("{0} has changed since it was read")]
    Changed(PathBuf),
    /// The content ended before its size; nothing was changed.
    #[error("the content for {0} ended too soon")]
    Short(PathBuf),
    /// The path cannot be written down as text.
    #[error("{0} cannot be used as a path here")]
    Path(PathBuf),
    /// Reading or writing failed.
    #[error("{what}: {source}")]
    Io {
        /// What was tried.
        what: String,
        /// Why it failed.
        source: std::io::Error,
    },
    /// The place cannot be reached.
    #[error(transparent)]
    Exec(#[from] ExecError),
}

/// Reads and writes files in one place. Paths are absolute there.
///
/// Tools call it for every file they touch. A call that is dropped is given up: it leaves either the old or
/// the new content, never a part of one.
pub trait Files: Send + Sync {
    /// What is at the path; links are followed.
    fn stat<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, Result<FileStat, FilesError>>;

    /// Up to `limit` bytes from `offset` on.
    fn read<'a>(
        &'a self,
        path: &'a Path,
        offset: u64,
        limit: u64,
    ) -> BoxFuture<'a, Result<FileReader, FilesError>>;

    /// The hash of the whole content.
    fn hash<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, Result<FileHash, FilesError>>;

    /// Replaces the content at once, if `expect` holds. Permissions and owner stay, links are followed, missing
    /// directories are made. Returns the hash of what was written.
    fn write<'a>(
        &'a self,
        path: &'a Path,
        content: Content,
        expect: Expect,
    ) -> BoxFuture<'a, Result<FileHash, FilesError>>;

    /// The entries of a directory, in the order of their names, at most `limit` of them.
    fn list<'a>(
        &'a self,
        path: &'a Path,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<FileEntry>, FilesError>>;

    /// Removes a file, a link or an empty directory.
    fn remove<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, Result<(), FilesError>>;

    /// Moves something to a path where nothing is.
    fn rename<'a>(&'a self, from: &'a Path, to: &'a Path) -> BoxFuture<'a, Result<(), FilesError>>;
}
