//! Which variables hold keys of providers that the user described.

use std::collections::BTreeSet;

use hermes_config::{Node, Value};

/// The settings that name such a variable, also as older files spell them.
const NAMING: [&str; 4] = ["key_env", "api_key_env", "keyEnv", "apiKeyEnv"];

/// The names in the settings.
pub(crate) fn key_names(settings: &Node) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    collect(settings, &mut names);
    names
}

fn collect(node: &Node, names: &mut BTreeSet<String>) {
    match &node.value {
        Value::List(items) => items.iter().for_each(|item| collect(item, names)),
        Value::Map(map) => {
            for (key, child) in map.iter() {
                match &child.value {
                    Value::Text(name) if NAMING.contains(&key) && !name.is_empty() => {
                        names.insert(name.clone());
                    }
                    _ => collect(child, names),
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Text(_) => {}
    }
}
