//! What the user should know about something that went well.

use std::fmt;
use std::path::PathBuf;

use super::wrapper::WrapperError;
use crate::value::KeyPath;

/// One thing that was done differently than the user may expect.
#[derive(Debug)]
pub enum Note {
    /// A link that leads out of the profile.
    LinkLeftOut { path: PathBuf },
    /// A socket, a pipe or a device.
    SpecialLeftOut { path: PathBuf },
    /// Something that belongs to this machine or this user.
    PrivateLeftOut { path: PathBuf },
    /// A secret that stood in `config.yaml`.
    SettingLeftOut { key: KeyPath },
    /// A file of the user that had the name of a new one.
    KeptAside { path: PathBuf, aside: PathBuf },
    /// The distribution was made for another version of Hermes.
    WrongVersion { wanted: String, ours: String },
    /// A wrapper that should be gone.
    WrapperStays { path: PathBuf },
    /// Everything is in place except for the wrapper.
    NoWrapper(WrapperError),
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LinkLeftOut { path } => {
                write!(f, "left out {}: a link out of the profile", path.display())
            }
            Self::SpecialLeftOut { path } => {
                write!(f, "left out {}: not a file", path.display())
            }
            Self::PrivateLeftOut { path } => write!(f, "left out {}", path.display()),
            Self::SettingLeftOut { key } => write!(f, "left out the secret {key} of config.yaml"),
            Self::KeptAside { path, aside } => {
                write!(f, "your {} is kept as {}", path.display(), aside.display())
            }
            Self::WrongVersion { wanted, ours } => {
                write!(f, "it asks for hermes {wanted}, this is {ours}")
            }
            Self::WrapperStays { path } => {
                write!(f, "{} could not be removed", path.display())
            }
            Self::NoWrapper(error) => write!(f, "no wrapper: {error}"),
        }
    }
}
