//! `hermes learning …`

use clap::{Args, Subcommand, ValueEnum};
use hermes_store::JournalOrigin;

#[derive(Debug, Args)]
pub(crate) struct LearningArgs {
    #[command(subcommand)]
    pub(crate) command: Option<LearningCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LearningCommand {
    /// List changes of memory and skills, newest first
    Log(LogArgs),
    /// Take a change back
    Undo {
        /// A number of the log
        id: i64,
    },
}

#[derive(Debug, Args)]
pub(crate) struct LogArgs {
    /// Only what this one changed
    #[arg(long, value_enum)]
    pub(crate) origin: Option<OriginName>,
    /// How many
    #[arg(long, short = 'n', default_value_t = LogArgs::USUAL)]
    pub(crate) limit: u32,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

impl LogArgs {
    const USUAL: u32 = 20;

    /// What is listed when nothing is asked for.
    pub(crate) fn usual() -> Self {
        Self {
            origin: None,
            limit: Self::USUAL,
            json: false,
        }
    }
}

/// Who made a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OriginName {
    /// The agent, in a conversation
    Foreground,
    /// The agent, looking back at one
    #[value(
        name = "background_review",
        alias = "background-review",
        alias = "review"
    )]
    BackgroundReview,
    /// Tidying skills up
    Curator,
    /// You, by a command
    User,
}

impl From<OriginName> for JournalOrigin {
    fn from(name: OriginName) -> Self {
        match name {
            OriginName::Foreground => Self::Foreground,
            OriginName::BackgroundReview => Self::BackgroundReview,
            OriginName::Curator => Self::Curator,
            OriginName::User => Self::User,
        }
    }
}
