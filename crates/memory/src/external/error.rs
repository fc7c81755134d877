//! How external memory fails, named by what the caller must do.

use hermes_http::HttpError;
use hermes_store::StoreError;

/// A failure.
#[derive(Debug, thiserror::Error)]
pub enum ProviderError {
    /// There is no external memory of this name.
    #[error("there is no external memory called {name}")]
    Unknown { name: String },
    /// Something it needs is missing or cannot be used.
    #[error("{provider} is not set up: {what}")]
    Setup {
        provider: &'static str,
        what: String,
    },
    /// The service does not accept the key.
    #[error("{provider} does not accept the key")]
    Key { provider: &'static str },
    /// It may work a little later.
    #[error("{provider} cannot be reached: {source}")]
    Unreachable {
        provider: &'static str,
        #[source]
        source: HttpError,
    },
    /// It took longer than we wait.
    #[error("{provider} did not answer in time")]
    Slow { provider: &'static str },
    /// Something else answers at its address.
    #[error("a web page answers in the place of {provider}")]
    Page { provider: &'static str },
    /// Asking again gives the same answer.
    #[error("{provider} turned the request down: {source}")]
    Rejected {
        provider: &'static str,
        #[source]
        source: HttpError,
    },
    /// A call of a tool cannot be understood; the model is told.
    #[error("{message}")]
    Arguments { message: String },
    /// Our own store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl ProviderError {
    /// Whether the same may work a little later.
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Unreachable { .. } | Self::Slow { .. } | Self::Store(_) => true,
            // Keys and addresses are changed by a person, and what waits should not be lost until then.
            Self::Key { .. } | Self::Page { .. } | Self::Setup { .. } | Self::Unknown { .. } => {
                true
            }
            Self::Rejected { .. } | Self::Arguments { .. } => false,
        }
    }

    /// Whether the service may have acted on the request all the same.
    pub fn leaves_doubt(&self) -> bool {
        match self {
            Self::Slow { .. } => true,
            Self::Unreachable { source, .. } => match source {
                HttpError::Timeout { .. } | HttpError::Interrupted { .. } => true,
                HttpError::Status(answer) => answer.status.as_u16() != 429,
                _ => false,
            },
            _ => false,
        }
    }

    /// The next step.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Unknown { .. } => "hermes memory setup lists those there are",
            Self::Setup { .. } | Self::Key { .. } => "hermes memory setup asks for what it needs",
            Self::Unreachable { .. } | Self::Slow { .. } => {
                "what it should learn waits on disk; hermes memory status says how much"
            }
            Self::Page { .. } | Self::Rejected { .. } => {
                "check the address in its settings; hermes logs has the details"
            }
            Self::Arguments { .. } => "the schema of the tool says what it takes",
            Self::Store(_) => "hermes doctor looks at the database",
        }
    }
}
