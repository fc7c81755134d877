//! `hermes insights`, `hermes status`, `hermes doctor` and `hermes dump`

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct InsightsArgs {
    /// How many days to look back
    #[arg(long, default_value_t = 30, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) days: u32,
    /// Only conversations from here, such as cli or telegram
    #[arg(long)]
    pub(crate) source: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    /// Also list providers and platforms that are not set up
    #[arg(long)]
    pub(crate) all: bool,
    /// Also check the database and the settings
    #[arg(long)]
    pub(crate) deep: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DumpArgs {
    /// Show the first and last characters of long keys
    #[arg(long)]
    pub(crate) show_keys: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
