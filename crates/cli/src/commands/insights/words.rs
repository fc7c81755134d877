//! Numbers, durations and days as people read them.

use hermes_store::{TopRecord, TopSession};
use jiff::Timestamp;
use jiff::tz::TimeZone;

pub(super) const WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

/// A number with its thousands set apart.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A count with its noun, which gets an s where there are several.
pub(super) fn counted(number: u64, noun: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{} {noun}{ending}", grouped(number))
}

/// Percent of a whole.
pub(super) fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        return 0.0;
    }
    part as f64 / whole as f64 * 100.0
}

/// A duration in one or two units.
pub(super) fn lasting(seconds: f64) -> String {
    let minutes = (seconds / 60.0).round() as u64;
    match minutes {
        _ if seconds < 60.0 => format!("{seconds:.0}s"),
        ..60 => format!("{minutes}m"),
        60..1_440 => format!("{}h {}m", minutes / 60, minutes % 60),
        _ => format!("{}d {}h", minutes / 1_440, minutes % 1_440 / 60),
    }
}

/// Dollars; small sums keep the digits that matter.
pub(super) fn money(dollars: f64) -> String {
    if dollars == 0.0 || dollars >= 1.0 {
        format!("${dollars:.2}")
    } else {
        format!("${dollars:.4}")
    }
}

/// A stored time in a form of `strftime`.
pub(super) fn date(seconds: f64, zone: &TimeZone, form: &str) -> String {
    let moment = Timestamp::from_second(seconds.floor() as i64).ok();
    moment.map_or_else(String::new, |moment| {
        moment.to_zoned(zone.clone()).strftime(form).to_string()
    })
}

pub(super) fn record_label(record: TopRecord) -> &'static str {
    match record {
        TopRecord::Longest => "Longest session",
        TopRecord::MostMessages => "Most messages",
        TopRecord::MostTokens => "Most tokens",
        TopRecord::MostToolCalls => "Most tool calls",
    }
}

pub(super) fn record_value(top: &TopSession) -> String {
    let amount = top.amount as u64;
    match top.record {
        TopRecord::Longest => lasting(top.amount),
        TopRecord::MostMessages => format!("{} msgs", grouped(amount)),
        TopRecord::MostTokens => format!("{} tokens", grouped(amount)),
        TopRecord::MostToolCalls => format!("{} calls", grouped(amount)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_stand_apart() {
        let shown = [0, 999, 1_000, 1_234_567].map(grouped);
        assert_eq!(shown, ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn durations_have_at_most_two_units() {
        let shown = [0.0, 59.4, 400.0, 3_600.0, 90_000.0].map(lasting);
        assert_eq!(shown, ["0s", "59s", "7m", "1h 0m", "1d 1h"]);
    }

    #[test]
    fn cents_are_kept_where_they_matter() {
        let shown = [0.0, 0.0923, 12.345].map(money);
        assert_eq!(shown, ["$0.00", "$0.0923", "$12.35"]);
    }
}
