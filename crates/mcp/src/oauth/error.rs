//! What can go wrong between us and those who give tokens.

use std::io;

use hermes_config::FileError;
use hermes_http::HttpError;

use crate::AuthError;

/// Why there is no token, or no login. No text holds a secret.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OAuthError {
    /// The exchange failed.
    #[error(transparent)]
    Http(#[from] HttpError),
    /// The authorization server said no.
    #[error("the authorization server answered `{code}`{}", explained(said))]
    Refused {
        /// The status.
        status: u16,
        /// Its code, such as `invalid_grant`.
        code: String,
        /// What it said besides.
        said: String,
    },
    /// An answer cannot be used.
    #[error("the answer has no usable `{0}`")]
    BadAnswer(&'static str),
    /// A server named an address that nothing secret may be sent to.
    #[error("{0} is neither https nor where the server itself is")]
    Unsafe(String),
    /// A document speaks for somebody else than it should.
    #[error("{what} is for `{found}`, not for `{expected}`")]
    Mismatch {
        /// Which document.
        what: &'static str,
        /// Whom it should speak for.
        expected: String,
        /// Whom it speaks for.
        found: String,
    },
    /// The server takes clients it knows only.
    #[error("the server registers no clients by itself; set oauth.client_id")]
    NoRegistration,
    /// The server cannot do what makes a login safe.
    #[error("the authorization server does not support PKCE with S256")]
    NoPkce,
    /// Only a person can help.
    #[error("{0}")]
    NeedsLogin(String),
    /// The person does not want to.
    #[error("the login was declined")]
    Declined,
    /// The person or the server said no in the browser.
    #[error("the login was refused: {0}")]
    Denied(String),
    /// Nobody came back from the browser.
    #[error("nobody signed in in time")]
    TimedOut,
    /// It was stopped.
    #[error("cancelled")]
    Cancelled,
    /// The port for the browser's way back cannot be had.
    #[error("port {port} on this machine cannot be opened")]
    Listen {
        /// The port.
        port: u16,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The key to sign with cannot be used.
    #[error("the private key cannot be used: {0}")]
    Key(String),
    /// A file said no.
    #[error(transparent)]
    File(#[from] FileError),
    /// Another process holds the lock and does not finish.
    #[error("another process is renewing the token and does not finish")]
    Busy,
    /// A settings problem.
    #[error("{0}")]
    Settings(&'static str),
    /// Work of ours was cut off.
    #[error("the work was cut off: {0}")]
    CutOff(String),
}

fn explained(said: &str) -> String {
    if said.is_empty() {
        String::new()
    } else {
        format!(" ({said})")
    }
}

impl OAuthError {
    /// Whether the same may succeed a little later.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Http(error) => error.is_transient(),
            Self::Refused { status, .. } => *status == 429 || *status >= 500,
            Self::Busy | Self::CutOff(_) => true,
            Self::BadAnswer(_)
            | Self::Unsafe(_)
            | Self::Mismatch { .. }
            | Self::NoRegistration
            | Self::NoPkce
            | Self::NeedsLogin(_)
            | Self::Declined
            | Self::Denied(_)
            | Self::TimedOut
            | Self::Cancelled
            | Self::Listen { .. }
            | Self::Key(_)
            | Self::File(_)
            | Self::Settings(_) => false,
        }
    }

    /// Whether the authorization server answered with this code.
    pub(super) fn is_refusal(&self, word: &str) -> bool {
        matches!(self, Self::Refused { code, .. } if code == word)
    }

    /// Whether the token endpoint does not know who we are: the code itself, or its word in what some
    /// servers say beside another one.
    pub(super) fn is_unknown_client(&self) -> bool {
        let Self::Refused { status, code, said } = self else {
            return false;
        };
        let words = |text: &str| {
            text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                .any(|word| word.eq_ignore_ascii_case("invalid_client"))
        };
        matches!(status, 400 | 401) && (words(code) || words(said))
    }
}

impl From<&OAuthError> for AuthError {
    fn from(error: &OAuthError) -> Self {
        let why = error.to_string();
        if error.is_transient() {
            Self::Later { why }
        } else {
            Self::NeedsLogin { why }
        }
    }
}
