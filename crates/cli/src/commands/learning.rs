//! `hermes learning`: what the agent has learned, and taking it back.

mod undo;

use hermes_store::JournalFilter;

use super::journal::{Listing, list};
use crate::args::learning::{LearningArgs, LearningCommand, LogArgs};
use crate::complaint::Outcome;
use crate::context::Context;
use crate::output::Output;

pub(crate) fn run(args: LearningArgs, context: &Context, output: &mut Output) -> Outcome {
    match args.command {
        None => log(&LogArgs::usual(), context, output),
        Some(LearningCommand::Log(args)) => log(&args, context, output),
        Some(LearningCommand::Undo { id }) => undo::run(id, context, output),
    }
}

fn log(args: &LogArgs, context: &Context, output: &mut Output) -> Outcome {
    let filter = JournalFilter {
        origin: args.origin.map(Into::into),
        ..JournalFilter::default()
    };
    let changes = context.store()?.journal(filter, args.limit).wait()?;
    let how = Listing {
        json: args.json,
        zone: context.zone(),
        place: "subject",
        nothing: "Nothing was learned yet.",
    };
    list(changes, &how, output)
}
