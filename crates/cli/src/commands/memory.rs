//! `hermes memory`: what the agent remembers.

mod change;
mod external;
mod pending;
mod setup;
mod show;

use std::sync::Arc;

use hermes_config::Loaded;
use hermes_core::SystemRandom;
use hermes_memory::{Memory, Target};
use hermes_store::Store;
use hermes_tools::Staging;
use serde_json::json;

use super::edit::edit;
use crate::args::memory::{MemoryArgs, MemoryCommand, TargetName};
use crate::complaint::Outcome;
use crate::context::Context;
use crate::hands::{memory_at, staging_at};
use crate::output::Output;

/// What the commands work on.
struct Desk {
    loaded: Loaded,
    memory: Memory,
    staging: Staging,
    store: Store,
}

impl Desk {
    fn open(context: &Context) -> Outcome<Self> {
        let loaded = context.settings()?;
        let home = context.home()?;
        let store = context.store()?;
        Ok(Self {
            memory: memory_at(context, &loaded.config, home, &store),
            staging: staging_at(context, home, Arc::new(SystemRandom)),
            loaded,
            store,
        })
    }
}

pub(crate) fn run(args: MemoryArgs, context: &Context, output: &mut Output) -> Outcome {
    let command = args
        .command
        .unwrap_or(MemoryCommand::Status { json: false });
    match &command {
        MemoryCommand::Off { json } => return off(*json, context, output),
        MemoryCommand::Setup(args) => return setup::run(args, context, output),
        _ => {}
    }
    let desk = Desk::open(context)?;
    match command {
        MemoryCommand::Status { json } => show::status(&desk, json, context, output),
        MemoryCommand::Show { target } => show::show(&desk, &targets(target), output),
        MemoryCommand::List { target, json } => show::list(&desk, &targets(target), json, output),
        MemoryCommand::Add { target, text } => {
            change::add(&desk, target.into(), &text.join(" "), output)
        }
        MemoryCommand::Remove { target, which } => {
            change::remove(&desk, &targets(target), &which.join(" "), output)
        }
        MemoryCommand::Undo { id } => change::undo(&desk, id, output),
        MemoryCommand::Log { limit, json } => show::log(&desk, limit, json, context, output),
        MemoryCommand::Pending { json } => pending::list(&desk, json, context, output),
        MemoryCommand::Approve { which } => pending::approve(&desk, &which, context, output),
        MemoryCommand::Reject { which } => pending::reject(&desk, &which, output),
        MemoryCommand::Tidy { target } => change::tidy(&desk, target.into(), output),
        MemoryCommand::Off { .. } | MemoryCommand::Setup(_) => Ok(()),
        MemoryCommand::Reset { target, yes } => {
            change::reset(&desk, &target.targets(), yes, output)
        }
    }
}

fn targets(name: Option<TargetName>) -> Vec<Target> {
    match name {
        Some(name) => vec![name.into()],
        None => Target::ALL.to_vec(),
    }
}

/// Leaves only the two files.
fn off(as_json: bool, context: &Context, output: &mut Output) -> Outcome {
    let provider = context.load()?.config.memory.provider;
    if provider.is_empty() {
        if as_json {
            return Ok(output.json(&json!({ "was": null }))?);
        }
        return Ok(output.line(
            "No external memory is in use. The files are switched off with: hermes config set memory.memory_enabled false",
        )?);
    }
    edit(context, |settings| {
        settings.set("memory.provider", "", hermes_config::UnknownKey::Refuse)
    })?;
    if as_json {
        return Ok(output.json(&json!({ "was": provider }))?);
    }
    Ok(output.line(format!(
        "{provider} is not used any more; what it keeps stays there, and the two files go on as before."
    ))?)
}
