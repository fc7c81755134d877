//! `hermes sessions …`

mod bulk;
mod export;
mod filter;
mod import;
mod index;
mod list;
mod maintain;
mod one;
mod search;
mod show;

use crate::args::sessions::{ListArgs, SessionsArgs, SessionsCommand};
use crate::commands::chat;
use crate::complaint::Outcome;
use crate::context::Context;
use crate::output::Output;

pub(crate) fn run(args: SessionsArgs, context: &Context, output: &mut Output) -> Outcome {
    let bare = SessionsCommand::List(ListArgs {
        source: None,
        limit: 20,
        workspace: None,
        json: false,
    });
    match args.command.unwrap_or(bare) {
        SessionsCommand::List(args) => list::list(&args, context, output),
        SessionsCommand::Browse(args) => chat::browse(&args, context, output),
        SessionsCommand::Show { session, all, json } => {
            show::show(&session, all, json, context, output)
        }
        SessionsCommand::Search(args) => search::search(&args, context, output),
        SessionsCommand::Export(args) => export::export(&args, context, output),
        SessionsCommand::Import { file, json } => {
            import::import(file.as_deref(), json, context, output)
        }
        SessionsCommand::Rename { session, title } => {
            one::rename(&session, &title.join(" "), context, output)
        }
        SessionsCommand::Delete { session, yes } => one::delete(&session, yes, context, output),
        SessionsCommand::Prune {
            filter,
            bulk,
            include_archived,
        } => bulk::prune(&filter, &bulk, include_archived, context, output),
        SessionsCommand::Archive { filter, bulk } => bulk::archive(&filter, &bulk, context, output),
        SessionsCommand::Index { json } => index::index(json, context, output),
        SessionsCommand::Stats { json } => maintain::stats(json, context, output),
        SessionsCommand::Optimize => maintain::optimize(context, output),
        SessionsCommand::Repair {
            check_only,
            no_backup,
            json,
        } => maintain::repair(check_only, no_backup, json, context, output),
    }
}

/// For the few things here that cannot be waited for on one thread.
fn runtime() -> Outcome<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?)
}
