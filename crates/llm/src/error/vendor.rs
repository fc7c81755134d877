//! Reading the failures providers send, in all the shapes they have.

use std::time::Duration;

use hermes_core::without_halves;
use hermes_http::StatusError;
use http::HeaderMap;
use jiff::Timestamp;
use serde_json::Value as Json;

use super::VendorError;
use crate::classify::span;
use crate::keys;

/// Most characters of a body without any structure that are quoted.
const MOST_QUOTED: usize = 300;

/// What is said about a page for people where an answer was expected.
pub(crate) const WEB_PAGE: &str = "the server sent a web page instead of an answer: the base URL is \
                                   probably wrong, or a proxy stands in between";

impl VendorError {
    /// The failure in an answer whose status is not a success.
    pub fn from_status(error: &StatusError, now: Timestamp) -> Self {
        let mut found = Self::from_excerpt(error);
        found.retry_after = error
            .retry_after(now)
            .or(found.retry_after)
            .or_else(|| until_reset(error, now));
        found.request_id = request_id(&error.headers);
        if found.code.is_none() {
            // AWS names the exception in a header, with an address behind a colon.
            found.code = text_header(&error.headers, "x-amzn-errortype")
                .map(|name| name.split(':').next().unwrap_or(name).to_owned());
        }
        found
    }

    /// The same, without what the headers say.
    pub(crate) fn from_excerpt(error: &StatusError) -> Self {
        let found = match serde_json::from_str::<Json>(&without_halves(&error.excerpt)) {
            Ok(body) => Self::from_body(&body).unwrap_or_default(),
            Err(_) => Self::from_text(&error.excerpt),
        };
        Self {
            status: Some(error.status.as_u16()),
            ..found
        }
    }

    /// The failure in a JSON document, if it is one.
    pub fn from_body(body: &Json) -> Option<Self> {
        // Gemini may send its one error inside a list.
        let body = body
            .as_array()
            .and_then(|list| list.first())
            .unwrap_or(body);
        let error = match body.get("error") {
            Some(Json::Null) | None => body,
            Some(error) => error,
        };
        let message = match error {
            Json::String(text) => text.clone(),
            Json::Object(_) => ["message", "detail", "Message", "error_description"]
                .iter()
                .find_map(|name| error.get(name).or_else(|| body.get(name)))
                .map(plain)?,
            _ => return None,
        };
        let inner = error
            .pointer("/metadata/raw")
            .map(|raw| inner_message(raw).unwrap_or_else(|| plain(raw)));
        let message = match inner {
            Some(inner) if !inner.is_empty() && !message.contains(&inner) => {
                format!("{message}: {inner}")
            }
            _ => message,
        };
        let code = ["code", "type", "status", "__type"]
            .iter()
            .filter_map(|name| error.get(name))
            .map(plain)
            // Such a number only repeats the status.
            .find(|code| {
                let repeats = code
                    .parse()
                    .is_ok_and(|code: u32| (400..600).contains(&code));
                !code.is_empty() && !repeats
            });
        let status = ["code", "status_code"]
            .iter()
            .filter_map(|name| error.get(name).and_then(Json::as_u64))
            .filter_map(|code| u16::try_from(code).ok())
            .find(|code| (400..600).contains(code));
        Some(Self {
            status,
            code,
            message,
            retry_after: asked_wait(error),
            request_id: None,
        })
    }

    /// The failure in a page or a line of text.
    fn from_text(text: &str) -> Self {
        let trimmed = text.trim();
        let message = if trimmed.starts_with('<') {
            WEB_PAGE.to_owned()
        } else {
            trimmed.chars().take(MOST_QUOTED).collect()
        };
        Self {
            message,
            ..Self::default()
        }
    }
}

/// An aggregator quotes what the inner provider said, as text that may be JSON.
fn inner_message(raw: &Json) -> Option<String> {
    let parsed;
    let body = match raw {
        Json::String(text) => {
            parsed = serde_json::from_str::<Json>(&without_halves(text)).ok()?;
            &parsed
        }
        other => other,
    };
    VendorError::from_body(body).map(|error| error.message)
}

/// How long a failure asks to wait, counted from now.
fn asked_wait(error: &Json) -> Option<Duration> {
    let seconds = error.get("resets_in_seconds").and_then(Json::as_f64);
    seconds
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .or_else(|| among_details(error))
}

/// Google says among the details when to try again, or when an allowance comes back.
fn among_details(error: &Json) -> Option<Duration> {
    let details = error.get("details")?.as_array()?;
    let said = |name: &str| {
        details.iter().find_map(|detail| {
            let place = detail
                .get(name)
                .or_else(|| detail.get("metadata")?.get(name));
            span(place?.as_str()?)
        })
    };
    said("retryDelay").or_else(|| said("quotaResetDelay"))
}

/// How long it is until the moment at which an allowance comes back; one that has passed is no wait.
fn until_reset(error: &StatusError, now: Timestamp) -> Option<Duration> {
    let body: Json = serde_json::from_str(&without_halves(&error.excerpt)).ok()?;
    let error = body.get("error").unwrap_or(&body).as_object()?;
    let at = keys::moment(error, "resets_at")?;
    let wait = Duration::try_from(at.duration_since(now)).ok()?;
    (!wait.is_zero()).then_some(wait)
}

fn request_id(headers: &HeaderMap) -> Option<String> {
    ["x-request-id", "request-id", "x-amzn-requestid", "cf-ray"]
        .iter()
        .find_map(|name| text_header(headers, name))
        .map(str::to_owned)
}

fn text_header<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

fn plain(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        Json::Null => String::new(),
        other => other.to_string(),
    }
}
