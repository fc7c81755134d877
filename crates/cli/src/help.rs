//! The overview: commands in groups, the ones people need first on top.

use std::fmt::Write;

use clap::Subcommand;

use crate::args::Command;

pub(crate) const TEMPLATE: &str =
    "{before-help}{about}\n\n{usage-heading} {usage}{after-help}\n\nOptions:\n{options}";

/// Which command stands where. A test fails when one is missing.
pub(crate) const GROUPS: &[(&str, &[&str])] = &[
    (
        "Conversations",
        &["chat", "sessions", "memory", "learning", "insights"],
    ),
    (
        "Models and tools",
        &[
            "model",
            "auth",
            "fallback",
            "tools",
            "skills",
            "bundles",
            "curator",
            "mcp",
            "prompt-size",
        ],
    ),
    (
        "Settings",
        &["setup", "config", "profile", "policy", "sandbox"],
    ),
    (
        "Home",
        &[
            "status",
            "doctor",
            "security",
            "checkpoints",
            "backup",
            "import",
            "logs",
            "dump",
        ],
    ),
    ("More", &["completion", "version"]),
];

/// The groups with a line for each command.
pub(crate) fn groups() -> String {
    let commands = Command::augment_subcommands(clap::Command::new("hermes"));
    let about = |name: &str| {
        let command = commands.find_subcommand(name);
        command
            .and_then(clap::Command::get_about)
            .map(ToString::to_string)
            .unwrap_or_default()
    };
    let mut text = String::new();
    for (group, names) in GROUPS {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{group}:");
        for name in *names {
            let _ = writeln!(text, "  {name:<12} {}", about(name));
        }
        text.push('\n');
    }
    text.push_str("hermes COMMAND --help says more about a command.");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_stands_in_one_group() {
        let commands = Command::augment_subcommands(clap::Command::new("hermes"));
        let mut known: Vec<_> = commands
            .get_subcommands()
            .map(|command| command.get_name().to_owned())
            .collect();
        let mut grouped: Vec<_> = GROUPS
            .iter()
            .flat_map(|(_, names)| *names)
            .map(|name| (*name).to_owned())
            .collect();
        known.sort();
        grouped.sort();
        assert_eq!(known, grouped);
    }
}
