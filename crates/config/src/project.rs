//! The settings a project may bring along.
//!
//! A repository is not trusted: it may say how things look and how much is kept, never which model or
//! server is called, what may run, or what is asked.

use std::path::{Path, PathBuf};

use crate::problem::{Fault, Problem};
use crate::value::{KeyPath, Node, Value};

/// What a project may set; a section stands for everything in it.
const HARMLESS: [&str; 10] = [
    "display",
    "tool_output",
    "compression",
    "checkpoints",
    "timezone",
    "worktree",
    "worktree_sync",
    "lsp.enabled",
    "lsp.wait_mode",
    "lsp.wait_timeout",
];

/// The settings file of a project.
pub(crate) fn file_in(directory: &Path) -> PathBuf {
    directory.join(".hermes").join("config.yaml")
}

/// Keeps what a project may set and notes the rest.
pub(crate) fn harmless(node: Node, problems: &mut Vec<Problem>) -> Node {
    let allowed: Vec<_> = HARMLESS
        .iter()
        .filter_map(|key| KeyPath::parse(key))
        .collect();
    keep(node, &KeyPath::root(), &allowed, problems).unwrap_or_default()
}

fn keep(
    node: Node,
    path: &KeyPath,
    allowed: &[KeyPath],
    problems: &mut Vec<Problem>,
) -> Option<Node> {
    let starts = |key: &KeyPath, with: &KeyPath| key.prefix(with.len()) == *with;
    if !path.is_empty() && allowed.iter().any(|key| starts(path, key)) {
        return Some(node);
    }
    let leads_on = allowed.iter().any(|key| starts(key, path));
    match node.value {
        Value::Map(map) if leads_on => {
            let kept = map
                .into_iter()
                .filter_map(|(key, child)| {
                    let child = keep(child, &path.child(&key), allowed, problems)?;
                    Some((key, child))
                })
                .collect();
            Some(Node {
                value: Value::Map(kept),
                ..node
            })
        }
        Value::Null => None,
        Value::Bool(_)
        | Value::Int(_)
        | Value::Float(_)
        | Value::Text(_)
        | Value::List(_)
        | Value::Map(_) => {
            problems.push(Problem {
                key: path.clone(),
                origin: node.origin,
                file: None,
                fault: Fault::NotForProjects,
            });
            None
        }
    }
}
