//! What single providers want beyond the common rules.

use serde_json::{Map, Value as Json, json};

use crate::quirks::SchemaTarget;

/// The keywords Gemini knows.
const GEMINI: [&str; 22] = [
    "type",
    "format",
    "title",
    "description",
    "nullable",
    "enum",
    "items",
    "properties",
    "required",
    "anyOf",
    "default",
    "example",
    "pattern",
    "propertyOrdering",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
];

/// The formats Gemini knows.
const GEMINI_FORMATS: [&str; 6] = ["enum", "date-time", "float", "double", "int32", "int64"];

/// Applies a target's own rules to one node whose children are done.
pub(super) fn apply(node: &mut Map<String, Json>, target: SchemaTarget) {
    match target {
        SchemaTarget::Common => {}
        SchemaTarget::Anthropic => {
            node.shift_remove("nullable");
        }
        SchemaTarget::Moonshot => moonshot(node),
        SchemaTarget::Gemini => gemini(node),
        SchemaTarget::Xai => {
            drop_patterns(node);
            keep_values(node, |values| !values.iter().any(has_slash));
        }
        SchemaTarget::LlamaCpp => drop_patterns(node),
    }
}

fn moonshot(node: &mut Map<String, Json>) {
    node.shift_remove("nullable");
    if let Some(Json::Array(values)) = node.get_mut("enum") {
        values.retain(|value| !value.is_null() && value != "");
    }
    keep_values(node, |values| !values.is_empty());
    if node.contains_key("anyOf") {
        node.shift_remove("type");
    } else if !["$ref", "oneOf", "allOf"]
        .iter()
        .any(|key| node.contains_key(*key))
    {
        add_type(node);
    }
    if node.get("type") == Some(&json!("object")) {
        node.entry("properties").or_insert(json!({}));
        node.entry("required").or_insert(json!([]));
    }
}

fn gemini(node: &mut Map<String, Json>) {
    if let Some(branches) = node.shift_remove("oneOf") {
        node.entry("anyOf").or_insert(branches);
    }
    if let Some(constant) = node.shift_remove("const") {
        node.entry("enum").or_insert(json!([constant]));
    }
    // The type is taken from the values before those that Gemini cannot read are gone.
    if node.contains_key("anyOf") {
        node.shift_remove("type");
    } else {
        add_type(node);
    }
    if let Some(Json::Array(values)) = node.get_mut("enum") {
        let nullable = values.contains(&Json::Null);
        values.retain(|value| !value.is_null() && value != "");
        if nullable {
            node.insert("nullable".to_owned(), json!(true));
        }
    }
    keep_values(node, |values| {
        !values.is_empty() && values.iter().all(Json::is_string)
    });
    node.retain(|keyword, _| GEMINI.contains(&keyword.as_str()));
    let known_format = node
        .get("format")
        .and_then(Json::as_str)
        .is_some_and(|format| GEMINI_FORMATS.contains(&format));
    if !known_format {
        node.shift_remove("format");
    }
    if node.get("type") == Some(&json!("object")) {
        node.entry("properties").or_insert(json!({}));
    }
    if node.get("type") == Some(&json!("array")) {
        node.entry("items").or_insert(json!({ "type": "string" }));
    }
}

fn drop_patterns(node: &mut Map<String, Json>) {
    node.shift_remove("pattern");
    node.shift_remove("format");
}

/// Drops an `enum` that is no list or that `acceptable` turns down.
fn keep_values(node: &mut Map<String, Json>, acceptable: impl Fn(&[Json]) -> bool) {
    let fine = match node.get("enum") {
        Some(Json::Array(values)) => acceptable(values),
        Some(_) => false,
        None => true,
    };
    if !fine {
        node.shift_remove("enum");
    }
}

fn has_slash(value: &Json) -> bool {
    value.as_str().is_some_and(|text| text.contains('/'))
}

/// Names the type a node must mean when it does not say.
fn add_type(node: &mut Map<String, Json>) {
    if node.contains_key("type") {
        return;
    }
    let first = node
        .get("enum")
        .or_else(|| node.get("const"))
        .map(|value| value.get(0).unwrap_or(value));
    let name = match first {
        _ if node.contains_key("properties") => "object",
        _ if node.contains_key("items") => "array",
        Some(Json::Bool(_)) => "boolean",
        Some(Json::Number(number)) if number.is_f64() => "number",
        Some(Json::Number(_)) => "integer",
        Some(_) | None => "string",
    };
    node.insert("type".to_owned(), json!(name));
}
