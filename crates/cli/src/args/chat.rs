//! `hermes -z`, `hermes chat`

use std::path::PathBuf;

use clap::Args;

/// What every conversation can be told on the command line.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct RunArgs {
    /// Use this model, as NAME or PROVIDER:NAME
    #[arg(short, long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Use this provider
    #[arg(long, value_name = "ID")]
    pub(crate) provider: Option<String>,
    /// Offer only these toolsets, separated by commas
    #[arg(short, long, value_name = "SETS", value_delimiter = ',')]
    pub(crate) toolsets: Option<Vec<String>>,
    /// Go on with this conversation: an id, the beginning of one, or a title
    #[arg(short, long, value_name = "SESSION")]
    pub(crate) resume: Option<String>,
    /// Go on with the latest conversation, or the latest one of this title
    #[arg(short = 'c', long = "continue", value_name = "NAME", num_args = 0..=1, default_missing_value = "", conflicts_with = "resume")]
    pub(crate) go_on: Option<String>,
    /// Most model calls for one message
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) max_turns: Option<u32>,
    /// Ask for no approvals; hard blocks still hold
    #[arg(long)]
    pub(crate) yolo: bool,
    /// Leave out AGENTS.md, SOUL.md and the like
    #[arg(long)]
    pub(crate) ignore_rules: bool,
    /// Leave out config.yaml
    #[arg(long)]
    pub(crate) ignore_user_config: bool,
    /// Leave out settings, rules, plugins and MCP servers
    #[arg(long)]
    pub(crate) safe_mode: bool,
    /// No screen: a line at a time, for screen readers and simple terminals
    #[arg(long)]
    pub(crate) plain: bool,
    /// Write what the run used to this file, as JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) usage_file: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ChatArgs {
    /// Ask this and exit
    #[arg(short, long, value_name = "TEXT")]
    pub(crate) query: Option<String>,
    /// Print only the answer; the session's id goes to stderr
    #[arg(short = 'Q', long, requires = "query")]
    pub(crate) quiet: bool,
    /// Show this picture along with the query
    #[arg(long, value_name = "FILE", requires = "query")]
    pub(crate) image: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

impl ChatArgs {
    /// A conversation at the terminal.
    pub(crate) fn of(run: RunArgs) -> Self {
        Self {
            query: None,
            quiet: false,
            image: Vec::new(),
            run,
        }
    }
}
