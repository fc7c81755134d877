//! `hermes curator …`

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub(crate) struct CuratorArgs {
    #[command(subcommand)]
    pub(crate) command: Option<CuratorCommand>,
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Only say what would be done; where skills are merged, a model does it on a copy
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Also have a model merge skills that overlap, whatever curator.consolidate says
    #[arg(long)]
    pub(crate) consolidate: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CuratorCommand {
    /// Say when skills were tidied up last and what a run would do
    Status {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// List how often each skill was used
    Usage {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Tidy up now: unused skills become stale and are then put away
    Run(RunArgs),
    /// Stop tidying up by itself
    Pause,
    /// Tidy up by itself again
    Resume,
    /// Keep a skill from being put away
    Pin {
        /// The skill
        name: String,
    },
    /// Let a skill be put away again
    Unpin {
        /// The skill
        name: String,
    },
    /// Put a skill away; nothing is deleted
    Archive {
        /// The skill
        name: String,
    },
    /// Bring a skill back that was put away
    Restore {
        /// The skill
        name: String,
    },
    /// List the skills that were put away
    ListArchived {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Delete skills that were put away long ago
    Prune {
        /// Only those that were put away so many days ago
        #[arg(long, default_value_t = 90)]
        days: u32,
        /// Do not ask
        #[arg(long, short = 'y')]
        yes: bool,
    },
    /// Copy all skills
    Backup,
    /// Make all skills what they were in a copy
    Rollback {
        /// The copy; the newest one when left out
        name: Option<String>,
        /// Only list the copies there are
        #[arg(long, conflicts_with = "name")]
        list: bool,
        /// Print the list as JSON
        #[arg(long, requires = "list")]
        json: bool,
        /// Do not ask
        #[arg(long, short = 'y')]
        yes: bool,
    },
}
