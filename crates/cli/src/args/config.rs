//! `hermes config …`

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    pub(crate) command: Option<ConfigCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Show what is in effect, and where each value comes from
    Show {
        /// Every setting, not only the ones that differ from the defaults
        #[arg(long)]
        all: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print one setting as it is in effect
    Get {
        /// The setting, such as display.skin
        key: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Change one setting and nothing else in the file
    Set {
        /// The setting, such as display.skin, or a key for .env such as OPENROUTER_API_KEY
        key: String,
        /// The new value
        #[arg(allow_hyphen_values = true)]
        value: String,
        /// Accept a key that nothing reads
        #[arg(long)]
        force: bool,
    },
    /// Remove one setting, so that its default holds again
    Unset {
        /// The setting
        key: String,
    },
    /// Print where config.yaml is
    Path,
    /// Print where .env is
    EnvPath,
    /// Look for mistakes in config.yaml and .env
    Check {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Rewrite old spellings in config.yaml
    Migrate {
        /// Say what would change, and change nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// Open config.yaml in an editor
    Edit,
}
