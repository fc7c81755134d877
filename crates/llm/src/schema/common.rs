//! What every provider wants.

use serde_json::{Map, Value as Json, json};

/// Applies the rules that hold everywhere to one node whose children are done.
pub(super) fn apply(node: &mut Map<String, Json>) {
    split_types(node);
    for union in ["anyOf", "oneOf"] {
        fold_null(node, union);
    }
    if node.contains_key("$ref") {
        node.shift_remove("default");
    }
    if node.contains_key("properties") && !node.contains_key("anyOf") {
        node.entry("type").or_insert(json!("object"));
    }
    if node.get("type") == Some(&json!("object")) {
        node.entry("properties").or_insert(json!({}));
    }
    prune_required(node);
}

/// Keeps only required names that exist; an empty list says nothing.
pub(super) fn prune_required(node: &mut Map<String, Json>) {
    let Some(required) = node.get("required") else {
        return;
    };
    let properties = node.get("properties").and_then(Json::as_object);
    let mut kept: Vec<Json> = Vec::new();
    for name in required.as_array().into_iter().flatten() {
        let exists = name
            .as_str()
            .is_some_and(|name| properties.is_some_and(|known| known.contains_key(name)));
        if exists && !kept.contains(name) {
            kept.push(name.clone());
        }
    }
    if kept.is_empty() {
        node.shift_remove("required");
    } else {
        node.insert("required".to_owned(), Json::Array(kept));
    }
}

/// A list of types becomes alternatives; `null` among them becomes a flag.
fn split_types(node: &mut Map<String, Json>) {
    let types = match node.get("type") {
        Some(Json::Array(types)) => types.clone(),
        Some(Json::String(_)) | None => return,
        Some(_) => {
            node.shift_remove("type");
            return;
        }
    };
    let mut named: Vec<&str> = Vec::new();
    for name in types.iter().filter_map(Json::as_str) {
        if name != "null" && !named.contains(&name) {
            named.push(name);
        }
    }
    let nullable = types.contains(&json!("null"));
    match named.as_slice() {
        [] if nullable => {
            node.insert("type".to_owned(), json!("null"));
            return;
        }
        [] => {
            node.shift_remove("type");
        }
        [only] => {
            node.insert("type".to_owned(), json!(only));
        }
        several => {
            node.shift_remove("type");
            if !node.contains_key("anyOf") {
                let branches = several.iter().map(|name| branch(name)).collect();
                node.insert("anyOf".to_owned(), Json::Array(branches));
            }
        }
    }
    if nullable {
        node.insert("nullable".to_owned(), json!(true));
    }
}

fn branch(name: &str) -> Json {
    match name {
        "object" => json!({ "type": name, "properties": {} }),
        _ => json!({ "type": name }),
    }
}

/// Takes `null` out of alternatives; a single one left takes the place of the union.
fn fold_null(node: &mut Map<String, Json>, union: &str) {
    let Some(Json::Array(branches)) = node.get(union) else {
        return;
    };
    let (null, mut kept): (Vec<Json>, Vec<Json>) =
        branches.iter().cloned().partition(is_null_branch);
    if null.is_empty() && kept.len() > 1 {
        return;
    }
    if !null.is_empty() {
        node.insert("nullable".to_owned(), json!(true));
    }
    if kept.len() > 1 {
        node.insert(union.to_owned(), Json::Array(kept));
        return;
    }
    node.shift_remove(union);
    if let Some(Json::Object(only)) = kept.pop() {
        for (keyword, value) in only {
            node.entry(keyword).or_insert(value);
        }
    }
}

fn is_null_branch(branch: &Json) -> bool {
    branch.get("type") == Some(&json!("null"))
        || branch.get("const") == Some(&Json::Null)
        || branch.get("enum") == Some(&json!([null]))
}
