//! Times as people write and read them.

use hermes_core::Clock;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, Zoned, civil};

use crate::complaint::{Complaint, Outcome};

/// A moment: `30` (days ago), `5h`, `2d`, `1w` ago, a date, or a full time. Seconds since 1970.
pub(crate) fn parse(text: &str, clock: &dyn Clock) -> Outcome<f64> {
    let text = text.trim();
    let now = clock.local();
    let moment = ago(text, &now).or_else(|| absolute(text, clock.zone()));
    moment
        .map(|moment| moment.as_duration().as_secs_f64())
        .ok_or_else(|| {
            Complaint::bad_request(format!("`{text}` is not a time"))
                .hint("write 30 (days), 5h, 2d, 1w, 2026-07-04 or 2026-07-04T15:30:00Z")
        })
}

fn ago(text: &str, now: &Zoned) -> Option<Timestamp> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let count: i64 = digits.parse().ok().filter(|count| *count >= 0)?;
    let span = match &text[digits.len()..] {
        "m" | "min" => Span::new().try_minutes(count),
        "h" => Span::new().try_hours(count),
        "" | "d" => Span::new().try_days(count),
        "w" => Span::new().try_weeks(count),
        _ => return None,
    };
    now.checked_sub(span.ok()?)
        .ok()
        .map(|then| then.timestamp())
}

fn absolute(text: &str, zone: &TimeZone) -> Option<Timestamp> {
    if let Ok(moment) = text.parse::<Timestamp>() {
        return Some(moment);
    }
    let local = text.parse::<civil::DateTime>().ok()?;
    local
        .to_zoned(zone.clone())
        .ok()
        .map(|zoned| zoned.timestamp())
}

/// A stored time as local date and time.
pub(crate) fn show(seconds: f64, zone: &TimeZone) -> String {
    local(seconds, zone).map_or_else(String::new, |zoned| {
        zoned.strftime("%Y-%m-%d %H:%M").to_string()
    })
}

/// A stored time as ISO 8601 in UTC, for programs.
pub(crate) fn iso(seconds: f64) -> String {
    timestamp(seconds).map_or_else(String::new, |moment| {
        moment.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
    })
}

/// How long ago, in one unit; the date when it is more than a week.
pub(crate) fn since(seconds: f64, clock: &dyn Clock) -> String {
    let age = clock.now().as_duration().as_secs_f64() - seconds;
    match age {
        age if age < 60.0 => "just now".to_owned(),
        age if age < 3_600.0 => format!("{:.0} min ago", (age / 60.0).floor()),
        age if age < 86_400.0 => format!("{:.0} h ago", (age / 3_600.0).floor()),
        age if age < 7.0 * 86_400.0 => format!("{:.0} d ago", (age / 86_400.0).floor()),
        _ => local(seconds, clock.zone())
            .map_or_else(String::new, |zoned| zoned.strftime("%Y-%m-%d").to_string()),
    }
}

fn local(seconds: f64, zone: &TimeZone) -> Option<Zoned> {
    timestamp(seconds).map(|moment| moment.to_zoned(zone.clone()))
}

fn timestamp(seconds: f64) -> Option<Timestamp> {
    let whole = seconds.floor();
    if !whole.is_finite() || whole.abs() > 250_000_000_000.0 {
        return None;
    }
    Timestamp::new(whole as i64, ((seconds - whole) * 1e9) as i32).ok()
}
