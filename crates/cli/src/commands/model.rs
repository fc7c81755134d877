//! `hermes model`: which model answers, which others there are, and how to change it.

mod current;
mod list;
mod listing;
mod live;
mod offers;
mod places;
mod pull;
mod remove;
mod set;
mod why;
mod wizard;

pub(super) use wizard::{Answered, Asks, Decision, decide, suggest};

pub(super) use offers::{Offer, offers, priced};
pub(super) use remove::saved;

use crate::args::model::{ModelArgs, ModelCommand};
use crate::commands::ask;
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
            &[],
            context,
            output,
        ),
        Some(ModelCommand::Remove { endpoint, yes }) => {
            remove::run(&endpoint, yes, context, output)
        }
        Some(ModelCommand::Pull { .. }) => pull::run(context, output),
        None if args.why => {
            let chosen = Chosen {
                model: args.model,
                provider: args.provider,
            };
            why::run(&chosen, args.json, context, output)
        }
        None if ask::at_a_terminal() => wizard::run(context, output),
        None => Err(
            Complaint::bad_request("hermes model asks its questions on a terminal only").hint(
                "hermes model set MODEL --provider ID changes it, hermes model list shows what there is, \
                 hermes model --why explains what is set",
            ),
        ),
    }
}
