//! How long a server asks us to wait.

use std::time::Duration;

use http::{HeaderMap, HeaderName};
use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;

const RETRY_AFTER_MS: HeaderName = HeaderName::from_static("retry-after-ms");

/// Reads `retry-after-ms`, then `retry-after` as seconds or as a date; a date in the past is no wait.
pub fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let text = |name| {
        headers
            .get(name)
            .and_then(|value| value.to_str().ok())
            .map(str::trim)
    };
    if let Some(wait) = text(RETRY_AFTER_MS).and_then(|ms| ms.parse::<f64>().ok()) {
        return Duration::try_from_secs_f64(wait / 1000.0).ok();
    }
    let value = text(http::header::RETRY_AFTER)?;
    if let Ok(seconds) = value.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let at = DateTimeParser::new().parse_timestamp(value).ok()?;
    Some(Duration::try_from(at.duration_since(now)).unwrap_or(Duration::ZERO))
}
