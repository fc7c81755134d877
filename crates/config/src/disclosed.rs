//! Which of the loaded values are secrets, for whoever has to keep them out of texts.

use crate::load::Loaded;
use crate::value::{KeyPath, Node, Value};

/// Words that make a name a secret's, in a file or in the environment.
const WORDS: [&str; 6] = [
    "token",
    "secret",
    "password",
    "passwd",
    "credentials",
    "apikey",
];
/// Last words that say the name is only about a secret: where it is, how long it lives.
const ABOUT: [&str; 12] = [
    "env", "file", "path", "dir", "url", "name", "ttl", "seconds", "chars", "limit", "count",
    "mode",
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
    let words: Vec<&str> = name.split(['_', '.', '-']).collect();
    let last = words.last().copied().unwrap_or_default();
    let marked = last == "key" || words.iter().any(|word| WORDS.contains(word));
    marked && !ABOUT.contains(&last)
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

#[cfg(test)]
mod tests {
    use super::names_secret;

    #[test]
    fn tells_secrets_from_what_is_about_them() {
        for name in [
            "OPENAI_API_KEY",
            "AWS_BEARER_TOKEN_BEDROCK",
            "password",
            "dashboard.basic_auth.password_hash",
            "FAL_KEY",
            "client_secret",
            "private_key",
            "SUDO_PASSWORD",
        ] {
            assert!(names_secret(name), "{name}");
        }
        for name in [
            "max_tokens",
            "access_token_env",
            "keyboard",
            "min_secret_chars",
            "key_env",
            "token_ttl",
            "monkey",
        ] {
            assert!(!names_secret(name), "{name}");
        }
    }
}
