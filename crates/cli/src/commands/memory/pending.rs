//! Changes that wait for a yes.

use std::sync::Arc;

use hermes_core::SystemRandom;
use hermes_tools::{Staged, Subsystem, approve_memory};
use serde_json::json;

use super::Desk;
use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::external::external;
use crate::output::{Output, one_line};
use crate::table::Table;
use crate::when::{iso, show};

/// Stands for all changes.
const ALL: &str = "all";

pub(super) fn list(desk: &Desk, as_json: bool, context: &Context, output: &mut Output) -> Outcome {
    let waiting = desk.staging.list(Subsystem::Memory);
    if as_json {
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
        return Ok(output.json(&json!({ "pending": waiting.collect::<Vec<_>>() }))?);
    }
    if waiting.is_empty() {
        return Ok(output.line("Nothing waits for you.")?);
    }
    let mut table = Table::new(["ID", "SINCE", "BY", "WHERE", "WHAT"]);
    for staged in waiting {
        let target = staged.payload["target"].as_str().unwrap_or_default();
        table.row([
            staged.id.clone(),
            show(staged.created_at, context.zone()),
            staged.origin.word().to_owned(),
            target.to_owned(),
            staged.summary.clone(),
        ]);
    }
    table.print(output)?;
    Ok(output
        .line("hermes memory approve ID makes a change, hermes memory reject ID lets it go.")?)
}

pub(super) fn approve(desk: &Desk, which: &str, context: &Context, output: &mut Output) -> Outcome {
    let external = external(context, &desk.loaded, &desk.store, Arc::new(SystemRandom))?;
    let mut failed = None;
    for staged in chosen(desk, which)? {
        match approve_memory(&desk.memory, external.as_ref(), &desk.staging, &staged) {
            Ok(changed) => output.line(format!(
                "{}: {} [{}]",
                staged.id,
                one_line(&staged.summary),
                changed.contents.usage()
            ))?,
            // The others are tried too; what failed goes on waiting.
            Err(error) => {
                output.line(format!("{}: not made, {error}", staged.id))?;
                failed = Some(error);
            }
        }
    }
    failed.map_or(Ok(()), |error| Err(error.into()))
}

pub(super) fn reject(desk: &Desk, which: &str, output: &mut Output) -> Outcome {
    for staged in chosen(desk, which)? {
        desk.staging.remove(&staged)?;
        output.line(format!(
            "{}: let go, {}",
            staged.id,
            one_line(&staged.summary)
        ))?;
    }
    Ok(())
}

fn chosen(desk: &Desk, which: &str) -> Outcome<Vec<Staged>> {
    if which != ALL {
        return Ok(vec![desk.staging.get(Subsystem::Memory, which)?]);
    }
    let all = desk.staging.list(Subsystem::Memory);
    if all.is_empty() {
        return Err(
            Complaint::new(hermes_core::FailureKind::NotFound, "nothing waits")
                .hint("hermes memory pending lists what does"),
        );
    }
    Ok(all)
}
