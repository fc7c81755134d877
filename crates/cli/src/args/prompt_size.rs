//! `hermes prompt-size`

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct PromptSizeArgs {
    /// Where the conversation would be held: cli, telegram, …
    #[arg(long, default_value = "cli")]
    pub(crate) platform: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
