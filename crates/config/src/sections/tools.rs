//! `tools`, `code_execution` and `computer_use`: how tools are offered and run.

use std::time::Duration;

use super::automatic::Automatic;
use crate::macros::{choice, secs, section};

section! {
    /// How tools are offered to the model.
    pub struct Tools {
        /// Hiding rarely used tools behind a search.
        tool_search: ToolSearch = ToolSearch::default();
    }
}

section! {
    /// Hiding MCP and plugin tools behind a search, so that their descriptions do not fill the context.
    pub struct ToolSearch {
        /// When tools are hidden; `auto` once their descriptions pass the threshold.
        enabled: Automatic = Automatic::Auto;
        /// Share of the context window in percent from which `auto` hides them.
        threshold_pct: f64 = 10.0, in 0.0..=100.0;
        /// Tools one search returns unless the model asks for more.
        search_default_limit: u32 = 5, in 1..=1000;
        /// Most tools one search returns.
        max_search_limit: u32 = 20, in 1..=1000;
    }
}

choice! {
    /// Where the model's scripts run.
    pub enum CodeMode {
        /// In the project, with its interpreter.
        Project = "project",
        /// In an empty directory with a bare interpreter.
        Strict = "strict",
    }
}

section! {
    /// Scripts the model writes to call several tools at once.
    pub struct CodeExecution {
        /// Where they run.
        mode: CodeMode = CodeMode::Project;
        /// Seconds one script may run.
        @unlisted timeout: Duration = secs(300);
        /// Tool calls one script may make.
        @unlisted max_tool_calls: u32 = 50;
    }
}

section! {
    /// Driving the desktop of this machine.
    pub struct ComputerUse {
        /// Lets the driver report usage to its makers.
        cua_telemetry: bool = false;
    }
}
