//! Why a file was not read or written.

use std::io;
use std::path::{Path, PathBuf};

/// Why a file was not read or written. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FileFault {
    #[error("{} does not exist", .0.display())]
    Missing(PathBuf),
    #[error("{} is a directory", .0.display())]
    Directory(PathBuf),
    #[error("{} is not a plain file", .0.display())]
    NotPlain(PathBuf),
    #[error("{} goes round in circles of symbolic links", .0.display())]
    Circle(PathBuf),
    #[error("{} is larger than {limit} bytes", path.display())]
    TooLarge { path: PathBuf, limit: u64 },
    #[error("{} already exists", .0.display())]
    Exists(PathBuf),
    #[error("{} was changed by somebody else meanwhile; read it again", .0.display())]
    Changed(PathBuf),
    #[error(
        "{} has other names (hard links), which would keep the old content; replace it through the terminal if \
         that is meant",
        .0.display()
    )]
    HardLinked(PathBuf),
    #[error("{} belongs to somebody else, and replacing it would make it ours", .0.display())]
    ForeignOwner(PathBuf),
    #[error("no permission for {}", .0.display())]
    Denied(PathBuf),
    #[error("there is no space left for {}", .0.display())]
    Full(PathBuf),
    #[error("stopped")]
    Stopped,
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
}

impl FileFault {
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
