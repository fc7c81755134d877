//! MCP servers that look like somebody planted them.

use crate::value::{Map, Node, Value};

const SHELLS: [&str; 7] = ["sh", "bash", "zsh", "dash", "ksh", "fish", "busybox"];
/// Ways out of the machine, and what is worth carrying there.
const SENDERS: [&str; 6] = ["curl", "wget", "nc ", "ncat", "/dev/tcp/", "scp "];
const LOOT: [&str; 8] = [
    ".env",
    "id_rsa",
    "id_ed25519",
    ".ssh/",
    "auth.json",
    ".aws/",
    "credentials",
    "printenv",
];
/// Places that make a command come back after a restart or let somebody in.
const FOOTHOLDS: [&str; 9] = [
    "authorized_keys",
    "crontab",
    "/etc/cron",
    ".bashrc",
    ".zshrc",
    ".profile",
    "launchagents",
    "systemd/",
    "rc.local",
];

/// Switches off servers whose command line hands out secrets or settles in; returns their names.
pub(super) fn switch_off_suspicious(tree: &mut Node) -> Vec<String> {
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
            && is_suspicious(server)
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

fn is_suspicious(server: &Map) -> bool {
    let text = |key: &str| server.get(key).and_then(Node::text).unwrap_or_default();
    let command = text("command");
    let program = command.rsplit('/').next().unwrap_or(&command);
    if !SHELLS.contains(&program) {
        return false;
    }
    let arguments = match server.get("args").map(|node| &node.value) {
        Some(Value::List(items)) => items
            .iter()
            .filter_map(Node::text)
            .collect::<Vec<_>>()
            .join(" "),
        Some(_) => text("args"),
        None => String::new(),
    };
    let line = arguments.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| line.contains(word));
    has(&FOOTHOLDS) || (has(&SENDERS) && has(&LOOT))
}
