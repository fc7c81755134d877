//! Which tool schemas are taken.

use serde_json::Value;

use super::checker::Checker;

const COMBINATORS: [&str; 5] = ["allOf", "anyOf", "oneOf", "not", "enum"];

/// The only keys Gemini knows in a schema.
const GEMINI_KEYS: [&str; 22] = [
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

const GEMINI_TYPES: [&str; 6] = ["string", "number", "integer", "boolean", "array", "object"];

/// What every vendor asks of the schema of a tool.
pub(super) fn root(checker: &mut Checker<'_>, place: &str, schema: &Value) {
    let is_object = schema["type"]
        .as_str()
        .is_some_and(|word| word.eq_ignore_ascii_case("object"));
    checker.require(is_object, place, "the root must have the type object");
    for key in COMBINATORS {
        let absent = schema.get(key).is_none();
        checker.require(absent, place, format_args!("`{key}` at the root"));
    }
    let properties = schema.get("properties");
    checker.require(
        properties.is_none_or(Value::is_object),
        place,
        "`properties` must be an object",
    );
    required(checker, place, schema);
}

/// What Gemini asks besides, at every level.
pub(super) fn gemini(checker: &mut Checker<'_>, place: &str, schema: &Value) {
    checker.keys(place, schema, &GEMINI_KEYS);
    required(checker, place, schema);
    let kind = schema["type"].as_str().map(str::to_ascii_lowercase);
    if let Some(given) = schema.get("type") {
        let known = kind
            .as_deref()
            .is_some_and(|kind| GEMINI_TYPES.contains(&kind));
        checker.require(known, place, format_args!("{given} is not a type"));
    }
    if let Some(values) = schema.get("enum") {
        let texts = values
            .as_array()
            .is_some_and(|values| values.iter().all(Value::is_string));
        let fits = texts && kind.as_deref() == Some("string");
        checker.require(fits, place, "`enum` is for texts only");
    }
    let has_items = kind.as_deref() != Some("array") || schema.get("items").is_some();
    checker.require(has_items, place, "an array needs `items`");
    let properties = schema["properties"].as_object().into_iter().flatten();
    for (name, property) in properties {
        gemini(checker, &format!("{place}.properties.{name}"), property);
    }
    if let Some(items) = schema.get("items") {
        gemini(checker, &format!("{place}.items"), items);
    }
    let branches = schema["anyOf"].as_array().into_iter().flatten();
    for (index, branch) in branches.enumerate() {
        gemini(checker, &format!("{place}.anyOf[{index}]"), branch);
    }
}

/// Requires that `required` names properties that exist.
fn required(checker: &mut Checker<'_>, place: &str, schema: &Value) {
    let Some(required) = schema.get("required") else {
        return;
    };
    let all_there = required.as_array().is_some_and(|names| {
        names
            .iter()
            .filter_map(Value::as_str)
            .all(|name| schema["properties"].get(name).is_some())
            && names.iter().all(Value::is_string)
    });
    checker.require(all_there, place, "`required` names what is not a property");
}
