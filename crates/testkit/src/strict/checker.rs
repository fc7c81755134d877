//! Collecting what is wrong, and the checks every protocol shares.

use std::collections::BTreeSet;
use std::fmt::Display;

use serde_json::Value;

const MAX_NAME_CHARS: usize = 64;

/// Keys of our own records that no vendor knows; everything that starts with `_` is one too.
const LOCAL_KEYS: [&str; 5] = [
    "api_content",
    "effect_disposition",
    "finish_reason",
    "timestamp",
    "tool_name",
];

/// The violations found so far.
pub(super) struct Checker<'a> {
    extra_keys: &'a [String],
    found: Vec<String>,
}

impl<'a> Checker<'a> {
    pub(super) fn new(extra_keys: &'a [String]) -> Self {
        Self {
            extra_keys,
            found: Vec::new(),
        }
    }

    pub(super) fn into_found(self) -> Vec<String> {
        self.found
    }

    /// Notes that something at `place` is not as it should be.
    pub(super) fn add(&mut self, place: &str, problem: impl Display) {
        self.found.push(format!("{place}: {problem}"));
    }

    /// Notes `problem` unless the rule holds.
    pub(super) fn require(&mut self, holds: bool, place: &str, problem: impl Display) {
        if !holds {
            self.add(place, problem);
        }
    }

    /// Requires an object that has only keys the protocol knows at this place.
    pub(super) fn keys(&mut self, place: &str, value: &Value, known: &[&str]) {
        let Some(object) = value.as_object() else {
            self.add(place, "must be an object");
            return;
        };
        for key in object.keys() {
            if key.starts_with('_') || LOCAL_KEYS.contains(&key.as_str()) {
                self.add(place, format_args!("`{key}` is a local key"));
            } else if !known.contains(&key.as_str()) && !self.extra_keys.contains(key) {
                self.add(place, format_args!("`{key}` is not known here"));
            }
        }
    }

    /// Requires a list with something in it, and yields its items with their places.
    pub(super) fn items<'v>(&mut self, place: &str, value: &'v Value) -> Vec<(String, &'v Value)> {
        let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
        self.require(!items.is_empty(), place, "must be a list that is not empty");
        let places = (0..).map(|index: usize| format!("{place}[{index}]"));
        places.zip(items).collect()
    }

    /// Requires a text that is not blank.
    pub(super) fn text(&mut self, place: &str, value: &Value) {
        let text = value.as_str();
        let blank = text.is_none_or(|text| text.trim().is_empty());
        self.require(!blank, place, "must be a text that is not empty");
    }

    /// Requires one of a few words.
    pub(super) fn word(&mut self, place: &str, value: &Value, words: &[&str]) {
        let known = value.as_str().is_some_and(|word| words.contains(&word));
        self.require(known, place, format_args!("{value} is none of {words:?}"));
    }

    /// Requires letters, digits, `_` and `-`, at most 64 of them: names of tools, and ids where the
    /// vendor looks at them.
    pub(super) fn identifier(&mut self, place: &str, value: &Value) {
        let fits = value.as_str().is_some_and(|name| {
            (1..=MAX_NAME_CHARS).contains(&name.len())
                && name
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
        });
        self.require(
            fits,
            place,
            format_args!("{value} must be 1 to 64 of A-Z a-z 0-9 _ -"),
        );
    }

    /// Requires names that are all different.
    pub(super) fn unique<'v>(&mut self, place: &str, names: impl Iterator<Item = &'v Value>) {
        let mut seen = BTreeSet::new();
        for name in names.filter_map(Value::as_str) {
            self.require(
                seen.insert(name),
                place,
                format_args!("{name:?} appears twice"),
            );
        }
    }

    /// Requires an object, whatever is in it.
    pub(super) fn object(&mut self, place: &str, value: &Value) {
        self.require(value.is_object(), place, "must be an object");
    }
}
