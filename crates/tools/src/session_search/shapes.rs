//! Rows as the model sees them.

use hermes_core::{MessageId, local_zone};
use hermes_store::{Excerpt, Session};
use jiff::{Timestamp, Zoned};
use serde_json::{Value as Json, json};

/// A time in words: `March 05, 2026 at 02:10 PM`.
pub(super) fn when(seconds: f64) -> String {
    shown(seconds, "%B %d, %Y at %I:%M %p")
}

/// A time in digits.
pub(super) fn time(seconds: f64) -> String {
    shown(seconds, "%Y-%m-%d %H:%M")
}

fn shown(seconds: f64, form: &str) -> String {
    let zoned = zoned(seconds);
    zoned.map_or_else(String::new, |zoned| zoned.strftime(form).to_string())
}

fn zoned(seconds: f64) -> Option<Zoned> {
    // Rows of other programs may hold any number.
    let millis = seconds * 1_000.0;
    if !millis.is_finite() || millis.abs() > 1e14 {
        return None;
    }
    let moment = Timestamp::from_millisecond(millis as i64).ok()?;
    Some(moment.to_zoned(local_zone()))
}

/// A message; the one that was asked for is marked.
pub(super) fn message(row: &Excerpt, anchor: Option<MessageId>) -> Json {
    let mut shown = json!({
        "id": row.id,
        "role": row.role,
        "content": row.text,
        "timestamp": time(row.timestamp),
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

pub(super) fn messages(rows: &[Excerpt], anchor: Option<MessageId>) -> Vec<Json> {
    rows.iter().map(|row| message(row, anchor)).collect()
}

/// What is known of a conversation.
pub(super) fn meta(session: &Session) -> Json {
    json!({
        "when": when(session.started_at),
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
        let noon = zoned(1_772_719_800.0).unwrap();
        assert_eq!(
            when(1_772_719_800.0),
            noon.strftime("%B %d, %Y at %I:%M %p").to_string()
        );
        assert!(
            when(1_772_719_800.0).starts_with("March 0"),
            "{}",
            when(1_772_719_800.0)
        );
        assert_eq!(when(f64::NAN), "");
        assert_eq!(when(1e300), "");
    }
}
