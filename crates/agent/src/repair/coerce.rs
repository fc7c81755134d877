//! Values of the wrong kind, turned into what the schema asks for where nothing is lost.

use serde_json::{Map, Value as Json};

/// Brings an object's values nearer to its schema.
pub(super) fn coerce(value: Json, schema: Option<&Json>) -> Json {
    let (Json::Object(object), Some(properties)) = (
        &value,
        schema
            .and_then(|schema| schema.get("properties"))
            .and_then(Json::as_object),
    ) else {
        return value;
    };
    let required: Vec<&str> = schema
        .and_then(|schema| schema.get("required"))
        .and_then(Json::as_array)
        .map(|names| names.iter().filter_map(Json::as_str).collect())
        .unwrap_or_default();
    let mut out = Map::new();
    for (name, value) in object {
        let Some(wanted) = properties.get(name) else {
            out.insert(name.clone(), value.clone());
            continue;
        };
        // Models write "null" or null where they mean to leave something out.
        let absent = value.is_null() || (value == "null" && !allows(wanted, "string"));
        if absent && !required.contains(&name.as_str()) && !allows(wanted, "null") {
            continue;
        }
        out.insert(name.clone(), one(value.clone(), wanted));
    }
    Json::Object(out)
}

fn one(value: Json, wanted: &Json) -> Json {
    if fits(&value, wanted) {
        return value;
    }
    if let Json::String(text) = &value {
        let trimmed = text.trim();
        if allows(wanted, "integer")
            && let Ok(number) = trimmed.parse::<i64>()
        {
            return number.into();
        }
        if allows(wanted, "number")
            && let Ok(number) = trimmed.parse::<f64>()
            && let Some(number) = serde_json::Number::from_f64(number)
        {
            return Json::Number(number);
        }
        if allows(wanted, "boolean") {
            match trimmed.to_ascii_lowercase().as_str() {
                "true" | "yes" | "1" => return true.into(),
                "false" | "no" | "0" => return false.into(),
                _ => {}
            }
        }
        if (allows(wanted, "array") || allows(wanted, "object"))
            && let Some(inner) = super::read(trimmed)
            && fits(&inner, wanted)
        {
            return inner;
        }
    }
    if let Json::Number(number) = &value {
        if allows(wanted, "integer")
            && let Some(whole) = number
                .as_f64()
                .filter(|n| n.fract() == 0.0 && n.abs() < 9e15)
        {
            return (whole as i64).into();
        }
        if allows(wanted, "string") {
            return number.to_string().into();
        }
    }
    if allows(wanted, "array") && !value.is_object() {
        let item = wanted.get("items").map(|items| one(value.clone(), items));
        return Json::Array(vec![item.unwrap_or(value)]);
    }
    value
}

fn fits(value: &Json, wanted: &Json) -> bool {
    match value {
        Json::Null => allows(wanted, "null"),
        Json::Bool(_) => allows(wanted, "boolean"),
        Json::Number(number) => {
            allows(wanted, "number")
                || (allows(wanted, "integer") && (number.is_i64() || number.is_u64()))
        }
        Json::String(_) => allows(wanted, "string"),
        Json::Array(_) => allows(wanted, "array"),
        Json::Object(_) => allows(wanted, "object"),
    }
}

/// Whether a schema allows a type; one that names none allows all.
fn allows(schema: &Json, kind: &str) -> bool {
    match schema.get("type") {
        Some(Json::String(only)) => only == kind,
        Some(Json::Array(kinds)) => kinds.iter().any(|one| one == kind),
        _ => match schema.get("anyOf").and_then(Json::as_array) {
            Some(branches) => branches.iter().any(|branch| allows(branch, kind)),
            None => true,
        },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    // AG-19
    #[test]
    fn values_become_what_the_schema_asks_for() {
        let schema = json!({"type": "object", "required": ["path"], "properties": {
            "path": {"type": "string"}, "limit": {"type": "integer"}, "ratio": {"type": "number"},
            "deep": {"type": "boolean"}, "names": {"type": "array", "items": {"type": "string"}},
            "map": {"type": "object"},
        }});
        let given = json!({"path": 7, "limit": "20", "ratio": "0.5", "deep": "true", "names": "a",
            "map": "{\"k\": 1}", "other": "x"});
        assert_eq!(
            coerce(given, Some(&schema)),
            json!({"path": "7", "limit": 20, "ratio": 0.5, "deep": true, "names": ["a"],
                "map": {"k": 1}, "other": "x"})
        );
        let given =
            json!({"path": null, "limit": null, "deep": "null", "ratio": 2.0, "names": ["x"]});
        assert_eq!(
            coerce(given, Some(&schema)),
            json!({"path": null, "ratio": 2.0, "names": ["x"]})
        );
        let given = json!({"limit": 3.0, "path": "p", "deep": "maybe"});
        assert_eq!(
            coerce(given, Some(&schema)),
            json!({"limit": 3, "path": "p", "deep": "maybe"})
        );
    }
}
