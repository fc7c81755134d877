//! `hermes logs`

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub(crate) struct LogsArgs {
    /// Which log, or list for the files there are
    #[arg(value_enum, default_value_t = LogChoice::Agent, value_name = "LOG")]
    pub(crate) log_name: LogChoice,
    /// The latest records to show
    #[arg(short = 'n', long, default_value_t = 50, value_name = "N")]
    pub(crate) lines: usize,
    /// Go on with what is logged from now on, until Ctrl+C
    #[arg(short, long)]
    pub(crate) follow: bool,
    /// Only records at least this bad
    #[arg(long, value_enum, ignore_case = true)]
    pub(crate) level: Option<LevelChoice>,
    /// Only records of a session with this in its id
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// Only records since: 30m, 1h, 2d ago, or a date
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// Only records of this part of the program
    #[arg(long, value_enum)]
    pub(crate) component: Option<Component>,
    /// Print JSON, one record a line
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogChoice {
    Agent,
    Errors,
    Gateway,
    Gui,
    Desktop,
    Mcp,
    List,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum LevelChoice {
    Debug,
    Info,
    #[value(alias = "warn")]
    Warning,
    Error,
    Critical,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Component {
    Gateway,
    Agent,
    Tools,
    Cli,
    Cron,
    Gui,
}
