//! Markers of a cacheable prefix.

use serde_json::Value;

use super::checker::Checker;

const MAX_MARKERS: usize = 4;
const KEY: &str = "cache_control";

/// Requires well-formed markers, at most four of them, none on thinking, long-lived ones first.
pub(super) fn cache_control(checker: &mut Checker<'_>, body: &Value) {
    let mut marked = Vec::new();
    // The vendor's own order of a prompt, which is not the order of the keys in the body.
    for key in ["tools", "system", "messages"] {
        collect(key, &body[key], &mut marked);
    }
    let mut short_seen = false;
    for (place, block) in &marked {
        let marker = &block[KEY];
        checker.keys(place, marker, &["type", "ttl"]);
        checker.word(place, &marker["type"], &["ephemeral"]);
        let long = match marker["ttl"].as_str() {
            Some("1h") => true,
            Some("5m") | None => false,
            Some(other) => {
                checker.add(place, format_args!("{other:?} is not a lifetime"));
                false
            }
        };
        checker.require(
            !(long && short_seen),
            place,
            "a marker of 1h after one of 5m",
        );
        short_seen |= !long;
        let thinking = ["thinking", "redacted_thinking"];
        let on_thinking = block["type"]
            .as_str()
            .is_some_and(|kind| thinking.contains(&kind));
        checker.require(!on_thinking, place, "a cache marker on thinking");
    }
    count(checker, marked.len());
}

/// Requires at most as many markers as vendors take.
pub(super) fn count(checker: &mut Checker<'_>, markers: usize) {
    checker.require(
        markers <= MAX_MARKERS,
        "body",
        format_args!("{markers} cache markers, more than {MAX_MARKERS}"),
    );
}

/// Finds marked blocks without looking into what tools said or are given.
fn collect<'v>(place: &str, value: &'v Value, marked: &mut Vec<(String, &'v Value)>) {
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                collect(&format!("{place}[{index}]"), item, marked);
            }
        }
        Value::Object(object) => {
            if object.contains_key(KEY) {
                marked.push((place.to_owned(), value));
            }
            if let Some(content) = object.get("content") {
                collect(&format!("{place}.content"), content, marked);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
