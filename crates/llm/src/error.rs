//! How a model call can fail.

mod vendor;

pub(crate) use vendor::WEB_PAGE;

use std::time::Duration;

use hermes_http::HttpError;
use http::StatusCode;

use crate::classify::Reason;
use crate::wire::WireError;

/// A failure a provider reported, in or instead of an answer.
#[derive(Debug, Clone, PartialEq, Default, thiserror::Error)]
#[error("{}", words(.status, .message))]
pub struct VendorError {
    /// The HTTP status, when the failure came instead of an answer.
    pub status: Option<u16>,
    /// The provider's code or type, such as `rate_limit_exceeded`.
    pub code: Option<String>,
    /// What it said; for aggregators the inner provider's words follow.
    pub message: String,
    /// How long it asks to wait.
    pub retry_after: Option<Duration>,
    /// The provider's name for the request, for its support.
    pub request_id: Option<String>,
}

/// What was said, or that nothing was.
fn words(status: &Option<u16>, message: &str) -> String {
    if !message.trim().is_empty() {
        return message.to_owned();
    }
    let status = status.and_then(|status| StatusCode::from_u16(status).ok());
    match status.and_then(|status| status.canonical_reason()) {
        Some(name) => format!("{name}, without a further word"),
        None => "the provider reported a failure without saying which".to_owned(),
    }
}

/// Why a model call did not give an answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The provider said no.
    #[error(transparent)]
    Vendor(#[from] VendorError),
    /// The exchange failed before or while the answer came.
    #[error(transparent)]
    Http(HttpError),
    /// The answer came but cannot be used.
    #[error(transparent)]
    Wire(WireError),
    /// Nobody was asked: what it takes to ask is not there.
    #[error("{message}")]
    Unasked {
        /// What that comes to for the call, as if somebody had refused.
        reason: Reason,
        /// What is missing, and what to do about it.
        message: String,
        /// When it will be there.
        retry_after: Option<Duration>,
    },
    /// The model inside this process failed.
    #[error("{0}")]
    Embedded(String),
    /// The answer stalled: no event for this long.
    #[error("no answer for {} s", .0.as_secs())]
    Stalled(Duration),
    /// The provider went silent so often that it is not asked any more.
    #[error(
        "it went silent {0} times in a row and is not asked again until another model is chosen or a new session begins"
    )]
    GivenUp(u32),
    /// The caller stopped it.
    #[error("cancelled")]
    Cancelled,
}

impl From<WireError> for ModelError {
    fn from(error: WireError) -> Self {
        match error {
            WireError::Vendor(vendor) => Self::Vendor(vendor),
            other => Self::Wire(other),
        }
    }
}
