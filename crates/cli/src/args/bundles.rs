//! `hermes bundles …`

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub(crate) struct BundlesArgs {
    #[command(subcommand)]
    pub(crate) command: Option<BundlesCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum BundlesCommand {
    /// List the bundles
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show a bundle
    Show {
        /// The bundle
        name: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Make a bundle of skills
    Create {
        /// What it is called
        name: String,
        /// The skills, in order
        #[arg(required = true, value_name = "SKILL")]
        skills: Vec<String>,
        /// What it is for
        #[arg(long, default_value = "")]
        description: String,
        /// What is to be done with the skills
        #[arg(long, default_value = "")]
        instruction: String,
    },
    /// Delete a bundle; its skills stay
    Delete {
        /// The bundle
        name: String,
    },
    /// Look at the files again and say what is there
    Reload,
}
