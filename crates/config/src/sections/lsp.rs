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
    /// Who installs a missing language server.
    pub enum InstallStrategy {
        /// Hermes.
        Auto = "auto",
        /// You, when told which one is missing.
        Manual = "manual",
        /// Nobody; only servers that are there are used.
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
        /// Who installs a missing server.
        install_strategy: InstallStrategy = InstallStrategy::Auto;
        /// Settings of single servers, by name.
        servers: BTreeMap<String, Value> = BTreeMap::new();
    }
}
