//! The conversation a full screen begins with when nobody named one.

use std::borrow::Cow;

use hermes_config::{Config, Variable};
use hermes_tui::app::Mode;

use crate::args::chat::RunArgs;
use crate::complaint::Outcome;
use crate::context::Context;

/// Names the conversation to go on with, or says yes or no to the latest.
const VARIABLE: Variable = Variable::HERMES_TUI_RESUME;

/// The arguments, with the conversation the environment or the settings ask for. The command line goes first.
pub(super) fn resumed<'r>(
    run: &'r RunArgs,
    mode: Mode,
    config: &Config,
    context: &Context,
) -> Outcome<Cow<'r, RunArgs>> {
    let named = run.resume.is_some() || run.go_on.is_some();
    if mode != Mode::Full || named {
        return Ok(Cow::Borrowed(run));
    }
    let latest = match context.environment.filled(&VARIABLE) {
        Some("0" | "false" | "no" | "off") => false,
        Some("1" | "true" | "yes" | "on") => true,
        Some(name) => return Ok(with(run, name.to_owned())),
        None => config.display.tui_auto_resume_recent,
    };
    if !latest {
        return Ok(Cow::Borrowed(run));
    }
    // Who has none yet begins one.
    let found = context.conversations()?.latest(None).wait()?;
    Ok(match found {
        Some(id) => with(run, id.to_string()),
        None => Cow::Borrowed(run),
    })
}

fn with(run: &RunArgs, conversation: String) -> Cow<'_, RunArgs> {
    Cow::Owned(RunArgs {
        resume: Some(conversation),
        ..run.clone()
    })
}
