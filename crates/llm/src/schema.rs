//! Tool schemas in the form each provider accepts.
//!
//! Tools declare whatever JSON schema their author wrote; providers accept different parts of the
//! language. [`sanitize`] makes a copy that the target takes. It works in passes over the whole tree:
//! references are resolved where the target knows none, then come the rules of all providers, then the
//! target's own, then those of the root. Doing it twice changes nothing.

mod common;
mod memo;
mod reference;
mod target;
mod tree;

use serde_json::{Map, Value as Json, json};

use crate::quirks::SchemaTarget;
pub use memo::Schemas;
use tree::rebuild;

/// What only a nested schema may have: a root with one of these is rejected.
const NOT_AT_ROOT: [&str; 6] = ["allOf", "anyOf", "oneOf", "enum", "const", "not"];

/// A copy of `schema` that `target` accepts as the parameters of a tool.
pub fn sanitize(schema: &Json, target: SchemaTarget) -> Json {
    let resolved = match target {
        SchemaTarget::Gemini => reference::inline(schema),
        SchemaTarget::Common
        | SchemaTarget::Anthropic
        | SchemaTarget::Moonshot
        | SchemaTarget::Xai
        | SchemaTarget::LlamaCpp => reference::inline_root(schema),
    };
    let mut node = rebuild(&resolved, &common::apply);
    make_object(&mut node);
    rebuild(&Json::Object(node), &|node| target::apply(node, target)).into()
}

/// The root describes named arguments, so it is an object and nothing else. What alternatives at the
/// root offer is kept as optional arguments: without it the model would not know them.
fn make_object(root: &mut Map<String, Json>) {
    let mut properties = match root.get("properties") {
        Some(Json::Object(properties)) => properties.clone(),
        Some(_) | None => Map::new(),
    };
    for key in NOT_AT_ROOT {
        let Some(Json::Array(branches)) = root.shift_remove(key) else {
            continue;
        };
        for (name, property) in branches
            .iter()
            .filter_map(|branch| branch.get("properties")?.as_object())
            .flatten()
        {
            if !properties.contains_key(name) {
                properties.insert(name.clone(), property.clone());
            }
        }
    }
    root.shift_remove("nullable");
    // One that could not be resolved; the object must not also be something else.
    root.shift_remove("$ref");
    root.insert("type".to_owned(), json!("object"));
    root.insert("properties".to_owned(), Json::Object(properties));
    common::prune_required(root);
}
