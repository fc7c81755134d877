//! Calls as text: arguments and ids in the same bytes every time.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::Value as Json;
use sha2::{Digest, Sha256};

/// Compact JSON with sorted keys, so that two histories that mean the same are the same bytes.
pub(crate) fn canonical(value: &Json) -> String {
    sorted(value).to_string()
}

fn sorted(value: &Json) -> Json {
    match value {
        Json::Object(map) => {
            let ordered: BTreeMap<_, _> = map.iter().collect();
            ordered
                .into_iter()
                .map(|(key, value)| (key.clone(), sorted(value)))
                .collect()
        }
        Json::Array(items) => items.iter().map(sorted).collect(),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => value.clone(),
    }
}

/// A call's id that fits into `most` bytes; ids of other providers may be longer than this one takes.
pub(crate) fn fitting(id: &str, most: usize) -> Cow<'_, str> {
    if id.len() <= most {
        Cow::Borrowed(id)
    } else {
        Cow::Owned(derived("call_", &[id]))
    }
}

/// A prefix and 24 hex digits that depend on the parts alone.
pub(crate) fn derived(prefix: &str, parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part.as_bytes());
        hash.update([0]);
    }
    let mut out = prefix.to_owned();
    for byte in hash.finalize().iter().take(12) {
        // Writing to a string cannot fail.
        let _ = write!(out, "{byte:02x}");
    }
    out
}
