//! Reading, changing and searching files where commands run.
//!
//! On this machine that is plain file access; anywhere else each call is one command with the request in its
//! words and the bytes on its input or output. The file tools know only this seam, so they do the same
//! everywhere.

mod error;
mod framed;
mod native;
mod search;

use std::path::{Path, PathBuf};

use futures_core::future::BoxFuture;
use tokio_util::sync::CancellationToken;

pub use error::FilesError;
pub use framed::FramedFiles;
pub use native::NativeFiles;
pub use search::{FoundFile, FoundLine, Search, SearchFor, SearchFound, SearchedBy};

/// How much of a file is looked at to tell what it is.
pub(crate) const HEAD: usize = 8_192;
/// Most files of one change.
pub(crate) const MOST_EDITS: usize = 500;

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
    /// Its permissions, such as `0o644`.
    pub mode: u32,
    /// How many names it has; replacing a file with several leaves the others with the old content.
    pub links: u64,
    /// Tells one state of it from another.
    pub stamp: FileStamp,
}

/// Tells one state of a file from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileStamp {
    /// Its size in bytes.
    pub size: u64,
    /// When it was last changed, in seconds since 1970.
    pub modified_at: i64,
    /// The part of a second after that, where it is known.
    pub nanoseconds: u32,
    /// Its number in the file system.
    pub inode: u64,
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

impl std::fmt::Display for FileHash {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0
            .iter()
            .try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}

/// Where a path leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located {
    /// Behind all links; its last parts may not exist yet.
    pub real: PathBuf,
    /// The path asked for and each link's target on the way.
    pub hops: Vec<PathBuf>,
    /// What is there, links followed; none when nothing is.
    pub stat: Option<FileStat>,
    /// The home directory there, when that is not this machine.
    pub home: Option<PathBuf>,
}

/// Which lines of a file are wanted.
#[derive(Debug, Clone, Copy)]
pub struct LineWindow {
    /// The first one, from 1.
    pub first: usize,
    /// How many.
    pub count: usize,
    /// Most bytes of each.
    pub keep: usize,
    /// Whether a file that begins like this has lines worth counting.
    pub is_text: fn(&[u8]) -> bool,
}

/// Lines of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lines {
    /// What the file was like.
    pub stat: FileStat,
    /// How it begins.
    pub head: Vec<u8>,
    /// The lines that were wanted; none of a file that is no text.
    pub lines: Vec<Line>,
    /// How many lines there are altogether.
    pub total: usize,
}

/// One line without its break.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Its beginning.
    pub bytes: Vec<u8>,
    /// How long all of it is.
    pub length: usize,
}

/// The state of a file that a change starts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileState {
    /// What it looked like.
    pub stamp: FileStamp,
    /// What it held, where looks are not reliable enough.
    pub(crate) hash: Option<FileHash>,
}

/// A whole file.
#[derive(Debug)]
pub struct Loaded {
    /// All of it.
    pub bytes: Vec<u8>,
    /// The state it was in.
    pub state: FileState,
}

/// A change of one file. Paths must be `Located::real`: a link here is replaced, not followed.
#[derive(Debug, Clone)]
pub enum Edit {
    /// Makes a file where none is; missing directories are made.
    Create {
        /// Where.
        path: PathBuf,
        /// What it holds.
        bytes: Vec<u8>,
        /// A file whose permissions it gets.
        like: Option<PathBuf>,
    },
    /// Replaces a file that is still in this state. Owner and permissions stay.
    Replace {
        /// Which one.
        path: PathBuf,
        /// What it is to hold.
        bytes: Vec<u8>,
        /// The state.
        state: FileState,
    },
    /// Removes a file that is still in this state.
    Remove {
        /// Which one.
        path: PathBuf,
        /// The state.
        state: FileState,
    },
}

impl Edit {
    /// The file.
    pub fn path(&self) -> &Path {
        match self {
            Self::Create { path, .. } | Self::Replace { path, .. } | Self::Remove { path, .. } => {
                path
            }
        }
    }
}

/// What a change did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Applied {
    /// Directories had to be made.
    pub made_directories: bool,
    /// What each file looks like now, in the order of the edits; none for those that were removed.
    pub stamps: Vec<Option<FileStamp>>,
}

/// Reads, changes and searches files in one place. Paths are absolute there unless it says otherwise.
///
/// Tools call it for every file they touch, possibly several calls at once. A call that is dropped is given
/// up: a change then happened wholly or not at all.
pub trait Files: Send + Sync {
    /// Where a path leads: absolute, with `~`, or from `directory` on, which may begin with `~` too.
    fn locate<'a>(
        &'a self,
        directory: &'a Path,
        path: &'a str,
    ) -> BoxFuture<'a, Result<Located, FilesError>>;

    /// What is at the path; links are followed.
    fn stat<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, Result<FileStat, FilesError>>;

    /// Some lines of a plain file, and how many there are.
    fn lines<'a>(
        &'a self,
        path: &'a Path,
        window: LineWindow,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Lines, FilesError>>;

    /// A whole plain file of at most `limit` bytes.
    fn load<'a>(&'a self, path: &'a Path, limit: u64) -> BoxFuture<'a, Result<Loaded, FilesError>>;

    /// The entries of a directory, in the order of their names, at most `limit` of them.
    fn list<'a>(
        &'a self,
        path: &'a Path,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<FileEntry>, FilesError>>;

    /// Makes all the changes or, if one of them cannot be made, none.
    fn apply(&self, edits: Vec<Edit>) -> BoxFuture<'_, Result<Applied, FilesError>>;

    /// Finds lines or files. Ended by its time limit it returns what it has.
    fn search(&self, search: Search) -> BoxFuture<'_, Result<SearchFound, FilesError>>;
}
