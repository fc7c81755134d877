//! What each command does.

mod ask;
mod config;
mod profile;
mod sessions;
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
        Some(Command::Config(args)) => config::run(args, context, output),
        Some(Command::Profile(args)) => profile::run(args, context, output),
        Some(Command::Sessions(args)) => sessions::run(*args, context, output),
        Some(Command::Version) => version::run(context, output),
    }
}
