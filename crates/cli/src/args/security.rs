//! `hermes security …`

use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Args)]
pub(crate) struct SecurityArgs {
    #[command(subcommand)]
    pub(crate) command: SecurityCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SecurityCommand {
    /// Look up what is known against the packages that servers are started from
    Audit(AuditArgs),
}

#[derive(Debug, Args)]
pub(crate) struct AuditArgs {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// End with 1 when something is known that is this bad or worse; what nobody rated counts as bad
    #[arg(long, value_name = "LEVEL", value_enum)]
    pub(crate) fail_on: Option<Level>,
    /// Leave the packages of MCP servers out
    #[arg(long)]
    pub(crate) skip_mcp: bool,
}

/// How bad something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Level {
    Low,
    Moderate,
    High,
    Critical,
}
