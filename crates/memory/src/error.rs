//! How remembering fails, named by what the caller must do.

use std::io;
use std::path::PathBuf;

use hermes_config::FileError;
use hermes_store::StoreError;

use crate::change::Refusal;
use crate::memory::Contents;
use crate::target::Target;

/// A failure.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    /// The operations cannot be carried out; these are the entries there are.
    #[error("{refusal}")]
    Refused {
        refusal: Refusal,
        contents: Box<Contents>,
    },
    /// Something else edited the file in a way that writing it again would lose.
    #[error("{} was edited outside and is left as it is", path.display())]
    Drifted {
        path: PathBuf,
        target: Target,
        /// A copy of it.
        backup: PathBuf,
    },
    /// Another process kept the file for longer than we wait.
    #[error("{} is being changed by another process", path.display())]
    Busy { path: PathBuf },
    /// The file was replaced each time before we could.
    #[error("{} changes faster than it can be written", path.display())]
    Contested { path: PathBuf },
    /// A file could not be read or locked.
    #[error(transparent)]
    File(#[from] FileError),
    /// A file could not be written.
    #[error("{} cannot be written", path.display())]
    Write {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    /// The change could not be written down, so it was not made.
    #[error("the change could not be noted and was not made")]
    Journal(#[from] StoreError),
    /// There is no such change of memory.
    #[error("there is no change {id} of memory")]
    NoSuchChange { id: i64 },
    /// Nothing was changed yet, or everything was taken back.
    #[error("there is nothing to take back")]
    NothingToUndo,
    /// It was taken back before.
    #[error("change {id} was taken back already")]
    UndoneAlready { id: i64 },
    /// What it brought was changed again since.
    #[error("what change {id} wrote was changed again since")]
    Overtaken { id: i64 },
    /// What it took away held a secret, which is masked in the journal.
    #[error("what change {id} took away held a secret, which the log does not keep")]
    Masked { id: i64 },
}

impl MemoryError {
    /// The next step.
    pub fn hint(&self) -> String {
        match self {
            Self::Refused { contents, .. } => format!(
                "hermes memory list --target {} shows what is there",
                contents.target.word()
            ),
            Self::Drifted { target, backup, .. } => format!(
                "a copy is in {}; look at the file, then hermes memory tidy {} takes it over as it is",
                backup.display(),
                target.word()
            ),
            Self::Busy { .. } | Self::Contested { .. } => "try again in a moment".to_owned(),
            Self::File(error) => error.hint().to_owned(),
            Self::Write { .. } => {
                "check where the file leads if it is a link, its owner and the space left; it was left as it was".to_owned()
            }
            Self::Journal(error) => error
                .hint()
                .unwrap_or_else(|| "try again in a moment".to_owned()),
            Self::NoSuchChange { .. } | Self::UndoneAlready { .. } | Self::NothingToUndo => {
                "hermes memory log lists the changes".to_owned()
            }
            Self::Overtaken { .. } => {
                "take the later change back first: hermes memory log lists them".to_owned()
            }
            Self::Masked { .. } => {
                "write it into the file by hand; hermes memory log shows the rest of it, and nothing was changed"
                    .to_owned()
            }
        }
    }
}
