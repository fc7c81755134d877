//! What a path is guarded for when it is written.

use crate::Surroundings;
use crate::places::{
    PRODUCT_SECRETS, below_home, below_product, file_name, is_credential, is_dotenv, is_under,
};

/// What a path is guarded for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Guard {
    /// The system's configuration and programs.
    System,
    /// Read by a shell when it starts.
    ShellStart,
    /// Keys and hosts of ssh.
    Ssh,
    /// Passwords, tokens and keys.
    Credential,
    /// Our own settings, secrets and state.
    Product,
    /// Settings and secrets of a project.
    Project,
    /// What starts by itself: timers, services, login items.
    Persistence,
    /// Hooks of a repository, and the folder of a project whose settings we follow.
    Hook,
}

const SHELL_START: [&str; 15] = [
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".kshrc",
    ".cshrc",
    ".tcshrc",
    ".inputrc",
];

/// Where the system looks for what it starts by itself.
const PERSISTENT: [&str; 9] = [
    "/etc/cron",
    "/etc/crontab",
    "/etc/systemd",
    "/etc/init.d",
    "/etc/rc.local",
    "/var/spool/cron",
    "/usr/lib/systemd",
    "/lib/systemd",
    "/etc/anacrontab",
];

/// The same below a home.
const LOGIN: [&str; 4] = [
    ".config/systemd",
    ".config/autostart",
    "Library/LaunchAgents",
    "Library/LaunchDaemons",
];

const SYSTEM: [&str; 12] = [
    "/etc",
    "/boot",
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib64",
    "/sys",
    "/System",
    "/Library",
    "/private/etc",
    "/private/var/db",
];

/// What a path is guarded for when it is written.
pub(crate) fn guards(path: &str, around: &Surroundings) -> Vec<Guard> {
    let mut guards = Vec::new();
    let name = file_name(path);
    let below = below_home(path, around);
    if PERSISTENT.iter().any(|start| path.starts_with(start))
        || path.starts_with("/Library/Launch")
        || below.is_some_and(|below| LOGIN.iter().any(|place| is_under(below, place)))
    {
        guards.push(Guard::Persistence);
    }
    let exempt = is_under(path, "/usr/local") || is_under(path, "/usr/src");
    if path == "/" || !exempt && SYSTEM.iter().any(|place| is_under(path, place)) {
        guards.push(Guard::System);
    }
    let start_file = matches!(
        path,
        "/etc/profile" | "/etc/bash.bashrc" | "/etc/environment"
    ) || is_under(path, "/etc/profile.d");
    let own_start = below.is_some_and(|below| {
        SHELL_START.contains(&below)
            || is_under(below, ".config/fish")
            || is_under(below, ".oh-my-zsh")
    });
    if start_file || own_start {
        guards.push(Guard::ShellStart);
    }
    if below.is_some_and(|below| is_under(below, ".ssh")) {
        guards.push(Guard::Ssh);
    }
    if is_product(path, around) {
        guards.push(Guard::Product);
    } else if is_dotenv(name) || is_settings(path) {
        guards.push(Guard::Project);
    } else if is_credential(path, around) && !guards.contains(&Guard::Ssh) {
        guards.push(Guard::Credential);
    }
    // Our own home has that name too.
    let ours = name == ".hermes" && !is_under(&around.product_home, path);
    if path.contains("/.git/hooks/") || path.ends_with("/.git/config") || ours {
        guards.push(Guard::Hook);
    }
    guards
}

/// A project's `config.yaml`.
fn is_settings(path: &str) -> bool {
    matches!(file_name(path), "config.yaml" | "config.yml")
}

/// Our own settings, secrets and state.
pub(crate) fn is_product(path: &str, around: &Surroundings) -> bool {
    below_product(path, around).is_some_and(|below| {
        const FILES: [&str; 6] = [
            "config.yaml",
            "SOUL.md",
            "hermes.db",
            "state.db",
            "gateway_state.json",
            "pairing.json",
        ];
        const DIRECTORIES: [&str; 7] = [
            "sessions",
            "mcp-tokens",
            "pairing",
            "skills/.hub",
            "hooks",
            "bin",
            "auth",
        ];
        FILES.contains(&below)
            || PRODUCT_SECRETS.contains(&below)
            || DIRECTORIES
                .iter()
                .any(|directory| is_under(below, directory))
    })
}
