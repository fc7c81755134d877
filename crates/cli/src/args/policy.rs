//! `hermes policy …`

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub(crate) struct PolicyArgs {
    #[command(subcommand)]
    pub(crate) command: PolicyCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PolicyCommand {
    /// Say what would become of a command, without running it
    Check {
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// The command, as one argument or as several words
        #[arg(required = true, last = true, value_name = "COMMAND")]
        command: Vec<String>,
    },
    /// List the categories a command can fall into
    Rules {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show who allowed or refused what, newest first
    Log {
        /// Only this session
        #[arg(long)]
        session: Option<String>,
        /// How many
        #[arg(long, short = 'n', default_value_t = 50)]
        limit: u32,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}
