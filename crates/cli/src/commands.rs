//! What each command does.

mod ask;
mod backup;
mod completion;
mod config;
mod dump;
mod insights;
mod logs;
mod profile;
mod progress;
mod restore;
mod sessions;
mod status;
mod version;

use clap::CommandFactory;

use crate::args::{Cli, Command};
use crate::complaint::Outcome;
use crate::context::Context;
use crate::output::Output;

pub(crate) fn run(cli: Cli, context: &Context, output: &mut Output) -> Outcome {
    if context.environment.filled("NO_COLOR").is_some()
        || context.environment.get("TERM") == Some("dumb")
    {
        output.without_colour();
    }
    match cli.command {
        None => {
            let help = Cli::command().render_help();
            Ok(output.line(help.to_string().trim_end())?)
        }
        Some(Command::Backup(args)) => backup::run(&args, context, output),
        Some(Command::Completion(args)) => completion::run(&args, output),
        Some(Command::Config(args)) => config::run(args, context, output),
        Some(Command::Dump(args)) => dump::run(&args, context, output),
        Some(Command::Import(args)) => restore::run(&args, context, output),
        Some(Command::Insights(args)) => insights::run(&args, context, output),
        Some(Command::Logs(args)) => logs::run(&args, context, output),
        Some(Command::Profile(args)) => profile::run(args, context, output),
        Some(Command::Sessions(args)) => sessions::run(*args, context, output),
        Some(Command::Status(args)) => status::run(&args, context, output),
        Some(Command::Version) => version::run(context, output),
    }
}
