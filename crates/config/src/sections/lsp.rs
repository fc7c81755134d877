//! `lsp`: language servers that check edited files.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::macros::{choice, secs, section};
use crate::value::Value;

choice! {
    /// How much of a project is checked after an edit.
    pub enum WaitMode {
        /// The edited file.
        Document = "document",
        /// The whole project.
        Full = "full",
    }
}

choice! {
    /// What happens when a language server is missing. Hermes never installs one by itself.
    pub enum InstallStrategy {
        /// The same as `off`.
        Auto = "auto",
        /// You are told once which one is missing.
        Manual = "manual",
        /// Nothing; only servers that are there are used.
        Off = "off",
    }
}

section! {
    /// Language servers that check files the agent has edited.
    pub struct Lsp {
        /// Uses language servers.
        enabled: bool = true;
        /// How much is checked after an edit.
        wait_mode: WaitMode = WaitMode::Document;
        /// Seconds an edit waits for the findings.
        wait_timeout: Duration = secs(5);
        /// What happens when a server is missing; none is ever installed by itself.
        install_strategy: InstallStrategy = InstallStrategy::Auto;
        /// Single servers by name: `command` (a list), `extensions` (a list), `disabled`.
        servers: BTreeMap<String, Value> = BTreeMap::new();
    }
}
