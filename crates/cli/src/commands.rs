//! What each command does.

mod ask;
mod auth;
mod backup;
mod bundles;
mod chat;
mod checkpoints;
mod completion;
mod config;
mod curator;
mod doctor;
mod dump;
mod edit;
mod endpoints;
mod fallback;
mod insights;
mod journal;
mod learning;
mod logs;
mod mcp;
mod memory;
mod model;
mod policy;
mod profile;
mod progress;
mod prompt_size;
mod restore;
mod sandbox;
mod security;
mod sessions;
mod setup;
mod skills;
mod status;
mod tools;
mod version;
mod wish;

use std::io::IsTerminal;

use clap::CommandFactory;
use hermes_config::Variable;

use crate::args::chat::ChatArgs;
use crate::args::{Cli, Command};
use crate::complaint::Outcome;
use crate::context::Context;
use crate::output::Output;

pub(crate) fn run(cli: Cli, context: &Context, output: &mut Output) -> Outcome {
    if context.environment.filled(&Variable::NO_COLOR).is_some()
        || context.environment.get(&Variable::TERM) == Some("dumb")
    {
        output.without_colour();
    }
    if let Some(prompt) = &cli.oneshot {
        return chat::one_shot(prompt, &cli.run, context, output);
    }
    match cli.command {
        None if cli.run.plain
            || std::io::stdin().is_terminal() && std::io::stdout().is_terminal() =>
        {
            let args = ChatArgs::of(cli.run);
            chat::run(&args, context, output)
        }
        None => {
            if !chat::piped(cli.run, context, output)? {
                let help = Cli::command().render_help();
                output.line(help.to_string().trim_end())?;
            }
            Ok(())
        }
        Some(Command::Auth(args)) => auth::run(*args, context, output),
        Some(Command::Backup(args)) => backup::run(&args, context, output),
        Some(Command::Bundles(args)) => bundles::run(args, context, output),
        Some(Command::Chat(mut args)) => {
            // Flags mean the same before and behind the name of the command.
            args.run = args.run.or(cli.run);
            chat::run(&args, context, output)
        }
        Some(Command::Checkpoints(args)) => checkpoints::run(args, context, output),
        Some(Command::Completion(args)) => completion::run(&args, output),
        Some(Command::Config(args)) => config::run(args, context, output),
        Some(Command::Curator(args)) => curator::run(args, context, output),
        Some(Command::Doctor(args)) => doctor::run(&args, context, output),
        Some(Command::Dump(args)) => dump::run(&args, context, output),
        Some(Command::Fallback(args)) => fallback::run(args, context, output),
        Some(Command::Import(args)) => restore::run(&args, context, output),
        Some(Command::Insights(args)) => insights::run(&args, context, output),
        Some(Command::Learning(args)) => learning::run(args, context, output),
        Some(Command::Logs(args)) => logs::run(&args, context, output),
        Some(Command::Mcp(args)) => mcp::run(*args, context, output),
        Some(Command::Memory(args)) => memory::run(args, context, output),
        Some(Command::Model(args)) => model::run(*args, context, output),
        Some(Command::Policy(args)) => policy::run(args, context, output),
        Some(Command::Profile(args)) => profile::run(args, context, output),
        Some(Command::PromptSize(args)) => prompt_size::run(&args, context, output),
        Some(Command::Sandbox(args)) => sandbox::run(args, context, output),
        Some(Command::Security(args)) => security::run(args, context, output),
        Some(Command::Sessions(args)) => sessions::run(*args, context, output),
        Some(Command::Setup(args)) => setup::run(&args, context, output),
        Some(Command::Skills(args)) => skills::run(*args, context, output),
        Some(Command::Status(args)) => status::run(&args, context, output),
        Some(Command::Tools(args)) => tools::run(args, context, output),
        Some(Command::Version) => version::run(context, output),
    }
}
