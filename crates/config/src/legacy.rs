//! Spellings of older versions, turned into today's before anything else looks at the tree.
//!
//! *Renames* say the same under another name and can be written back (`hermes config migrate` does).
//! *Shapes* are forms that are still written by other tools; they are only understood, never rewritten.

mod providers;
mod rename;

pub(crate) use providers::from_list as providers_from_list;
pub(crate) use rename::{canonical, spellings};

use crate::problem::{Fault, Problem};
use crate::value::{KeyPath, Map, Node, Value};

/// Turns every old spelling of a file into today's, noting the ones worth telling.
pub(crate) fn normalise(tree: &mut Node, problems: &mut Vec<Problem>) {
    rename::apply(tree, problems);
    understand(tree);
}

/// The renames alone.
pub(crate) fn rename(tree: &mut Node) {
    rename::apply(tree, &mut Vec::new());
}

fn understand(tree: &mut Node) {
    let Value::Map(root) = &mut tree.value else {
        return;
    };
    providers::understand(root);
    name_helper_keys(root);
    join_fallbacks(root);
    join_personalities(root);
}

/// Helper tasks, and the models they turn to, may name the variable with their key as endpoints do.
fn name_helper_keys(root: &mut Map) {
    let Some(Value::Map(tasks)) = root.get_mut("auxiliary").map(|node| &mut node.value) else {
        return;
    };
    for (_, task) in tasks.iter_mut() {
        let Value::Map(task) = &mut task.value else {
            continue;
        };
        providers::tidy_key(task);
        let Some(chain) = task.get_mut("fallback_chain") else {
            continue;
        };
        // One entry may stand without a list.
        let entries = match &mut chain.value {
            Value::List(items) => items.iter_mut().collect(),
            _ => vec![chain],
        };
        for entry in entries {
            if let Value::Map(entry) = &mut entry.value {
                providers::tidy_key(entry);
            }
        }
    }
}

/// `fallback_model`, one or several, goes behind `fallback_providers`; the same model twice counts once.
fn join_fallbacks(root: &mut Map) {
    let older = root.remove("fallback_model");
    if older.is_none() && root.get("fallback_providers").is_none() {
        return;
    }
    let chain = root.remove("fallback_providers");
    let origin = chain.as_ref().or(older.as_ref()).map(|node| node.origin);
    let mut seen = Vec::new();
    let mut joined = Vec::new();
    // What is no entry at all stays where it is, to be named as a mistake; the older key may say `false`.
    let chain = chain.map(listed).unwrap_or_default();
    let older = older.map(entries_of).unwrap_or_default();
    let older = older
        .into_iter()
        .filter(|entry| entry.value.as_map().is_some());
    for entry in chain.into_iter().chain(older) {
        let Value::Map(mut map) = entry.value else {
            joined.push(entry);
            continue;
        };
        // A variable that is not known to hold a key would be handed to commands.
        providers::tidy_key(&mut map);
        for (key, node) in map.iter_mut() {
            if let Value::Text(text) = &mut node.value {
                let trimmed = text.trim();
                let clean = if key == "base_url" {
                    trimmed.trim_end_matches('/')
                } else {
                    trimmed
                };
                *text = clean.to_owned();
            }
        }
        let word = |key: &str| map.get(key).and_then(Node::text).unwrap_or_default();
        let (provider, model) = (word("provider"), word("model"));
        if provider.is_empty() || model.is_empty() {
            continue;
        }
        let identity = [provider, model, word("base_url")].map(|text| text.to_lowercase());
        if !seen.contains(&identity) {
            seen.push(identity);
            joined.push(Node {
                value: Value::Map(map),
                ..entry
            });
        }
    }
    root.insert(
        "fallback_providers",
        Node {
            value: Value::List(joined),
            written: None,
            origin: origin.unwrap_or_default(),
        },
    );
}

/// The items of a list; anything else that says something is an item itself.
fn listed(node: Node) -> Vec<Node> {
    match node.value {
        Value::List(items) => items,
        Value::Null => Vec::new(),
        Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Text(_) | Value::Map(_) => {
            vec![node]
        }
    }
}

fn entries_of(node: Node) -> Vec<Node> {
    match node.value {
        Value::List(items) => items,
        Value::Map(_) => vec![node],
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Text(_) => {
            Vec::new()
        }
    }
}

/// Personalities may stand at the root or under `agent`; the latter are the ones that were always read.
fn join_personalities(root: &mut Map) {
    let Some(Value::Map(agent)) = root.get_mut("agent").map(|node| &mut node.value) else {
        return;
    };
    if agent
        .get("personalities")
        .is_none_or(|node| node.value.as_map().is_none())
    {
        return;
    }
    if let Some(own) = agent.remove("personalities") {
        match root.get_mut("personalities") {
            Some(shared) => crate::layers::merge(shared, own),
            None => root.insert("personalities", own),
        }
    }
}

/// A value that says nothing: null, empty text or zero.
fn is_blank(node: &Node) -> bool {
    match &node.value {
        Value::Null => true,
        Value::Text(text) => text.trim().is_empty(),
        Value::Int(number) => *number == 0,
        Value::Bool(_) | Value::Float(_) | Value::List(_) | Value::Map(_) => false,
    }
}

fn old_spelling(key: KeyPath, node: &Node, now: &KeyPath) -> Problem {
    Problem {
        key,
        origin: node.origin,
        file: None,
        fault: Fault::OldSpelling {
            now: now.to_string(),
        },
    }
}
