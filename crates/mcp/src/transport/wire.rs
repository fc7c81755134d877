//! What can go wrong on the way, with everything that tells it apart.

use std::time::Duration;

use hermes_http::HttpError;
use hermes_secrets::Secret;

use crate::AuthError;

/// Why a request did not get an answer of the protocol.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WireError {
    /// Nobody answered, or not to the end.
    #[error(transparent)]
    Http(#[from] HttpError),
    /// We did not wait any longer.
    #[error("no answer within {} s", after.as_secs_f32())]
    Silent { after: Duration },
    /// A status that is a failure.
    #[error("HTTP {status}: {body}")]
    Status { status: u16, body: String },
    /// The server does not let us in.
    #[error("the server refused the request with HTTP {status}")]
    Refused {
        status: u16,
        token: Option<Secret>,
        challenge: Option<String>,
    },
    /// There is nothing to show to the server.
    #[error(transparent)]
    NoToken(#[from] AuthError),
    /// The answer is of another kind.
    #[error("unexpected content type {found:?}")]
    NotMcp { found: Option<String> },
    /// The answer cannot be read.
    #[error("{0}")]
    Malformed(String),
    /// The stream answers come on is over.
    #[error("the event stream is closed")]
    Closed,
}
