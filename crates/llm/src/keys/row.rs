//! The fields of one credential in `auth.json`.

use std::fmt::Write as _;

use jiff::Timestamp;
use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};

use super::document::Row;

/// The name of a provider's one login among its credentials.
pub(super) const LOGIN: &str = "login";
/// Where a row came from when it repeats the login.
pub(super) const REPEATS_LOGIN: &str = "device_code";
/// Numbers above this count milliseconds.
const MILLISECONDS: f64 = 1e11;

pub(super) fn text<'r>(row: &'r Row, name: &str) -> Option<&'r str> {
    row.get(name)?.as_str().filter(|text| !text.is_empty())
}

/// A moment, written as seconds, milliseconds or a date.
pub(crate) fn time(row: &Row, name: &str) -> Option<Timestamp> {
    let seconds = match row.get(name)? {
        Json::Number(number) => number.as_f64()?,
        Json::String(text) => match text.parse() {
            Ok(time) => return Some(time),
            Err(_) => text.parse().ok()?,
        },
        _ => return None,
    };
    let milliseconds = if seconds > MILLISECONDS {
        seconds
    } else {
        seconds * 1_000.0
    };
    // A cast of a number out of range gives the nearest one, which is then no time.
    Timestamp::from_millisecond(milliseconds as i64).ok()
}

/// A moment in the form that other programs read here.
pub(super) fn seconds(time: Timestamp) -> Json {
    json!(time.as_millisecond() as f64 / 1_000.0)
}

/// The name of a row of a pool.
pub(super) fn id(row: &Row) -> String {
    match text(row, "id") {
        Some(id) => id.to_owned(),
        None => fingerprint(text(row, "access_token").unwrap_or_default()),
    }
}

/// Whether the row is this credential: by its id, or by where a borrowed one comes from.
pub(super) fn is_named(row: &Row, id: &str) -> bool {
    self::id(row) == id || text(row, "source") == Some(id)
}

/// Whether the secret belongs to the environment or the settings, and is not kept here.
pub(super) fn is_borrowed(row: &Row) -> bool {
    text(row, "source")
        .is_some_and(|source| source.starts_with("env:") || source.starts_with("config:"))
}

/// Tells a value from another without telling the value.
pub fn fingerprint(value: &str) -> String {
    let hash: String = sha256(value).chars().take(16).collect();
    format!("sha256:{hash}")
}

/// The hash of a value, in hex.
pub(super) fn sha256(value: &str) -> String {
    let mut text = String::new();
    for byte in Sha256::digest(value.as_bytes()) {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}
