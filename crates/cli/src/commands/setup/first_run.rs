//! The first conversation where nothing is set up: a few questions in place of an error.

use hermes_llm::resolve::ResolveError;

use super::{Draft, by_hand, check_owner, quick};
use crate::args::chat::RunArgs;
use crate::commands::ask;
use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::models::{Chosen, Models};
use crate::output::{Output, Style};

/// Returns when a conversation can begin, at once where anything is set up. Without a terminal, and for those who
/// would rather not, the commands that do the same are printed and the run ends.
pub(in crate::commands) fn first_run(
    run: &RunArgs,
    context: &Context,
    output: &mut Output,
) -> Outcome {
    if !is_bare(run, context) {
        return Ok(());
    }
    output.line(output.paint(Style::Strong, "No model is set up yet."))?;
    if !ask::at_a_terminal() {
        by_hand::model(output)?;
        output.line("hermes setup asks for it, at a terminal.")?;
        return Err(Complaint::Code(1));
    }
    let asked = ask_for_it(context, output);
    match ask::unchanged_when_stopped(asked, output)? {
        true => Ok(()),
        false => {
            by_hand::model(output)?;
            Err(Complaint::Code(1))
        }
    }
}

/// Whether no model, key, login, endpoint or file is there. Whatever else is wrong is another's to tell.
fn is_bare(run: &RunArgs, context: &Context) -> bool {
    let Ok(loaded) = context.load() else {
        return false;
    };
    if !loaded.config.model.default.is_empty() {
        return false;
    }
    let Ok(models) = Models::new(context, loaded) else {
        return false;
    };
    let chosen = Chosen {
        model: run.model.clone(),
        provider: run.provider.clone(),
    };
    matches!(models.route(&chosen), Err(ResolveError::NoProvider))
}

/// The quick way. Says whether a model answers now.
fn ask_for_it(context: &Context, output: &mut Output) -> Outcome<bool> {
    check_owner(context)?;
    let mut draft = Draft::new(context)?;
    quick(&mut draft, context, output)?;
    Ok(draft.model.is_some() && draft.finish(context, output)?)
}
