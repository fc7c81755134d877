//! `hermes config …`

mod change;
mod check;
mod edit;
mod hide;
mod migrate;
mod show;
mod words;

use crate::args::config::{ConfigArgs, ConfigCommand};
use crate::complaint::Outcome;
use crate::context::Context;
use crate::output::Output;

pub(crate) fn run(args: ConfigArgs, context: &Context, output: &mut Output) -> Outcome {
    let bare = ConfigCommand::Show {
        all: false,
        json: false,
    };
    match args.command.unwrap_or(bare) {
        ConfigCommand::Show { all, json } => show::show(all, json, context, output),
        ConfigCommand::Get { key, json } => show::get(&key, json, context, output),
        ConfigCommand::Set { key, value, force } => {
            change::set(&key, &value, force, context, output)
        }
        ConfigCommand::Unset { key } => change::unset(&key, context, output),
        ConfigCommand::Path => {
            Ok(output.line(context.home()?.config_file().display().to_string())?)
        }
        ConfigCommand::EnvPath => {
            Ok(output.line(context.home()?.env_file().display().to_string())?)
        }
        ConfigCommand::Check { json } => check::check(json, context, output),
        ConfigCommand::Migrate { dry_run } => migrate::migrate(dry_run, context, output),
        ConfigCommand::Edit => edit::edit(context),
    }
}
