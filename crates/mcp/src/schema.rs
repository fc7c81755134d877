//! The schemas of tools, brought into the form the rest of the program counts on.
//!
//! What a provider can take is decided when a request is written; here only what every schema of a tool
//! must be is put right: an object with properties, definitions where today's drafts have them, no union
//! with null. Doing it twice changes nothing.

use serde_json::{Map, Value as Json, json};

/// The schema of a tool's arguments.
pub fn normalise(schema: &Json) -> Json {
    let Json::Object(root) = schema else {
        return empty();
    };
    if root.is_empty() {
        return empty();
    }
    let mut root = root.clone();
    each_node(&mut root, &mut rename_definitions);
    each_node(&mut root, &mut |node| {
        for union in ["anyOf", "oneOf"] {
            fold_null(node, union);
        }
    });
    each_node(&mut root, &mut complete);
    Json::Object(root)
}

fn empty() -> Json {
    json!({ "type": "object", "properties": {} })
}

/// What the value of a keyword holds.
enum Holds {
    Schemas,
    Named,
    Data,
}

fn holds(keyword: &str) -> Holds {
    match keyword {
        "items"
        | "prefixItems"
        | "additionalItems"
        | "additionalProperties"
        | "not"
        | "if"
        | "then"
        | "else"
        | "contains"
        | "propertyNames"
        | "unevaluatedItems"
        | "unevaluatedProperties"
        | "anyOf"
        | "oneOf"
        | "allOf" => Holds::Schemas,
        "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas" => {
            Holds::Named
        }
        _ => Holds::Data,
    }
}

/// Visits all schemas in a schema, innermost first. Data that looks like a schema is left alone.
fn each_node(node: &mut Map<String, Json>, visit: &mut dyn FnMut(&mut Map<String, Json>)) {
    for (keyword, value) in node.iter_mut() {
        match (holds(keyword), value) {
            (Holds::Schemas, Json::Object(inner)) => each_node(inner, visit),
            (Holds::Schemas, Json::Array(list)) => {
                for inner in list.iter_mut().filter_map(Json::as_object_mut) {
                    each_node(inner, visit);
                }
            }
            (Holds::Named, Json::Object(named)) => {
                for (_, inner) in named.iter_mut() {
                    if let Json::Object(inner) = inner {
                        each_node(inner, visit);
                    }
                }
            }
            (Holds::Schemas | Holds::Named | Holds::Data, _) => {}
        }
    }
    visit(node);
}

/// Old drafts keep definitions under another name.
fn rename_definitions(node: &mut Map<String, Json>) {
    if let Some(Json::String(reference)) = node.get_mut("$ref") {
        *reference = renamed_reference(reference);
    }
    match node.shift_remove("definitions") {
        Some(Json::Object(old)) => {
            let defs = node.entry("$defs").or_insert_with(|| json!({}));
            if let Json::Object(defs) = defs {
                for (name, definition) in old {
                    defs.entry(name).or_insert(definition);
                }
            }
        }
        // Something else by that name is not ours to judge.
        Some(other) => {
            node.insert("definitions".to_owned(), other);
        }
        None => {}
    }
}

/// A reference within the schema with its definitions renamed; the names of properties stay.
fn renamed_reference(reference: &str) -> String {
    let Some(pointer) = reference.strip_prefix("#/") else {
        return reference.to_owned();
    };
    let mut renamed = String::from("#");
    let mut is_name = false;
    for segment in pointer.split('/') {
        let keyword = !is_name;
        is_name = keyword && matches!(holds(segment), Holds::Named);
        renamed.push('/');
        renamed.push_str(if keyword && segment == "definitions" {
            "$defs"
        } else {
            segment
        });
    }
    renamed
}

/// One schema or null is that schema, marked as nullable. What is said about the union is said about it.
fn fold_null(node: &mut Map<String, Json>, union: &str) {
    let Some(Json::Array(branches)) = node.get(union) else {
        return;
    };
    let [first, second] = branches.as_slice() else {
        return;
    };
    let only = match (is_null(first), is_null(second)) {
        (false, true) => first,
        (true, false) => second,
        (true, true) | (false, false) => return,
    };
    let Json::Object(only) = only.clone() else {
        return;
    };
    node.shift_remove(union);
    node.insert("nullable".to_owned(), json!(true));
    for (keyword, value) in only {
        node.entry(keyword).or_insert(value);
    }
    if node.contains_key("$ref") {
        node.shift_remove("default");
    }
}

fn is_null(branch: &Json) -> bool {
    branch.get("type") == Some(&json!("null"))
        || branch.get("const") == Some(&Json::Null)
        || branch.get("enum") == Some(&json!([null]))
}

/// An object says so and has properties, and requires only what it has.
fn complete(node: &mut Map<String, Json>) {
    let describes = node.contains_key("properties") || node.contains_key("required");
    if describes && !node.contains_key("type") {
        node.insert("type".to_owned(), json!("object"));
    }
    if node.get("type") == Some(&json!("object"))
        && !node.get("properties").is_some_and(Json::is_object)
    {
        node.insert("properties".to_owned(), json!({}));
    }
    let Some(required) = node.get("required") else {
        return;
    };
    let known = node.get("properties").and_then(Json::as_object);
    let kept: Vec<Json> = required
        .as_array()
        .into_iter()
        .flatten()
        .filter(|name| {
            name.as_str()
                .is_some_and(|name| known.is_some_and(|known| known.contains_key(name)))
        })
        .cloned()
        .collect();
    if kept.is_empty() {
        node.shift_remove("required");
    } else {
        node.insert("required".to_owned(), Json::Array(kept));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn schema() -> impl Strategy<Value = Json> {
        let word = prop_oneof![
            Just("definitions"),
            Just("$defs"),
            Just("properties"),
            Just("required"),
            Just("anyOf"),
            Just("oneOf"),
            Just("items"),
            Just("type"),
            Just("$ref"),
            Just("default"),
            Just("nullable"),
            Just("description"),
            Just("x"),
        ];
        let leaf = prop_oneof![
            Just(json!({ "type": "null" })),
            Just(json!("object")),
            Just(json!("string")),
            Just(json!("#/definitions/x")),
            Just(json!(["x", "y"])),
            Just(json!(null)),
            Just(json!({ "type": "string" })),
            Just(json!(true)),
        ];
        leaf.prop_recursive(5, 60, 5, move |inner| {
            prop_oneof![
                proptest::collection::vec((word.clone(), inner.clone()), 0..5).prop_map(|pairs| {
                    Json::Object(pairs.into_iter().map(|(k, v)| (k.to_owned(), v)).collect())
                }),
                proptest::collection::vec(inner, 0..3).prop_map(Json::Array),
            ]
        })
    }

    proptest! {
        #[test]
        fn doing_it_twice_changes_nothing(schema in schema()) {
            let once = normalise(&schema);
            prop_assert_eq!(&normalise(&once), &once);
        }
    }

    #[test]
    fn references_are_renamed_by_place() {
        assert_eq!(renamed_reference("#/definitions/A"), "#/$defs/A");
        assert_eq!(
            renamed_reference("#/properties/definitions"),
            "#/properties/definitions"
        );
        assert_eq!(
            renamed_reference("#/properties/definitions/definitions/B"),
            "#/properties/definitions/$defs/B"
        );
        assert_eq!(
            renamed_reference("#/definitions/definitions"),
            "#/$defs/definitions"
        );
        assert_eq!(
            renamed_reference("other.json#/definitions/A"),
            "other.json#/definitions/A"
        );
    }
}
