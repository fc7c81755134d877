//! What goes wrong on purpose.

use std::time::Duration;

use axum::body::Body;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream;

/// How something goes wrong.
#[derive(Debug, Clone, Copy)]
pub enum Trouble {
    /// This status and nothing else.
    Status(u16),
    /// Too many requests; come back after so many seconds.
    RateLimited(u64),
    /// GitHub's way of saying so: 403, and nothing left until an hour from now.
    UsedUp,
    /// The answer breaks off in the middle.
    Truncated,
    /// The answer comes late.
    Slow(Duration),
    /// The answer never ends.
    Endless,
}

/// What goes wrong with the next requests that concern something.
#[derive(Debug, Clone)]
pub struct HubFault {
    /// Part of the method and path.
    pub about: &'static str,
    /// What happens.
    pub trouble: Trouble,
    /// How often.
    pub times: usize,
}

/// The trouble of the next request.
pub(super) fn next(faults: &mut [HubFault], line: &str) -> Option<Trouble> {
    let fault = faults
        .iter_mut()
        .find(|fault| fault.times > 0 && line.contains(fault.about))?;
    fault.times -= 1;
    Some(fault.trouble)
}

impl Trouble {
    pub(super) async fn instead_of(self, real: Response) -> Response {
        match self {
            Self::Status(status) => StatusCode::from_u16(status)
                .unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
                .into_response(),
            Self::RateLimited(seconds) => {
                let wait = [(header::RETRY_AFTER, seconds.to_string())];
                (StatusCode::TOO_MANY_REQUESTS, wait, "slow down").into_response()
            }
            Self::UsedUp => {
                let later = std::time::UNIX_EPOCH
                    .elapsed()
                    .map_or(0, |since| since.as_secs() + 3600);
                let used_up = [
                    ("x-ratelimit-remaining", "0".to_owned()),
                    ("x-ratelimit-reset", later.to_string()),
                ];
                (StatusCode::FORBIDDEN, used_up, "rate limit exceeded").into_response()
            }
            Self::Truncated => {
                let (mut head, body) = real.into_parts();
                let bytes = axum::body::to_bytes(body, usize::MAX).await;
                let bytes = bytes.unwrap_or_default();
                head.headers
                    .insert(header::CONTENT_LENGTH, bytes.len().into());
                let half = bytes.slice(..bytes.len() / 2);
                let broken = stream::iter([Ok(half), Err(std::io::Error::other("broken off"))]);
                Response::from_parts(head, Body::from_stream(broken))
            }
            Self::Slow(wait) => {
                tokio::time::sleep(wait).await;
                real
            }
            Self::Endless => {
                let (mut head, _) = real.into_parts();
                head.headers.remove(header::CONTENT_LENGTH);
                let page = bytes::Bytes::from_static(&[b'a'; 64 * 1024]);
                let pages = stream::repeat_with(move || Ok::<_, std::io::Error>(page.clone()));
                Response::from_parts(head, Body::from_stream(pages))
            }
        }
    }
}
