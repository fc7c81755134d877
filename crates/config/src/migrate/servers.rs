//! Switching off MCP servers that look like somebody planted them.

use crate::suspicion::suspicions;
use crate::value::{Map, Node, Value};

/// Switches off servers with a suspicious entry; returns their names.
pub(super) fn switch_off_suspicious(tree: &mut Node) -> Vec<String> {
    let blocked = tree
        .child("mcp")
        .and_then(|mcp| mcp.child("blocked_strings"))
        .map(texts)
        .unwrap_or_default();
    let Some(Value::Map(servers)) = tree
        .map_mut()
        .get_mut("mcp_servers")
        .map(|node| &mut node.value)
    else {
        return Vec::new();
    };
    let mut names = Vec::new();
    for (name, server) in servers.iter_mut() {
        if let Value::Map(server) = &mut server.value
            && is_suspicious(server, &blocked)
            && server
                .get("enabled")
                .is_none_or(|node| node.value != Value::Bool(false))
        {
            names.push(name.to_owned());
            let off = Node::from(Value::Bool(false));
            server.insert("enabled", off);
        }
    }
    names
}

fn is_suspicious(server: &Map, blocked: &[String]) -> bool {
    let list = |key: &str| server.get(key).map(texts).unwrap_or_default();
    let command = server
        .get("command")
        .and_then(Node::text)
        .unwrap_or_default();
    let (arguments, variables) = (list("args"), list("env"));
    let variables = variables.iter().map(String::as_str);
    !suspicions(&command, &arguments, variables, blocked).is_empty()
}

/// The texts in a value, however it is written.
fn texts(node: &Node) -> Vec<String> {
    match &node.value {
        Value::List(items) => items.iter().filter_map(Node::text).collect(),
        Value::Map(map) => map
            .iter()
            .flat_map(|(name, value)| std::iter::once(name.to_owned()).chain(value.text()))
            .collect(),
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Text(_) => {
            node.text().into_iter().collect()
        }
    }
}
