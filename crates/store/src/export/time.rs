//! Times as people and programs read them, always UTC.

use jiff::Timestamp;

/// `2025-06-15T15:06:40Z`, with six more digits where there are parts of a second.
pub(super) fn precise(seconds: f64) -> String {
    let Some(time) = timestamp(seconds) else {
        return seconds.to_string();
    };
    let whole = time.strftime("%Y-%m-%dT%H:%M:%S");
    match time.as_microsecond().rem_euclid(1_000_000) {
        0 => format!("{whole}Z"),
        rest => format!("{whole}.{rest:06}Z"),
    }
}

/// `2025-06-15T15:06:40Z`.
pub(super) fn to_the_second(seconds: f64) -> String {
    precise(seconds.floor())
}

/// `2025-06-15T15:06:40.250Z`.
pub(super) fn to_the_millisecond(seconds: f64) -> String {
    match timestamp(seconds) {
        Some(time) => format!("{time:.3}"),
        None => seconds.to_string(),
    }
}

/// `2025-06-15 15:06 UTC`.
pub(super) fn short(seconds: f64) -> String {
    match timestamp(seconds) {
        Some(time) => time.strftime("%Y-%m-%d %H:%M UTC").to_string(),
        None => seconds.to_string(),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a cast of a float saturates, and what is out of range is refused"
)]
fn timestamp(seconds: f64) -> Option<Timestamp> {
    Timestamp::from_microsecond((seconds * 1e6).round() as i64).ok()
}
