//! Which variables hold keys that Hermes itself opens doors with, as the settings tell it.

use std::collections::BTreeSet;

use crate::disclosed::names_secret;
use crate::expand::names_in;
use crate::value::{Node, Value};

/// The settings that name such a variable, also as older files spell them.
const NAMING: [&str; 4] = ["key_env", "api_key_env", "keyEnv", "apiKeyEnv"];
/// A header with a key in it whose name does not say so.
const HEADER: &str = "authorization";
/// Settings whose values are for programs of the user, which may well share them with commands.
const HANDED_ON: [&str; 3] = ["mcp_servers", "skills", "docker_env"];

/// The variables that settings name as the place of a key.
pub(crate) fn named(settings: &Node) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    walk(settings, "", &mut |key, text| {
        if NAMING.contains(&key) && !text.is_empty() {
            names.insert(text.to_owned());
        }
    });
    names
}

/// The variables that stand as `${NAME}` where a key belongs. To be asked before they are put in.
pub(crate) fn put_in(settings: &Node) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    walk(settings, "", &mut |key, text| {
        let one = key.strip_suffix('s').unwrap_or(key);
        if names_secret(key) || names_secret(one) || key.eq_ignore_ascii_case(HEADER) {
            names.extend(names_in(text));
        }
    });
    names
}

fn walk(node: &Node, key: &str, see: &mut dyn FnMut(&str, &str)) {
    match &node.value {
        Value::Text(text) => see(key, text),
        Value::List(items) => items.iter().for_each(|item| walk(item, key, see)),
        Value::Map(map) => {
            for (key, child) in map.iter().filter(|(key, _)| !HANDED_ON.contains(key)) {
                walk(child, key, see);
            }
        }
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) => {}
    }
}
