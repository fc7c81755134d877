//! Why something could not be done to a profile.

use std::io;
use std::path::{Path, PathBuf};

use super::distribution::DistributionError;
use super::member::ArchiveError;
use super::wrapper::WrapperError;
use crate::files::FileError;
use crate::home::{ProfileName, ProfileNameError};
use crate::yaml::EditError;

/// Why something could not be done to a profile. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    #[error(transparent)]
    Name(#[from] ProfileNameError),
    #[error("there is no profile {profile}")]
    Missing { profile: ProfileName },
    #[error("profile {profile} is there already")]
    Exists { profile: ProfileName },
    #[error("the default profile cannot be {done}")]
    Default { done: &'static str },
    #[error("the gateway of profile {profile} is running as process {pid}")]
    GatewayRunning { profile: ProfileName, pid: i32 },
    #[error("{} cannot be read or written", path.display())]
    Disk {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("{} cannot be read or changed", path.display())]
    Yaml {
        path: PathBuf,
        #[source]
        source: EditError,
    },
    #[error("{} is there and is no archive", path.display())]
    NotAnArchive { path: PathBuf },
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    #[error(transparent)]
    Distribution(#[from] DistributionError),
    #[error(transparent)]
    Wrapper(#[from] WrapperError),
}

impl ProfileError {
    /// What the user can do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Name(error) => error.hint().to_owned(),
            Self::Missing { .. } => "hermes profile list shows the ones there are".to_owned(),
            Self::Exists { profile } => {
                format!("choose another name, or hermes profile delete {profile}")
            }
            Self::Default { .. } => "it is the root itself; name another profile".to_owned(),
            Self::GatewayRunning { profile, .. } => {
                format!("stop it first: hermes -p {profile} gateway stop")
            }
            Self::Disk { source, .. } => disk_hint(source).to_owned(),
            Self::Yaml { source, .. } => source.hint(),
            Self::NotAnArchive { .. } => "move it away, or choose another file with -o".to_owned(),
            Self::File(error) => error.hint().to_owned(),
            Self::Archive(error) => error.hint().to_owned(),
            Self::Distribution(error) => error.hint(),
            Self::Wrapper(error) => error.hint(),
        }
    }

    /// Makes an error of what went wrong with a path.
    pub(super) fn disk(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Disk {
            path: path.to_owned(),
            source,
        }
    }
}

fn disk_hint(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "free some space; nothing was changed"
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "check who owns it, and whether the disk is read-only; nothing was changed"
        }
        _ => "nothing was changed",
    }
}
