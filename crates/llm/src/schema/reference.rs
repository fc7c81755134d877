//! Putting definitions where they are referred to.

use std::cell::Cell;

use serde_json::{Map, Value as Json, json};

use super::tree::rebuild;

/// Definitions inside definitions are followed this far; what is deeper, or refers to itself, becomes
/// a plain object.
const DEEPEST: usize = 8;

/// Definitions of one schema are copied at most this often, so that a small schema cannot grow without
/// limit.
const MOST_COPIES: usize = 256;

/// A schema whose root is a reference, with the definition in its place.
pub(super) fn inline_root(schema: &Json) -> Json {
    let mut node = schema.clone();
    for _ in 0..DEEPEST {
        let Some(definition) = definition_of(&node, schema) else {
            break;
        };
        node = beside(&node, definition).into();
    }
    node
}

/// A schema without references, definitions and `allOf`.
pub(super) fn inline(schema: &Json) -> Json {
    let copies = Cell::new(0);
    let mut whole = Inliner {
        root: schema,
        copies: &copies,
        open: &[],
    }
    .resolve(schema);
    whole.shift_remove("$defs");
    whole.shift_remove("definitions");
    whole.into()
}

#[derive(Clone, Copy)]
struct Inliner<'a> {
    root: &'a Json,
    copies: &'a Cell<usize>,
    /// The references being followed, outermost first.
    open: &'a [&'a str],
}

impl Inliner<'_> {
    fn resolve(self, schema: &Json) -> Map<String, Json> {
        let mut bare = schema.clone();
        if self.open.is_empty()
            && let Some(node) = bare.as_object_mut()
        {
            // They are read from the root; walking them would copy what nobody refers to.
            node.shift_remove("$defs");
            node.shift_remove("definitions");
        }
        rebuild(&bare, &|node| {
            if node.contains_key("$ref") {
                *node = self.replacement(node);
            }
            merge_all(node);
        })
    }

    fn replacement(self, node: &Map<String, Json>) -> Map<String, Json> {
        let reference = Json::Object(node.clone());
        self.copies.set(self.copies.get() + 1);
        let pointer = node.get("$ref").and_then(Json::as_str).unwrap_or_default();
        let follow = self.open.len() < DEEPEST
            && self.copies.get() <= MOST_COPIES
            && !self.open.contains(&pointer);
        let open = [self.open, &[pointer]].concat();
        match definition_of(&reference, self.root).filter(|_| follow) {
            Some(definition) => {
                let resolved = Inliner {
                    open: &open,
                    ..self
                }
                .resolve(definition);
                beside(&reference, &resolved.into())
            }
            None => beside(&reference, &json!({ "type": "object" })),
        }
    }
}

fn definition_of<'a>(node: &Json, root: &'a Json) -> Option<&'a Json> {
    let pointer = node.get("$ref")?.as_str()?.strip_prefix('#')?;
    root.pointer(pointer).filter(|found| found.is_object())
}

/// The node without its reference, filled up with what it referred to.
fn beside(node: &Json, definition: &Json) -> Map<String, Json> {
    let mut merged = node.as_object().cloned().unwrap_or_default();
    merged.shift_remove("$ref");
    for (keyword, value) in definition.as_object().into_iter().flatten() {
        if !merged.contains_key(keyword) {
            merged.insert(keyword.clone(), value.clone());
        }
    }
    merged
}

/// Joins the parts of `allOf` into the node: properties and required names add up, of everything else
/// the first counts.
fn merge_all(node: &mut Map<String, Json>) {
    let Some(Json::Array(parts)) = node.shift_remove("allOf") else {
        return;
    };
    for (keyword, value) in parts.iter().filter_map(Json::as_object).flatten() {
        match (node.get_mut(keyword), value) {
            (Some(Json::Object(known)), Json::Object(more)) if keyword == "properties" => {
                for (name, property) in more {
                    known.entry(name).or_insert_with(|| property.clone());
                }
            }
            (Some(Json::Array(known)), Json::Array(more)) if keyword == "required" => {
                known.extend(more.iter().cloned());
            }
            (Some(_), _) => {}
            (None, _) => {
                node.insert(keyword.clone(), value.clone());
            }
        }
    }
}
