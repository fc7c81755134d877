//! Why a command could not be started or followed.

use std::time::Duration;

/// Why a command could not be started or followed. How a command itself ended is never an error.
#[derive(Debug, thiserror::Error)]
pub enum ExecError {
    /// The backend is not there: a missing program, an engine that does not answer, a wrong key.
    #[error("{backend} cannot be used: {cause}. {next}")]
    Unavailable {
        /// Which backend.
        backend: &'static str,
        /// What is wrong.
        cause: String,
        /// What to do about it.
        next: String,
    },
    /// The place the command ran in is gone; starting again makes a new one.
    #[error("the sandbox is gone: {0}")]
    Gone(String),
    /// Something took too long.
    #[error("{what} took more than {} s", limit.as_secs())]
    TimedOut {
        /// What.
        what: String,
        /// The limit.
        limit: Duration,
    },
    /// The caller stopped it.
    #[error("stopped")]
    Cancelled,
    /// The confinement asked for cannot be had here.
    #[error("the sandbox cannot be set up: {0}")]
    Confinement(String),
    /// Reading, writing or starting failed.
    #[error("{what}: {source}")]
    Io {
        /// What was tried.
        what: String,
        /// Why it failed.
        source: std::io::Error,
    },
}

impl ExecError {
    /// Nothing is heard any more from where the command ran.
    pub(crate) fn broke() -> Self {
        Self::Gone("the connection to it broke".to_owned())
    }
}
