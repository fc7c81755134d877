//! Rows as the model sees them.

use hermes_core::MessageId;
use hermes_store::{Excerpt, Session};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Value as Json, json};

/// A time in words: `March 05, 2026 at 02:10 PM`.
pub(super) fn when(seconds: f64, zone: &TimeZone) -> String {
    shown(seconds, zone, "%B %d, %Y at %I:%M %p")
}

/// A time in digits.
pub(super) fn time(seconds: f64, zone: &TimeZone) -> String {
    shown(seconds, zone, "%Y-%m-%d %H:%M")
}

fn shown(seconds: f64, zone: &TimeZone, form: &str) -> String {
    moment(seconds).map_or_else(String::new, |moment| {
        let zoned = moment.to_zoned(zone.clone());
        zoned.strftime(form).to_string()
    })
}

fn moment(seconds: f64) -> Option<Timestamp> {
    // Rows of other programs may hold any number.
    let millis = seconds * 1_000.0;
    if !millis.is_finite() || millis.abs() > 1e14 {
        return None;
    }
    Timestamp::from_millisecond(millis as i64).ok()
}

/// A message; the one that was asked for is marked.
pub(super) fn message(row: &Excerpt, anchor: Option<MessageId>, zone: &TimeZone) -> Json {
    let mut shown = json!({
        "id": row.id,
        "role": row.role,
        "content": row.text,
        "timestamp": time(row.timestamp, zone),
    });
    let fields = [
        ("tool_name", row.tool_name.as_ref().map(|name| json!(name))),
        (
            "tool_calls",
            (!row.calls.is_empty()).then(|| json!(row.calls)),
        ),
        (
            "more_characters",
            (row.left_out > 0).then(|| json!(row.left_out)),
        ),
        ("anchor", (anchor == Some(row.id)).then(|| json!(true))),
    ];
    add(&mut shown, fields);
    shown
}

pub(super) fn messages(rows: &[Excerpt], anchor: Option<MessageId>, zone: &TimeZone) -> Vec<Json> {
    rows.iter().map(|row| message(row, anchor, zone)).collect()
}

/// What is known of a conversation.
pub(super) fn meta(session: &Session, zone: &TimeZone) -> Json {
    json!({
        "when": when(session.started_at, zone),
        "source": session.source,
        "model": session.model,
        "title": session.title,
    })
}

/// Adds fields that are there to an object.
pub(super) fn add(
    object: &mut Json,
    fields: impl IntoIterator<Item = (&'static str, Option<Json>)>,
) {
    if let Json::Object(object) = object {
        for (name, value) in fields {
            if let Some(value) = value {
                object.insert(name.to_owned(), value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // LN-23
    #[test]
    fn times_read_as_people_write_them() {
        let east = TimeZone::fixed(jiff::tz::offset(2));
        let shown = |seconds| when(seconds, &east);
        assert_eq!(shown(1_772_719_800.0), "March 05, 2026 at 04:10 PM");
        assert_eq!(
            when(1_772_719_800.0, &TimeZone::UTC),
            "March 05, 2026 at 02:10 PM"
        );
        assert_eq!(shown(f64::NAN), "");
        assert_eq!(shown(1e300), "");
    }
}
