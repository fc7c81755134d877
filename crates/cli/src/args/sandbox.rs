//! `hermes sandbox …`

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub(crate) struct SandboxArgs {
    #[command(subcommand)]
    pub(crate) command: SandboxCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SandboxCommand {
    /// List the containers commands run in, of every profile
    #[command(visible_alias = "list")]
    Ls {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove containers; the files they keep on this machine stay
    #[command(visible_alias = "remove")]
    Rm {
        /// The names, as `ls` lists them
        #[arg(required_unless_present_any = ["idle", "all"], value_name = "NAME")]
        names: Vec<String>,
        /// Those nobody has used for their lifetime
        #[arg(long, conflicts_with = "names")]
        idle: bool,
        /// All of them, of every profile
        #[arg(long, conflicts_with_all = ["names", "idle"])]
        all: bool,
        /// Remove the files that they keep on this machine as well
        #[arg(long, conflicts_with = "idle")]
        files: bool,
        /// Do not ask
        #[arg(long, short = 'y')]
        yes: bool,
    },
    /// Look at files of ours that were changed elsewhere; nothing of it is put in the place of our own
    Returned {
        #[command(subcommand)]
        command: Option<ReturnedCommand>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum ReturnedCommand {
    /// List what came back from other machines and clouds, the newest first
    #[command(visible_alias = "list")]
    Ls {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show what is different from our own files
    #[command(visible_alias = "diff")]
    Show {
        /// The name, as `ls` lists it
        name: String,
    },
    /// Remove what came back
    #[command(visible_alias = "remove")]
    Rm {
        /// The names, as `ls` lists them
        #[arg(required_unless_present = "all", value_name = "NAME")]
        names: Vec<String>,
        /// Everything that came back
        #[arg(long, conflicts_with = "names")]
        all: bool,
        /// Do not ask
        #[arg(long, short = 'y')]
        yes: bool,
    },
}
