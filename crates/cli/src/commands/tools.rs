//! `hermes tools`: which toolsets are offered where.

mod list;
mod pick;
mod sets;
mod single;
mod switch;

pub(super) use list::{is_built_in, lacking};
pub(super) use pick::pick;
pub(super) use sets::{check_platform, listed, meant, missing, unheeded};
pub(super) use switch::setting;

use crate::args::tools::{ToolsArgs, ToolsCommand};
use crate::commands::ask;
use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::output::Output;

pub(crate) fn run(args: ToolsArgs, context: &Context, output: &mut Output) -> Outcome {
    match args.command {
        Some(ToolsCommand::List { platform, json }) => list::run(&platform, json, context, output),
        Some(ToolsCommand::Enable(args)) => switch::enable(&args, context, output),
        Some(ToolsCommand::Disable(args)) => switch::disable(&args, context, output),
        None if args.summary => list::run("cli", false, context, output),
        None if ask::at_a_terminal() => pick::run(context, output),
        None => Err(
            Complaint::bad_request("hermes tools asks its questions on a terminal only").hint(
                "hermes tools list shows them, hermes tools enable NAME and hermes tools disable NAME switch them",
            ),
        ),
    }
}
