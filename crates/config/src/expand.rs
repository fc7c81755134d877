//! `${NAME}` in the values of `config.yaml`.

use std::collections::BTreeSet;

use crate::environment::Environment;
use crate::value::{Node, Value};

/// The section whose texts keep the name of a variable that is set to nothing.
const SERVERS: &str = "mcp_servers";

/// Replaces `${NAME}` and `${env:NAME}` in every text by the variable of that name; one that is not set
/// stays as it is. For MCP servers an empty variable counts as not set: an empty header or key is never
/// meant, and what stays literal can be named in a warning.
///
/// Keys and values that are not text are left alone, and what was put in is not looked at again.
/// Returns the names that were found, whether set or not: when one of them changes, so do the settings.
pub(crate) fn expand(node: &mut Node, environment: &Environment) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let any = |name: &str| environment.get_named(name).map(str::to_owned);
    let filled = |name: &str| environment.filled_named(name).map(str::to_owned);
    match &mut node.value {
        Value::Map(map) => {
            for (key, child) in map.iter_mut() {
                let lookup: Lookup<'_> = if key == SERVERS { &filled } else { &any };
                walk(child, lookup, &mut names);
            }
        }
        _ => walk(node, &any, &mut names),
    }
    names
}

/// The same for the entry of one MCP server.
pub(crate) fn expand_server(node: &mut Node, environment: &Environment) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let filled = |name: &str| environment.filled_named(name).map(str::to_owned);
    walk(node, &filled, &mut names);
    names
}

/// The variables that a text refers to.
pub(crate) fn names_in(text: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    replaced(text, &|_| None, &mut names);
    names
}

type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

fn walk(node: &mut Node, lookup: Lookup<'_>, names: &mut BTreeSet<String>) {
    match &mut node.value {
        Value::Text(text) if text.contains("${") => *text = replaced(text, lookup, names),
        Value::List(items) => {
            for item in items {
                walk(item, lookup, names);
            }
        }
        Value::Map(map) => {
            for (_, child) in map.iter_mut() {
                walk(child, lookup, names);
            }
        }
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Text(_) => {}
    }
}

fn replaced(text: &str, lookup: Lookup<'_>, names: &mut BTreeSet<String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        let Some(length) = rest[start..].find('}') else {
            break;
        };
        let whole = &rest[start..=start + length];
        let name = &whole[2..whole.len() - 1];
        let name = name.strip_prefix("env:").unwrap_or(name);
        out.push_str(&rest[..start]);
        if !name.is_empty() {
            names.insert(name.to_owned());
        }
        out.push_str(lookup(name).as_deref().unwrap_or(whole));
        rest = &rest[start + length + 1..];
    }
    out.push_str(rest);
    out
}
