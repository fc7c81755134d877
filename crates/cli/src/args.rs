//! The command line.

pub(crate) mod auth;
pub(crate) mod backup;
pub(crate) mod bundles;
pub(crate) mod chat;
pub(crate) mod checkpoints;
pub(crate) mod completion;
pub(crate) mod config;
pub(crate) mod curator;
pub(crate) mod fallback;
pub(crate) mod learning;
pub(crate) mod logs;
pub(crate) mod mcp;
pub(crate) mod memory;
pub(crate) mod model;
pub(crate) mod policy;
pub(crate) mod profile;
pub(crate) mod prompt_size;
pub(crate) mod report;
pub(crate) mod sandbox;
pub(crate) mod security;
pub(crate) mod sessions;
pub(crate) mod setup;
pub(crate) mod skills;
pub(crate) mod tools;

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

    /// Ask this and what is piped in, print the answer and nothing else, and exit; a pipe that stays silent is waited
    /// for 30 s
    #[arg(short = 'z', long, value_name = "PROMPT")]
    pub(crate) oneshot: Option<String>,

    #[command(flatten)]
    pub(crate) run: chat::RunArgs,

    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// Everything `hermes` can be asked to do. `help::GROUPS` says where each stands in the help text.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Add, list and remove keys, or sign in
    Auth(Box<auth::AuthArgs>),
    /// Put the home into a zip file
    Backup(backup::BackupArgs),
    /// Put several skills under one name
    Bundles(bundles::BundlesArgs),
    /// Talk to the agent, or ask one question with -q
    Chat(Box<chat::ChatArgs>),
    /// See and restore the states files were in before the agent changed them
    Checkpoints(checkpoints::CheckpointsArgs),
    /// Write a completion script for a shell
    Completion(completion::CompletionArgs),
    /// Show or change settings
    Config(config::ConfigArgs),
    /// Look after the skills the agent has written
    Curator(curator::CuratorArgs),
    /// Print a description of this installation for bug reports
    Dump(report::DumpArgs),
    /// Look for what is missing or wrong, and say what to do about it
    Doctor(report::DoctorArgs),
    /// Choose the models to turn to when the first one fails
    Fallback(fallback::FallbackArgs),
    /// Put a backup back into the home
    Import(backup::ImportArgs),
    /// Show what was used: tokens, costs, tools, busy days
    Insights(report::InsightsArgs),
    /// See what the agent has learned, and take it back
    Learning(learning::LearningArgs),
    /// Show what was logged
    Logs(logs::LogsArgs),
    /// Add, test and sign in to MCP servers, whose tools the agent uses
    Mcp(Box<mcp::McpArgs>),
    /// See and change what the agent remembers, and take changes back
    Memory(memory::MemoryArgs),
    /// Show, explain and change which model answers
    Model(Box<model::ModelArgs>),
    /// Check what commands may do, and see what was decided
    Policy(policy::PolicyArgs),
    /// Keep several agents apart, each with a home of its own
    Profile(profile::ProfileArgs),
    /// Show what every conversation begins with, in tokens
    PromptSize(prompt_size::PromptSizeArgs),
    /// List and remove the containers commands run in
    Sandbox(sandbox::SandboxArgs),
    /// Look for known dangers in what servers are started from
    Security(security::SecurityArgs),
    /// List, search, export and clean up conversations
    Sessions(Box<sessions::SessionsArgs>),
    /// Set up the model, where commands run and the tools
    Setup(setup::SetupArgs),
    /// Find, install and look after skills
    Skills(Box<skills::SkillsArgs>),
    /// Show how things stand
    Status(report::StatusArgs),
    /// List toolsets, and switch them on and off
    Tools(tools::ToolsArgs),
    /// Print the version
    Version,
}

#[cfg(test)]
mod tests {
    use clap::{Command as Clap, CommandFactory};

    use super::Cli;

    /// Everything the help of a command and of those below it shows without a word, and how many were looked at.
    fn bare(command: &Clap, found: &mut Vec<String>) -> usize {
        let arguments = command.get_arguments().filter(|one| !one.is_hide_set());
        for argument in arguments {
            let values = argument.get_possible_values();
            let words = values.iter().filter(|value| value.get_help().is_some());
            // A list of values speaks for itself, or each of them is explained.
            let some_bare = ![0, values.len()].contains(&words.count());
            let is_bare = argument.get_help().is_none() && argument.get_long_help().is_none();
            if is_bare || some_bare {
                found.push(format!("{} {}", command.get_name(), argument.get_id()));
            }
        }
        let below = command.get_subcommands().filter(|one| !one.is_hide_set());
        1 + below
            .map(|one| {
                if one.get_about().is_none() {
                    found.push(one.get_name().to_owned());
                }
                bare(one, found)
            })
            .sum::<usize>()
    }

    #[test]
    fn help_has_a_word_on_every_command_and_argument() {
        let mut found = Vec::new();
        let mut all = Cli::command();
        all.build();
        let commands = bare(&all, &mut found);
        assert!(commands > 100, "only {commands} commands were looked at");
        assert!(found.is_empty(), "{found:#?}");
    }
}
