//! The command line.

pub(crate) mod backup;
pub(crate) mod completion;
pub(crate) mod config;
pub(crate) mod logs;
pub(crate) mod profile;
pub(crate) mod report;
pub(crate) mod sessions;

use clap::{Parser, Subcommand};

use crate::help;

/// A personal AI agent in one binary.
#[derive(Debug, Parser)]
#[command(
    name = "hermes",
    version,
    disable_help_subcommand = true,
    help_template = help::TEMPLATE,
    after_help = help::groups(),
    max_term_width = 100
)]
pub(crate) struct Cli {
    /// Use this profile instead of the active one
    // Usually taken out before parsing; what is left here is an unusual spelling or a bad name.
    #[arg(short, long, value_name = "NAME", global = true)]
    pub(crate) profile: Option<String>,

    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// Everything `hermes` can be asked to do. `help::GROUPS` says where each stands in the help text.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Put the home into a zip file
    Backup(backup::BackupArgs),
    /// Write a completion script for a shell
    Completion(completion::CompletionArgs),
    /// Show or change settings
    Config(config::ConfigArgs),
    /// Print a description of this installation for bug reports
    Dump(report::DumpArgs),
    /// Put a backup back into the home
    Import(backup::ImportArgs),
    /// Show what was used: tokens, costs, tools, busy days
    Insights(report::InsightsArgs),
    /// Show what was logged
    Logs(logs::LogsArgs),
    /// Keep several agents apart, each with a home of its own
    Profile(profile::ProfileArgs),
    /// List, search, export and clean up conversations
    Sessions(Box<sessions::SessionsArgs>),
    /// Show how things stand
    Status(report::StatusArgs),
    /// Print the version
    Version,
}
