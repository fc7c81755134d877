//! Walking a schema: where schemas are nested and where plain data is.

use serde_json::{Map, Value as Json, json};

/// What the value of a keyword holds.
enum Holds {
    /// A schema.
    Schema,
    /// A list of schemas.
    List,
    /// Schemas by name.
    Named,
    /// Anything else: data, even when it looks like a schema.
    Data,
}

fn holds(keyword: &str) -> Holds {
    match keyword {
        "items"
        | "additionalProperties"
        | "not"
        | "if"
        | "then"
        | "else"
        | "contains"
        | "propertyNames" => Holds::Schema,
        "anyOf" | "oneOf" | "allOf" | "prefixItems" => Holds::List,
        "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas" => {
            Holds::Named
        }
        _ => Holds::Data,
    }
}

/// Copies a schema, innermost nodes first, and lets `visit` change each copied node.
pub(super) fn rebuild(schema: &Json, visit: &dyn Fn(&mut Map<String, Json>)) -> Map<String, Json> {
    let mut node = Map::new();
    for (keyword, value) in as_node(schema) {
        let copied = match (holds(&keyword), value) {
            // Only data says yes or no to all further properties.
            (Holds::Schema, Json::Bool(flag)) if keyword == "additionalProperties" => {
                Json::Bool(flag)
            }
            (Holds::Schema, Json::Array(several)) => one_of_several(&several, visit),
            (Holds::Schema, one) => rebuild(&one, visit).into(),
            (Holds::List, Json::Array(list)) => {
                list.iter().map(|one| rebuild(one, visit)).collect()
            }
            (Holds::Named, Json::Object(named)) => named
                .iter()
                .map(|(name, one)| (name.clone(), rebuild(one, visit).into()))
                .collect::<Map<_, _>>()
                .into(),
            (Holds::List | Holds::Named, _) => continue,
            (Holds::Data, data) => data,
        };
        node.insert(keyword, copied);
    }
    visit(&mut node);
    node
}

/// Old drafts list the schemas of a tuple; no provider takes that.
fn one_of_several(several: &[Json], visit: &dyn Fn(&mut Map<String, Json>)) -> Json {
    match several {
        [] => Json::Object(Map::new()),
        [only] => rebuild(only, visit).into(),
        more => rebuild(&json!({ "anyOf": more }), visit).into(),
    }
}

/// Some servers write the name of a type where a schema belongs, or `true` for anything.
fn as_node(schema: &Json) -> Map<String, Json> {
    match schema {
        Json::Object(node) => node.clone(),
        Json::String(name) if is_type(name) => Map::from_iter([("type".to_owned(), json!(name))]),
        Json::String(_) | Json::Null | Json::Bool(_) | Json::Number(_) | Json::Array(_) => {
            Map::new()
        }
    }
}

fn is_type(name: &str) -> bool {
    [
        "object", "array", "string", "number", "integer", "boolean", "null",
    ]
    .contains(&name)
}
