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
    /// Remove containers and what is in them
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
        /// Do not ask
        #[arg(long, short = 'y')]
        yes: bool,
    },
}
