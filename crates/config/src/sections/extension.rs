//! `hooks`, `plugins`, `quick_commands` and `platform_hints`: what users add.

use std::time::Duration;

use crate::macros::{choice, secs, section};
use crate::value::Value;

section! {
    /// A command that runs when something happens.
    pub struct Hook {
        /// Regular expression the tool's name has to match; any when empty.
        @unlisted matcher: String = String::new();
        /// Command line; it gets the event as JSON.
        command: String = String::new();
        /// Seconds it may run, at most 300.
        @unlisted timeout: Duration = secs(60);
    }
}

section! {
    /// Which plugins are loaded.
    pub struct Plugins [..rest: Value] {
        /// Plugins to load; only those that come with Hermes when unset.
        @unlisted enabled: Option<Vec<String>> = None;
        /// Plugins never to load.
        @unlisted disabled: Vec<String> = Vec::new();
    }
}

choice! {
    /// What a command of your own does.
    pub enum QuickAction {
        /// Runs a program.
        Exec = "exec",
        /// Stands for another slash command.
        Alias = "alias",
    }
}

section! {
    /// A slash command of your own.
    pub struct QuickCommand [..rest: Value] {
        /// What it does.
        r#type as "type": QuickAction = QuickAction::Exec;
        /// Command line it runs.
        @unlisted command: String = String::new();
        /// Slash command it stands for.
        @unlisted target: String = String::new();
        /// What lists say about it.
        @unlisted description: String = String::new();
    }
}

section! {
    /// What the model is told about a platform.
    pub struct PlatformHint {
        /// Text added to the built-in one.
        @unlisted append: String = String::new();
        /// Text in place of the built-in one.
        @unlisted replace: Option<String> = None;
    }
}
