//! Which of the loaded values are secrets, for whoever has to keep them out of texts.

use crate::load::Loaded;
use crate::value::{KeyPath, Node, Value};

/// Endings of names that hold a secret, in a file or in the environment.
const ENDINGS: [&str; 7] = [
    "key",
    "token",
    "secret",
    "password",
    "passwd",
    "credentials",
    "private_key",
];
/// Shorter values are words, not secrets; masking them would garble every text.
const SHORTEST: usize = 8;

impl Loaded {
    /// Every secret value with the name it goes by: from `.env`, the environment and the settings.
    pub fn secret_values(&self) -> Vec<(String, String)> {
        let mut found: Vec<(String, String)> = self
            .environment
            .iter()
            .filter(|(name, _)| names_secret(name))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        collect(&self.tree, &KeyPath::root(), &mut found);
        found.retain(|(_, value)| value.len() >= SHORTEST && !value.starts_with("${"));
        found
    }
}

/// Whether a variable or key of this name holds a secret.
pub fn names_secret(name: &str) -> bool {
    let name = name.to_lowercase();
    ENDINGS.iter().any(|ending| {
        let rest = name.strip_suffix(ending);
        rest.is_some_and(|rest| rest.is_empty() || rest.ends_with(['_', '.', '-']))
    })
}

fn collect(node: &Node, path: &KeyPath, found: &mut Vec<(String, String)>) {
    match &node.value {
        Value::Map(map) => {
            for (key, child) in map.iter() {
                collect(child, &path.child(key), found);
            }
        }
        Value::List(items) => {
            for item in items {
                collect(item, path, found);
            }
        }
        Value::Text(text) if path.last().is_some_and(names_secret) => {
            found.push((path.to_string(), text.clone()))
        }
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Text(_) => {}
    }
}
