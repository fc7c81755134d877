//! Changes of skills that wait for a yes: at the shell and in conversations.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use hermes_core::{FailureKind, SystemRandom};
use hermes_tools::{
    ApproveSkillError, Seen, SkillServices, Staged, Staging, Subsystem, approve_skill, skill_diff,
};
use serde_json::json;

use super::ground::Ground;
use crate::complaint::{Complaint, Outcome};
use crate::hands::{library_at, staging_at};
use crate::output::{Output, printable};
use crate::when::iso;

/// Stands for all changes.
const ALL: &str = "all";
const NONE: &str = "No change of a skill waits for you.";

/// What is done with changes that wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decision {
    Show,
    Approve,
    Reject,
}

/// What the changes are made with, for a subcommand.
pub(super) fn services(ground: &Ground<'_>) -> Outcome<SkillServices> {
    let (context, config) = (ground.context, &ground.loaded.config);
    let home = context.home()?;
    Ok(SkillServices {
        library: Arc::new(library_at(context, config, home)),
        store: context.store()?,
        staging: staging(ground)?,
        approval: AtomicBool::new(config.skills.write_approval),
        seen: Seen::default(),
        patience: SkillServices::patience(config.approvals.timeout),
    })
}

/// Where they wait; looking there opens no store.
pub(super) fn staging(ground: &Ground<'_>) -> Outcome<Staging> {
    let home = ground.context.home()?;
    Ok(staging_at(ground.context, home, Arc::new(SystemRandom)))
}

pub(super) fn list_json(staging: &Staging, output: &mut Output) -> Outcome {
    let waiting = staging.list(Subsystem::Skills);
    let waiting = waiting.iter().map(|staged| {
        json!({
            "id": staged.id,
            "action": staged.action,
            "summary": staged.summary,
            "origin": staged.origin,
            "created_at": iso(staged.created_at),
            "payload": staged.payload,
        })
    });
    Ok(output.json(&json!({ "pending": waiting.collect::<Vec<_>>() }))?)
}

/// Lists what waits; `command` is how the others are called here.
pub(crate) fn list(staging: &Staging, command: &str, output: &mut Output) -> Outcome {
    let waiting = staging.list(Subsystem::Skills);
    if waiting.is_empty() {
        return Ok(output.line(NONE)?);
    }
    for staged in waiting {
        let line = format!("{}  {}", staged.id, staged.summary);
        output.line(printable(&line))?;
    }
    Ok(output.line(format!(
        "{command} diff ID shows one, approve ID makes it, reject ID lets it go."
    ))?)
}

/// Whether a change waits under a name, which may be that of a skill instead.
pub(super) fn waits(staging: &Staging, name: &str) -> bool {
    staging.get(Subsystem::Skills, name).is_ok()
}

/// Shows, makes or lets go one change, or all.
pub(crate) fn decide(
    services: &SkillServices,
    which: &str,
    decision: Decision,
    output: &mut Output,
) -> Outcome {
    let staged: Vec<Staged> = match which {
        ALL => services.staging.list(Subsystem::Skills),
        id => vec![services.staging.get(Subsystem::Skills, id)?],
    };
    if staged.is_empty() {
        return Ok(output.line(NONE)?);
    }
    let mut failed = None;
    for staged in &staged {
        let told = match decision {
            Decision::Show => skill_diff(services, staged),
            Decision::Approve => approve_skill(services, staged),
            Decision::Reject => {
                services.staging.remove(staged)?;
                Ok(format!("let go: {}", staged.summary))
            }
        };
        match told {
            Ok(told) => output.line(printable(&told))?,
            // The others are tried too; what failed goes on waiting.
            Err(error) if which == ALL => {
                let told = format!("{}: not made, {error}", staged.id);
                output.line(printable(&told))?;
                failed = Some(error);
            }
            Err(error) => return Err(refused(error)),
        }
    }
    failed.map_or(Ok(()), |error| Err(refused(error)))
}

fn refused(error: ApproveSkillError) -> Complaint {
    let hint = error.hint();
    Complaint::caused(FailureKind::BadRequest, error).hint(hint)
}
