//! Writing the changes into the text, comments and all.

use std::collections::{HashMap, HashSet};

use super::difference::Edit;
use crate::value::{KeyPath, Layer, Map, Node, Value};
use crate::yaml::{Document, EditError, NotePlace};

/// Makes every change. The comments of a key that has another place now go there; the comments of a key
/// that has none stay where it was.
pub(super) fn rewrite(
    document: &mut Document,
    old: &Node,
    new: &Map,
    edits: Vec<Edit>,
) -> Result<(), EditError> {
    let arrivals = Arrivals::of(new, &edits);
    let mut notes = Vec::new();
    for edit in edits {
        match edit {
            Edit::Set(key, value) => document.set(&key, &value)?,
            Edit::Remove(key) => notes.extend(
                document
                    .remove_keeping_comments(&key, &|path| arrivals.of_old(old, path).is_some())?,
            ),
        }
    }
    for note in notes {
        if let Some((outer, inner)) = arrivals.of_old(old, &note.path) {
            let place = match note.place {
                NotePlace::Above => outer,
                NotePlace::Beside => inner,
            };
            document.annotate(place, note.place, &note.text)?;
        }
    }
    Ok(())
}

/// Where the nodes of the old file are in the new one. A node that moves remembers its line and column;
/// a list item and its first key share them.
#[derive(Default)]
struct Arrivals {
    /// The outermost and the innermost key from one place of the old file.
    places: HashMap<(u32, u32), (KeyPath, KeyPath)>,
}

impl Arrivals {
    fn of(new: &Map, edits: &[Edit]) -> Self {
        let removed: HashSet<_> = edits
            .iter()
            .filter(|edit| matches!(edit, Edit::Remove(_)))
            .map(Edit::key)
            .collect();
        let mut arrivals = Self::default();
        arrivals.collect(new, &KeyPath::root(), &removed);
        arrivals
    }

    fn collect(&mut self, map: &Map, path: &KeyPath, removed: &HashSet<&KeyPath>) {
        for (key, node) in map.iter() {
            let path = path.child(key);
            // A section that lost all it held is in the tree still, but not in the file.
            if removed.contains(&path) {
                continue;
            }
            if node.origin.layer == Layer::File && node.origin.line > 0 {
                self.places
                    .entry((node.origin.line, node.origin.column))
                    .and_modify(|(_, inner)| *inner = path.clone())
                    .or_insert_with(|| (path.clone(), path.clone()));
            }
            if let Value::Map(inner) = &node.value {
                self.collect(inner, &path, removed);
            }
        }
    }

    fn of_old(&self, old: &Node, path: &KeyPath) -> Option<&(KeyPath, KeyPath)> {
        let origin = old.at(path)?.origin;
        self.places.get(&(origin.line, origin.column))
    }
}
