//! `hermes fallback …`

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub(crate) struct FallbackArgs {
    #[command(subcommand)]
    pub(crate) command: Option<FallbackCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum FallbackCommand {
    /// List the models to turn to, in order
    #[command(alias = "ls")]
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Put a model at the end of the list
    Add {
        /// The model, as NAME or PROVIDER:NAME
        model: String,
        /// The provider that serves it
        #[arg(long, value_name = "ID")]
        provider: Option<String>,
        /// The address of the API, in place of the provider's own
        #[arg(long, value_name = "URL")]
        base_url: Option<String>,
        /// The variable that holds the key
        #[arg(long, value_name = "NAME")]
        key_env: Option<String>,
    },
    /// Take a model out of the list
    #[command(alias = "rm")]
    Remove {
        /// Its number in the list, or PROVIDER/MODEL
        which: String,
    },
    /// Empty the list
    Clear,
    /// Make one tiny call to each and say which work
    Test {
        /// Only find out how each would be reached
        #[arg(long)]
        dry_run: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}
