//! `${NAME}` in the values of `config.yaml`.

use std::collections::BTreeSet;

use crate::environment::Environment;
use crate::value::{Node, Value};

/// Replaces `${NAME}` in every text by the variable of that name; one that is not set stays as it is.
///
/// Keys and values that are not text are left alone, and what was put in is not looked at again.
/// Returns the names that were found, whether set or not: when one of them changes, so do the settings.
pub(crate) fn expand(node: &mut Node, environment: &Environment) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    walk(node, environment, &mut names);
    names
}

fn walk(node: &mut Node, environment: &Environment, names: &mut BTreeSet<String>) {
    match &mut node.value {
        Value::Text(text) if text.contains("${") => *text = replaced(text, environment, names),
        Value::List(items) => {
            for item in items {
                walk(item, environment, names);
            }
        }
        Value::Map(map) => {
            for (_, child) in map.iter_mut() {
                walk(child, environment, names);
            }
        }
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Text(_) => {}
    }
}

fn replaced(text: &str, environment: &Environment, names: &mut BTreeSet<String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        let Some(length) = rest[start..].find('}') else {
            break;
        };
        let whole = &rest[start..=start + length];
        let name = &whole[2..whole.len() - 1];
        out.push_str(&rest[..start]);
        if !name.is_empty() {
            names.insert(name.to_owned());
        }
        out.push_str(environment.get(name).unwrap_or(whole));
        rest = &rest[start + length + 1..];
    }
    out.push_str(rest);
    out
}
