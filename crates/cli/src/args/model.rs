//! `hermes model …`

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct ModelArgs {
    /// Explain which model answers, and where each part of its route comes from
    #[arg(long)]
    pub(crate) why: bool,
    /// Explain it for this model, as NAME or PROVIDER:NAME
    #[arg(short, long, value_name = "MODEL", requires = "why")]
    pub(crate) model: Option<String>,
    /// Explain it for this provider
    #[arg(long, value_name = "ID", requires = "why")]
    pub(crate) provider: Option<String>,
    /// Print JSON
    #[arg(long, requires = "why")]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) command: Option<ModelCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ModelCommand {
    /// List providers, or the models of one
    List {
        /// List the models of this provider; it is asked when there is a key
        #[arg(long, value_name = "ID")]
        provider: Option<String>,
        /// Ask the provider even if its last answer is fresh
        #[arg(long, requires = "provider")]
        refresh: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Let this model answer from now on
    Set {
        /// The model, as NAME or PROVIDER:NAME
        model: String,
        /// The provider that serves it
        #[arg(long, value_name = "ID")]
        provider: Option<String>,
        /// The address of the API, in place of the provider's own
        #[arg(long, value_name = "URL")]
        base_url: Option<String>,
        /// The key, kept the way `hermes auth add` keeps it; with an address, for that address only
        #[arg(long, value_name = "KEY", allow_hyphen_values = true)]
        api_key: Option<String>,
    },
    /// Remove an endpoint of your own, with the keys that are kept for it
    Remove {
        /// Its name, as `hermes model list` shows it
        endpoint: String,
        /// Do not ask
        #[arg(short, long)]
        yes: bool,
    },
    /// Download a model that runs inside the program
    Pull {
        /// Which one
        #[arg(value_parser = ["smollm2"])]
        name: String,
    },
}
