//! `hermes sessions …`

mod filter;
mod list;
mod search;
mod show;

use crate::args::sessions::{ListArgs, SessionsArgs, SessionsCommand};
use crate::complaint::Outcome;
use crate::context::Context;
use crate::output::Output;

pub(crate) fn run(args: SessionsArgs, context: &Context, output: &mut Output) -> Outcome {
    let Some(command) = args.command else {
        let list = ListArgs {
            source: None,
            limit: 20,
            workspace: None,
            json: false,
        };
        return list::list(&list, context, output);
    };
    match command {
        SessionsCommand::List(args) => list::list(&args, context, output),
        SessionsCommand::Show { session, all, json } => {
            show::show(&session, all, json, context, output)
        }
        SessionsCommand::Search(args) => search::search(&args, context, output),
        _ => Ok(()),
    }
}
