//! What has to be written to turn one tree into another.

use crate::value::{KeyPath, Map, Value};

/// One change of one key.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Edit {
    Set(KeyPath, Value),
    Remove(KeyPath),
}

impl Edit {
    pub(super) fn key(&self) -> &KeyPath {
        match self {
            Self::Set(key, _) | Self::Remove(key) => key,
        }
    }
}

/// The changes from `before` to `after`, as deep in the tree as they can be said.
pub(super) fn difference(before: &Map, after: &Map) -> Vec<Edit> {
    let mut edits = Vec::new();
    compare(before, after, &KeyPath::root(), &mut edits);
    edits
}

fn compare(before: &Map, after: &Map, path: &KeyPath, edits: &mut Vec<Edit>) {
    for (key, new) in after.iter() {
        let path = path.child(key);
        match (before.get(key).map(|node| &node.value), &new.value) {
            (Some(Value::Map(old)), Value::Map(new)) if is_hollow(old, new) => {
                edits.push(Edit::Remove(path));
            }
            (Some(Value::Map(old)), Value::Map(new)) => compare(old, new, &path, edits),
            (Some(old), new) if old == new => {}
            (Some(_) | None, new) => edits.push(Edit::Set(path, new.clone())),
        }
    }
    for (key, _) in before.iter() {
        if after.get(key).is_none() {
            edits.push(Edit::Remove(path.child(key)));
        }
    }
}

/// Whether a section lost all it held, so that its key would stand there for nothing.
fn is_hollow(before: &Map, after: &Map) -> bool {
    let lost = |key: &str, new: &Value| match (before.get(key).map(|node| &node.value), new) {
        (Some(Value::Map(old)), Value::Map(new)) => is_hollow(old, new),
        (Some(_) | None, _) => false,
    };
    !before.is_empty() && after.iter().all(|(key, new)| lost(key, &new.value))
}
