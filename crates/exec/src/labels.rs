//! What sandboxes carry so that everybody can tell whose they are and how they were made.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use serde_json::Value;
use sha2::{Digest, Sha256};

/// On every sandbox of ours.
pub(crate) const OURS: &str = "hermes-agent";
pub(crate) const TASK: &str = "hermes-task-id";
pub(crate) const PROFILE: &str = "hermes-profile";
/// Two sandboxes with the same value were made alike.
pub(crate) const CONFIG: &str = "hermes-config";
/// How many seconds the sandbox may be idle.
pub(crate) const LIFETIME: &str = "hermes-lifetime";

const MAX_LABEL: usize = 63;

/// A label's value: what is accepted everywhere.
pub(crate) fn value(text: &str) -> String {
    text.chars()
        .filter(|character| character.is_ascii_alphanumeric() || "_.-".contains(*character))
        .take(MAX_LABEL)
        .collect()
}

/// All labels of a sandbox that was made as `making` says.
pub(crate) fn all(
    task: &str,
    profile: &str,
    lifetime: Duration,
    making: &Value,
) -> [(&'static str, String); 5] {
    [
        (OURS, "1".to_owned()),
        (TASK, value(task)),
        (PROFILE, value(profile)),
        (CONFIG, hash(making)),
        (LIFETIME, lifetime.as_secs().to_string()),
    ]
}

/// The same for sandboxes made alike: keys are sorted, so the order of maps does not matter.
pub(crate) fn hash(making: &Value) -> String {
    let mut digest = Sha256::new();
    digest.update(sorted(making));
    let mut text = String::new();
    for byte in digest.finalize().iter().take(8) {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

fn sorted(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let sorted: BTreeMap<_, _> = map
                .iter()
                .map(|(key, value)| (key, sorted(value)))
                .collect();
            format!("{sorted:?}")
        }
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(sorted).collect();
            format!("{items:?}")
        }
        other => other.to_string(),
    }
}
