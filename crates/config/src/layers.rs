//! Putting one layer of settings on top of another.

use crate::value::{KeyPath, Node, Value};

/// Merges `over` into `base`, leaf by leaf. Lists and plain values replace; each leaf keeps its origin.
///
/// A section that is null says nothing. A null in place of a plain value stands: it asks for the default.
pub(crate) fn merge(base: &mut Node, over: Node) {
    if base.value.as_map().is_some() {
        match over.value {
            Value::Null => return,
            Value::Map(entries) => {
                let target = base.map_mut();
                for (key, node) in entries {
                    match target.get_mut(&key) {
                        Some(place) => merge(place, node),
                        None => target.insert(key, node),
                    }
                }
                return;
            }
            Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Text(_) | Value::List(_) => {}
        }
    }
    *base = over;
}

/// Puts the values the program really uses into the merged tree.
///
/// A leaf that was refused or asked for its default gets the default; the others keep where they came
/// from. Keys that nothing reads stay as they were written.
pub(crate) fn settle(tree: &mut Node, used: &Node, refused: &dyn Fn(&KeyPath) -> bool) {
    settle_at(tree, used, &KeyPath::root(), refused);
}

fn settle_at(place: &mut Node, used: &Node, path: &KeyPath, refused: &dyn Fn(&KeyPath) -> bool) {
    match (&used.value, place.value.as_map().is_some()) {
        (Value::Map(map), true) => {
            for (key, child) in map.iter() {
                let target = place.map_mut();
                match target.get_mut(key) {
                    Some(inner) => settle_at(inner, child, &path.child(key), refused),
                    None => target.insert(key, child.clone()),
                }
            }
        }
        (_, _) if place.value == Value::Null || refused(path) => *place = used.clone(),
        (_, _) => {
            place.value = used.value.clone();
            place.written = None;
        }
    }
}
