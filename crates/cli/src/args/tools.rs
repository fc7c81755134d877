//! `hermes tools …`

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct ToolsArgs {
    /// Print what is on and ask nothing
    #[arg(long)]
    pub(crate) summary: bool,
    #[command(subcommand)]
    pub(crate) command: Option<ToolsCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ToolsCommand {
    /// List the toolsets and whether they are on
    List {
        /// Where: cli, telegram, …
        #[arg(long, default_value = "cli")]
        platform: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Switch toolsets on
    Enable(SwitchArgs),
    /// Switch toolsets off
    Disable(SwitchArgs),
}

#[derive(Debug, Args)]
pub(crate) struct SwitchArgs {
    /// Names of toolsets, or SERVER:TOOL for a single tool of an MCP server
    #[arg(required = true)]
    pub(crate) names: Vec<String>,
    /// Where: cli, telegram, …
    #[arg(long, default_value = "cli")]
    pub(crate) platform: String,
}
