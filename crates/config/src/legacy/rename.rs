//! Keys that have another name today.

use super::{is_blank, old_spelling};
use crate::problem::Problem;
use crate::value::{KeyPath, Node, Value};

/// Old key, today's key. Where several old keys mean the same, the earlier row counts.
const RENAMES: [(&str, &str); 10] = [
    ("provider", "model.provider"),
    ("base_url", "model.base_url"),
    ("context_length", "model.context_length"),
    ("api_base", "model.base_url"),
    ("model.model", "model.default"),
    ("model.name", "model.default"),
    ("model.api_base", "model.base_url"),
    ("max_turns", "agent.max_turns"),
    ("terminal.env_type", "terminal.backend"),
    ("agent.prefill_messages_file", "prefill_messages_file"),
];

fn rows() -> impl Iterator<Item = (KeyPath, KeyPath)> {
    RENAMES
        .iter()
        .filter_map(|(old, now)| Some((KeyPath::parse(old)?, KeyPath::parse(now)?)))
}

/// Today's name of a key.
pub(crate) fn canonical(key: &KeyPath) -> KeyPath {
    rows()
        .find(|(old, _)| old == key)
        .map_or_else(|| key.clone(), |(_, now)| now)
}

/// Every name a key has had, today's first.
pub(crate) fn spellings(key: &KeyPath) -> Vec<KeyPath> {
    let older = rows().filter(|(_, now)| now == key).map(|(old, _)| old);
    [key.clone()].into_iter().chain(older).collect()
}

pub(super) fn apply(tree: &mut Node, problems: &mut Vec<Problem>) {
    if tree.value.as_map().is_none() {
        return;
    }
    model_as_text(tree);
    for (old, now) in rows() {
        let Some(node) = tree.remove(&old) else {
            continue;
        };
        problems.push(old_spelling(old, &node, &now));
        let fills = tree.at(&now).is_none_or(is_blank) && !is_blank(&node);
        if fills && leads_through_sections(tree, &now) {
            // Only maps and nulls are on the way, which cannot fail.
            let _ = tree.set(&now, node);
        }
    }
    backup_words(tree);
}

/// Whether a key can be put there; a plain value in place of a section is refused later, with its line.
fn leads_through_sections(tree: &Node, path: &KeyPath) -> bool {
    (0..path.len()).all(|length| {
        tree.at(&path.prefix(length))
            .is_none_or(|node| matches!(node.value, Value::Map(_) | Value::Null))
    })
}

/// `model: name` is short for `model: {default: name}`.
fn model_as_text(tree: &mut Node) {
    let Some(model) = tree.map_mut().get_mut("model") else {
        return;
    };
    if matches!(model.value, Value::Map(_) | Value::Null) {
        return;
    }
    let origin = model.origin;
    let name = std::mem::take(model);
    let blank = is_blank(&name);
    let map = model.map_mut();
    if !blank {
        map.insert("default", name);
    }
    model.origin = origin;
}

/// `updates.pre_update_backup` was a switch before it became a choice.
fn backup_words(tree: &mut Node) {
    let Some(Value::Map(updates)) = tree
        .map_mut()
        .get_mut("updates")
        .map(|node| &mut node.value)
    else {
        return;
    };
    let Some(backup) = updates.get_mut("pre_update_backup") else {
        return;
    };
    let word = match &backup.value {
        Value::Bool(true) => "full",
        Value::Bool(false) => "off",
        Value::Text(text) if text.trim().eq_ignore_ascii_case("zip") => "full",
        Value::Text(text) if text.trim().eq_ignore_ascii_case("true") => "full",
        Value::Text(text) if text.trim().eq_ignore_ascii_case("false") => "off",
        _ => return,
    };
    backup.value = Value::Text(word.to_owned());
    backup.written = None;
}
