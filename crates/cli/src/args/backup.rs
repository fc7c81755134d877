//! `hermes backup` and `hermes import`

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct BackupArgs {
    /// The zip file to write, or a directory to put it in
    #[arg(short, long, value_name = "FILE", conflicts_with = "quick")]
    pub(crate) output: Option<PathBuf>,
    /// Only copy the state that matters into state-snapshots/
    #[arg(short, long)]
    pub(crate) quick: bool,
    /// Add this to the name of a quick snapshot
    #[arg(short, long, requires = "quick")]
    pub(crate) label: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// A zip file written by hermes backup, or the name of a quick snapshot of this home
    #[arg(value_name = "ZIP|SNAPSHOT")]
    pub(crate) from: PathBuf,
    /// Replace files that are there; a snapshot of the state is taken first
    #[arg(short, long)]
    pub(crate) force: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
