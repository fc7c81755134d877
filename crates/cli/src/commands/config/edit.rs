//! `hermes config edit`

use std::io::IsTerminal;
use std::process::Command;

use hermes_config::Variable;
use hermes_core::FailureKind;

use super::words;
use crate::complaint::{Complaint, Outcome};
use crate::context::Context;

pub(crate) fn edit(context: &Context) -> Outcome {
    let owner = context.owner()?;
    if !owner.allows_writing() {
        let message = format!("the settings are managed by {owner}");
        return Err(Complaint::new(FailureKind::Refused, message).hint(owner.hint()));
    }
    let home = context.home()?;
    let file = home.config_file();
    if !std::io::stdin().is_terminal() {
        return Err(Complaint::bad_request("an editor needs a terminal")
            .hint("hermes config set KEY VALUE changes one setting"));
    }
    home.create(home.path())?;
    if !file.exists() {
        hermes_config::replace_file(
            &file,
            b"# Settings of Hermes. hermes config show lists what is in effect.\n",
        )?;
    }
    let named = [Variable::VISUAL, Variable::EDITOR]
        .iter()
        .find_map(|variable| context.environment.filled(variable));
    let words = words::split(named.unwrap_or("vi"))?;
    let (program, arguments) = words
        .split_first()
        .ok_or_else(|| Complaint::bad_request("EDITOR names no program"))?;
    let status = Command::new(program)
        .args(arguments)
        .arg(&file)
        .status()
        .map_err(|error| {
            Complaint::caused(FailureKind::Unavailable, error)
                .hint(format!("{program} could not be started; set EDITOR"))
        })?;
    if !status.success() {
        return Err(Complaint::new(
            FailureKind::Unavailable,
            format!("{program} ended with {status}"),
        ));
    }
    // What was just typed is checked at once, while the user still remembers it.
    context.settings().map(drop)
}
