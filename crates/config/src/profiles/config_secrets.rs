//! Secrets that somebody wrote into `config.yaml` instead of `.env`.

use std::borrow::Cow;

use hermes_secrets::{Redactor, Scope};

use crate::value::{KeyPath, Node, Value};
use crate::yaml::Document;

const WORDS: [&str; 8] = [
    "api_key",
    "apikey",
    "authorization",
    "password",
    "password_hash",
    "private_key",
    "secret",
    "token",
];
/// In these sections every name is somebody else's.
const FOREIGN_SECTIONS: [&str; 3] = ["env", "environment", "headers"];
const FOREIGN_WORDS: [&str; 8] = [
    "auth", "cookie", "cred", "key", "pass", "pwd", "secret", "token",
];

/// The text without its secrets, and which ones they were. `None` when the file cannot be taken apart.
pub(super) fn without_secrets(bytes: &[u8]) -> Option<(String, Vec<KeyPath>)> {
    let mut document = Document::new(std::str::from_utf8(bytes).ok()?).ok()?;
    let mut found = Vec::new();
    collect(&document.value().ok()?, &KeyPath::root(), &mut found);
    for key in &found {
        document.remove(key).ok()?;
    }
    mask_shapes(&mut document, &mut found)?;
    Some((document.into_text(), found))
}

/// Masks what looks like a secret wherever it stands: in arguments, addresses, texts and comments.
fn mask_shapes(document: &mut Document, found: &mut Vec<KeyPath>) -> Option<()> {
    let redactor = Redactor::default();
    let masked = |text: &str| match redactor.redact_in(Scope::Log, text) {
        Cow::Borrowed(_) => None,
        Cow::Owned(masked) => Some(masked),
    };
    let mut texts = Vec::new();
    collect_texts(&document.value().ok()?, &KeyPath::root(), &mut texts);
    for (path, text) in texts {
        if let Some(masked) = masked(&text) {
            document.set(&path, &Value::Text(masked)).ok()?;
            found.push(path);
        }
    }
    let is_comment = |line: &str| line.trim_start().starts_with('#');
    let lines = document.text().split_inclusive('\n');
    let text: String = lines
        .map(|line| match masked(line).filter(|_| is_comment(line)) {
            Some(masked) => masked,
            None => line.to_owned(),
        })
        .collect();
    *document = Document::new(text).ok()?;
    Some(())
}

fn collect_texts(node: &Node, path: &KeyPath, found: &mut Vec<(KeyPath, String)>) {
    match &node.value {
        Value::Map(map) => {
            for (key, child) in map.iter() {
                collect_texts(child, &path.child(key), found);
            }
        }
        Value::List(items) => {
            for (index, item) in items.iter().enumerate() {
                collect_texts(item, &path.child(&index.to_string()), found);
            }
        }
        Value::Text(text) => found.push((path.clone(), text.clone())),
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) => {}
    }
}

fn collect(node: &Node, path: &KeyPath, found: &mut Vec<KeyPath>) {
    match &node.value {
        Value::Map(map) => {
            for (key, child) in map.iter() {
                collect(child, &path.child(key), found);
            }
        }
        Value::List(items) => {
            for (index, item) in items.iter().enumerate() {
                collect(item, &path.child(&index.to_string()), found);
            }
        }
        Value::Text(text) => {
            let named = is_secret_name(path) && !text.is_empty() && !is_reference(text);
            if named || has_password(text) {
                found.push(path.clone());
            }
        }
        Value::Int(_) | Value::Float(_) => {
            if is_secret_name(path) {
                found.push(path.clone());
            }
        }
        Value::Null | Value::Bool(_) => {}
    }
}

fn is_secret_name(path: &KeyPath) -> bool {
    let segments: Vec<String> = path.segments().map(str::to_lowercase).collect();
    let last = segments.last().map_or("", String::as_str).replace('-', "_");
    let foreign = segments
        .iter()
        .rev()
        .skip(1)
        .any(|section| FOREIGN_SECTIONS.contains(&section.as_str()));
    WORDS
        .iter()
        .any(|word| last == *word || last.ends_with(&format!("_{word}")))
        || (foreign && FOREIGN_WORDS.iter().any(|word| last.contains(word)))
}

/// `${NAME}` says where the secret is, not what it is.
fn is_reference(text: &str) -> bool {
    let text = text.trim();
    let text = text.strip_prefix("Bearer ").unwrap_or(text);
    text.starts_with("${") && text.ends_with('}') && text.matches("${").count() == 1
}

/// Whether an address has a password in it.
fn has_password(text: &str) -> bool {
    let Some((_, rest)) = text.split_once("://") else {
        return false;
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    authority
        .rsplit_once('@')
        .is_some_and(|(user, _)| user.contains(':') && !user.contains("${"))
}
