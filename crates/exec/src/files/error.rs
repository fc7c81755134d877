//! Why a file was not read or changed.

use std::io;
use std::path::{Path, PathBuf};

use crate::ExecError;

/// Why something could not be done with a file. Unless it says otherwise nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum FilesError {
    /// There is nothing at the path.
    #[error("{} does not exist", .0.display())]
    Missing(PathBuf),
    /// It is a directory where a file is needed.
    #[error("{} is a directory", .0.display())]
    Directory(PathBuf),
    /// It is a device, a pipe or a socket.
    #[error("{} is not a plain file", .0.display())]
    NotPlain(PathBuf),
    /// Its links lead back to themselves.
    #[error("{} goes round in circles of symbolic links", .0.display())]
    Circle(PathBuf),
    /// It is larger than what is taken.
    #[error("{} is larger than {limit} bytes", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The most that is taken.
        limit: u64,
    },
    /// There is something at the path already.
    #[error("{} already exists", .0.display())]
    Exists(PathBuf),
    /// It is not in the state the writer saw it in.
    #[error("{} was changed by somebody else meanwhile; read it again", .0.display())]
    Changed(PathBuf),
    /// It has several names.
    #[error(
        "{} has other names (hard links), which would keep the old content; replace it through the terminal if \
         that is meant",
        .0.display()
    )]
    HardLinked(PathBuf),
    /// It cannot be replaced by a file of the same owner.
    #[error("{} belongs to somebody else, and replacing it would make it ours", .0.display())]
    ForeignOwner(PathBuf),
    /// What should be a directory above it is a file.
    #[error("{} cannot be made: something above it is a file and no directory", .0.display())]
    BelowFile(PathBuf),
    /// It may not be read or changed.
    #[error("no permission for {}", .0.display())]
    Denied(PathBuf),
    /// There is no room for it.
    #[error("there is no space left for {}", .0.display())]
    Full(PathBuf),
    /// The content did not arrive whole.
    #[error("the content of {} did not arrive whole; nothing was changed", .0.display())]
    Short(PathBuf),
    /// The path cannot be written down as text.
    #[error("{} cannot be used as a path there", .0.display())]
    Path(PathBuf),
    /// It was written, and holds something else.
    #[error("{} does not hold what was written to it", .0.display())]
    Differs(PathBuf),
    /// It is not known whether the change was made: the connection ended before the answer came.
    #[error("the connection ended before {} was known to be changed: {cause}", path.display())]
    Unknown {
        /// The first file of the change.
        path: PathBuf,
        /// What happened.
        cause: String,
    },
    /// The place did not answer, or not in a way that can be understood.
    #[error("no answer about {}: {cause}", path.display())]
    NoAnswer {
        /// The file.
        path: PathBuf,
        /// What happened.
        cause: String,
    },
    /// More was to be changed at once than can be.
    #[error("at most {0} files can be changed at once")]
    TooMany(usize),
    /// What was to be searched for makes no sense.
    #[error("{0}")]
    Pattern(String),
    /// The caller stopped it.
    #[error("stopped")]
    Stopped,
    /// Reading or writing failed.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// The place cannot be reached.
    #[error(transparent)]
    Exec(#[from] ExecError),
}

impl FilesError {
    /// What a failure of the system means.
    pub(crate) fn new(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        // Too many levels of symbolic links has no stable kind.
        const LOOP: [i32; 2] = [40, 62];
        match source.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Self::Missing(path),
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                Self::Denied(path)
            }
            io::ErrorKind::StorageFull
            | io::ErrorKind::QuotaExceeded
            | io::ErrorKind::FileTooLarge => Self::Full(path),
            io::ErrorKind::IsADirectory => Self::Directory(path),
            io::ErrorKind::AlreadyExists => Self::Exists(path),
            io::ErrorKind::Interrupted => Self::Stopped,
            _ if source
                .raw_os_error()
                .is_some_and(|code| LOOP.contains(&code)) =>
            {
                Self::Circle(path)
            }
            _ => Self::Io { path, source },
        }
    }
}
