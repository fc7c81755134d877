//! `hermes auth …`

use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Args)]
pub(crate) struct AuthArgs {
    #[command(subcommand)]
    pub(crate) command: Option<AuthCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AuthCommand {
    /// Add a key, or sign in
    Add(AddArgs),
    /// List the keys and logins there are
    List {
        /// Only those of this provider
        provider: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove one key or login
    Remove {
        /// Whose
        provider: String,
        /// Its number, label or id in the list
        target: String,
    },
    /// Use keys again that rest after a refusal
    Reset {
        /// Whose
        provider: String,
    },
    /// Say whether a provider can be used; without one, show all that have anything
    Status {
        /// Whose
        provider: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Forget a login
    Logout {
        /// Whose
        provider: String,
    },
}

#[derive(Debug, Default, Args)]
pub(crate) struct AddArgs {
    /// Whose: an id or another name of a provider, or an endpoint of your own
    pub(crate) provider: String,
    /// What to add; follows from the provider
    #[arg(long = "type", value_enum)]
    pub(crate) kind: Option<AuthKind>,
    /// What to call it
    #[arg(long)]
    pub(crate) label: Option<String>,
    /// The key; asked for, or read from a pipe, when left out
    #[arg(long, value_name = "KEY", allow_hyphen_values = true)]
    pub(crate) api_key: Option<String>,
    /// Sign in at this address
    #[arg(long, value_name = "URL")]
    pub(crate) portal_url: Option<String>,
    /// Sign in as this client
    #[arg(long, value_name = "ID")]
    pub(crate) client_id: Option<String>,
    /// Sign in for this
    #[arg(long)]
    pub(crate) scope: Option<String>,
    /// Open no browser; none is ever opened, so this says nothing new
    #[arg(long, hide = true)]
    pub(crate) no_browser: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AuthKind {
    /// A plain key
    #[value(alias = "api_key")]
    ApiKey,
    /// A login
    Oauth,
}
