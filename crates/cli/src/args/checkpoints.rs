//! `hermes checkpoints …`

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub(crate) struct CheckpointsArgs {
    #[command(subcommand)]
    pub(crate) command: Option<CheckpointsCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CheckpointsCommand {
    /// Say which directories have checkpoints and how much room they take
    Status {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// List the checkpoints of the project around this directory, newest first
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show what changed since a checkpoint
    Diff {
        /// A number of the list, or a hash
        which: String,
    },
    /// Put the project, or one file of it, back to a checkpoint; the present state is kept as one first
    Restore {
        /// A number of the list, or a hash
        which: String,
        /// Only this file
        file: Option<String>,
        /// Do not ask
        #[arg(long, short = 'y')]
        yes: bool,
    },
    /// Remove checkpoints that are too old, too many or without their directory
    Prune,
    /// Remove all checkpoints
    Clear {
        /// Do not ask
        #[arg(long, short = 'y')]
        yes: bool,
    },
    /// Remove stores that older versions left behind
    ClearLegacy,
}
