//! How handling credentials can fail.

use std::sync::Arc;

use super::file::AuthFileError;

/// Why something could not be done with a credential.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// `auth.json` could not be read or written.
    #[error(transparent)]
    File(#[from] Arc<AuthFileError>),
    /// It is a plain key, or a login that came without the means to renew it.
    #[error("{label} cannot be renewed")]
    NotRenewable {
        /// Which credential.
        label: String,
    },
    /// The provider does not accept the login any more.
    #[error("the login {label} has ended: {why}; log in again with `hermes auth add {provider}`")]
    Ended {
        /// The provider.
        provider: String,
        /// Which credential.
        label: String,
        /// What the provider said.
        why: String,
    },
    /// It did not work this time.
    #[error("{label} could not be renewed: {why}")]
    Later {
        /// Which credential.
        label: String,
        /// What went wrong.
        why: String,
    },
    /// It could not be made out of what it is made from.
    #[error("{label} gives no credential: {why}")]
    NotMade {
        /// Which credential.
        label: String,
        /// What went wrong.
        why: String,
    },
    /// There is no such credential.
    #[error("{provider} has no credential {which}")]
    NoSuchEntry {
        /// The provider.
        provider: String,
        /// What was asked for.
        which: String,
    },
    /// More than one credential has that label.
    #[error("{provider} has several credentials called {which}; name one by its number")]
    Ambiguous {
        /// The provider.
        provider: String,
        /// What was asked for.
        which: String,
    },
    /// The credential is kept somewhere else and must be removed there.
    #[error("{label} is not kept in this profile; remove it where it is set: {place}")]
    KeptElsewhere {
        /// Which credential.
        label: String,
        /// Where it is.
        place: String,
    },
    /// The same secret is there already.
    #[error("{provider} has this credential already, as {label}")]
    Known {
        /// The provider.
        provider: String,
        /// What it is called there.
        label: String,
    },
}

impl From<AuthFileError> for KeyError {
    fn from(error: AuthFileError) -> Self {
        Self::File(Arc::new(error))
    }
}
