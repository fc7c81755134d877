//! Settings as they may be shown: secrets masked by name, by place and by shape.

use hermes_config::{KeyPath, Map, Value, names_secret};
use hermes_secrets::{Redactor, Scope, mask};

/// Maps whose values are somebody else's, and often credentials.
const FOREIGN: [&str; 5] = [
    "env",
    "environment",
    "headers",
    "extra_headers",
    "default_headers",
];

/// The value with everything masked that could be a secret.
pub(crate) fn hidden(key: &KeyPath, value: &Value, redactor: &Redactor) -> Value {
    match value {
        Value::Map(map) => {
            let entries = map.iter().map(|(name, node)| {
                let shown = hidden(&key.child(name), &node.value, redactor);
                (name.to_owned(), shown.into())
            });
            Value::Map(entries.collect::<Map>())
        }
        Value::List(items) => {
            let items = items
                .iter()
                .map(|item| hidden(key, &item.value, redactor).into());
            Value::List(items.collect())
        }
        Value::Text(text) if text.is_empty() => value.clone(),
        Value::Text(text) if is_secret_place(key) => Value::Text(mask(text)),
        Value::Text(text) => Value::Text(redactor.redact_in(Scope::Log, text).into_owned()),
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) => value.clone(),
    }
}

fn is_secret_place(key: &KeyPath) -> bool {
    let foreign = key
        .split_last()
        .is_some_and(|(above, _)| above.segments().any(|part| FOREIGN.contains(&part)));
    foreign || key.last().is_some_and(names_secret)
}
