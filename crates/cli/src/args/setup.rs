//! `hermes setup …`

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub(crate) struct SetupArgs {
    /// Set up this part and nothing else
    #[arg(value_enum)]
    pub(crate) section: Option<Section>,
    /// Ask only for what is missing, in three questions at most
    #[arg(long, conflicts_with = "section")]
    pub(crate) quick: bool,
    /// Go through everything, with what is set now as the answers
    #[arg(long, conflicts_with_all = ["section", "quick"])]
    pub(crate) reconfigure: bool,
    /// Sign in to Nous and pick one of its models
    #[arg(long, conflicts_with_all = ["section", "quick", "reconfigure"])]
    pub(crate) portal: bool,
    /// Ask nothing: print the commands that do the same
    #[arg(long, conflicts_with_all = ["quick", "reconfigure", "portal"])]
    pub(crate) non_interactive: bool,
    /// Put every setting back to its default; the file is kept under another name
    #[arg(long, conflicts_with_all = ["section", "quick", "reconfigure", "portal", "non_interactive"])]
    pub(crate) reset: bool,
    /// Do not ask before a reset
    #[arg(short, long, requires = "reset")]
    pub(crate) yes: bool,
}

/// A part that can be set up by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Section {
    /// Which model answers
    Model,
    /// Where commands run
    Terminal,
    /// Limits and habits of the agent
    Agent,
    /// Messaging platforms
    Gateway,
    /// Which tools the agent has
    Tools,
    /// Speech
    Tts,
}
