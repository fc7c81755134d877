//! Plugins that were loaded before they had to be listed.

use std::path::Path;

use crate::files::{self, FileError};
use crate::value::{KeyPath, Layer, Node, Value};
use crate::yaml;

const MANIFESTS: [&str; 2] = ["plugin.yaml", "plugin.yml"];

/// Lists the installed plugins in `plugins.enabled` when there is no such list yet.
pub(super) fn allow_installed(tree: &mut Node, directory: &Path) -> Result<bool, FileError> {
    let key = KeyPath::of(["plugins", "enabled"]);
    let plain = tree
        .child("plugins")
        .is_some_and(|plugins| !matches!(plugins.value, Value::Map(_) | Value::Null));
    if plain || tree.at(&key).is_some() {
        return Ok(false);
    }
    let disabled: Vec<_> = match tree.at(&KeyPath::of(["plugins", "disabled"])) {
        Some(Node {
            value: Value::List(items),
            ..
        }) => items.iter().filter_map(Node::text).collect(),
        Some(_) | None => Vec::new(),
    };
    let mut names = Vec::new();
    for entry in files::names_of_directories(directory)? {
        let plugin = directory.join(&entry);
        for manifest in MANIFESTS {
            if let Some(bytes) = files::read(&plugin.join(manifest))? {
                names.push(name_in(&bytes).unwrap_or_else(|| entry.clone()));
                break;
            }
        }
    }
    names.retain(|name| !disabled.contains(name));
    let list = names
        .into_iter()
        .map(|name| Node::new(Value::Text(name), Layer::File))
        .collect();
    Ok(tree
        .set(&key, Node::new(Value::List(list), Layer::File))
        .is_ok())
}

/// The name a manifest gives; one that cannot be read gives none.
fn name_in(manifest: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(manifest).ok()?;
    let name = yaml::parse(text, Layer::File).ok()?.child("name")?.text()?;
    Some(name).filter(|name| !name.is_empty())
}
