//! `hermes model`: which model answers, which others there are, and how to change it.

mod cache;
mod current;
mod list;
mod listing;
mod live;
mod places;
mod pull;
mod set;
mod why;
mod wizard;

use std::io::IsTerminal;

use crate::args::model::{ModelArgs, ModelCommand};
use crate::commands::wish::Wish;
use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::models::Chosen;
use crate::output::Output;

pub(crate) fn run(args: ModelArgs, context: &Context, output: &mut Output) -> Outcome {
    match args.command {
        Some(ModelCommand::List {
            provider: None,
            json,
            ..
        }) => list::providers(json, context, output),
        Some(ModelCommand::List {
            provider: Some(provider),
            refresh,
            json,
        }) => list::models(&provider, refresh, json, context, output),
        Some(ModelCommand::Set {
            model,
            provider,
            base_url,
            api_key,
        }) => set::run(
            &Wish {
                model,
                provider,
                base_url,
                api_key,
                key_env: None,
            },
            context,
            output,
        ),
        Some(ModelCommand::Pull { .. }) => pull::run(context, output),
        None if args.why => {
            let chosen = Chosen {
                model: args.model,
                provider: args.provider,
            };
            why::run(&chosen, args.json, context, output)
        }
        None if std::io::stdout().is_terminal() && std::io::stdin().is_terminal() => {
            wizard::run(context, output)
        }
        None => Err(
            Complaint::bad_request("hermes model asks its questions on a terminal only").hint(
                "hermes model set MODEL --provider ID changes it, hermes model list shows what there is, \
                 hermes model --why explains what is set",
            ),
        ),
    }
}
