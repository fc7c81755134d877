//! How the built-in model can fail.

use std::io;
use std::path::{Path, PathBuf};

/// Why a model file could not be used or an answer not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LocalError {
    /// The file cannot be read or written.
    #[error("cannot use {}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file is something else.
    #[error("{} is not a GGUF model file", .0.display())]
    NotGguf(PathBuf),
    /// The file is cut short or contradicts itself.
    #[error("{} is damaged: {detail}; get it again", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        detail: String,
    },
    /// The file is sound but needs something the engine does not have.
    #[error("{} cannot run here: {needs}", path.display())]
    Unsupported {
        /// The file.
        path: PathBuf,
        /// What it would need, and what there is.
        needs: String,
    },
    /// The file's chat template refuses the conversation.
    #[error("the model's chat template cannot be used: {0}")]
    Template(String),
    /// Even the system prompt and the last message alone do not fit.
    #[error("the message has {tokens} tokens, the model reads at most {window}: shorten it")]
    TooLong {
        /// Tokens of the shortest possible prompt.
        tokens: usize,
        /// What fits.
        window: usize,
    },
    /// More answers are waiting than the engine queues.
    #[error("the built-in model is busy: {0} answers are waiting already")]
    Busy(usize),
    /// The caller stopped it.
    #[error("cancelled")]
    Cancelled,
    /// The engine's thread has ended.
    #[error("the built-in model has stopped")]
    Stopped,
    /// The arithmetic failed.
    #[error("the built-in model failed: {}", first_line(.0))]
    Compute(#[from] candle_core::Error),
}

impl LocalError {
    pub(crate) fn file(path: &Path, source: io::Error) -> Self {
        Self::File {
            path: path.to_owned(),
            source,
        }
    }

    pub(crate) fn damaged(path: &Path, detail: impl ToString) -> Self {
        Self::Damaged {
            path: path.to_owned(),
            detail: first_line(&detail),
        }
    }

    pub(crate) fn unsupported(path: &Path, needs: impl Into<String>) -> Self {
        Self::Unsupported {
            path: path.to_owned(),
            needs: needs.into(),
        }
    }
}

/// The library may add a stack trace below the first line.
fn first_line(detail: &impl ToString) -> String {
    let detail = detail.to_string();
    detail.lines().next().unwrap_or_default().trim().to_owned()
}
