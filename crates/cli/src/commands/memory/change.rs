//! Changing what is remembered, by hand.

use hermes_core::FailureKind;
use hermes_memory::{Changed, Operation, Target, preview};
use hermes_store::JournalOrigin;

use super::Desk;
use super::show::name;
use crate::commands::ask::confirm;
use crate::complaint::{Complaint, Outcome};
use crate::output::{Output, one_line};

pub(super) fn add(desk: &Desk, target: Target, typed: &str, output: &mut Output) -> Outcome {
    // As the agent's own: what is remembered goes into every prompt.
    let text = desk.store.clean(typed.to_owned());
    let changed = change(desk, target, Operation::add(text.as_str()))?;
    let usage = changed.contents.usage();
    output.line(match changed.id {
        Some(_) => format!("remembered in {} [{usage}]", target.file_name()),
        None => format!("this is in {} already [{usage}]", target.file_name()),
    })?;
    if text != typed {
        output.line("a secret in it is masked: what is remembered is read by models")?;
    }
    Ok(())
}

pub(super) fn remove(desk: &Desk, targets: &[Target], which: &str, output: &mut Output) -> Outcome {
    let mut found = Vec::new();
    for target in targets {
        let entries = desk.memory.contents(*target)?.entries;
        let fits = entries
            .iter()
            .any(|entry| entry.id == which || entry.text.contains(which));
        found.extend(fits.then_some(*target));
    }
    let target = match found.as_slice() {
        [target] => *target,
        [] => {
            let message = format!("no entry has this id or holds these words: {which}");
            return Err(Complaint::new(FailureKind::NotFound, message)
                .hint("hermes memory list shows all entries"));
        }
        _ => {
            return Err(Complaint::bad_request("both files have such an entry")
                .hint("say which with --target memory or --target user, or use an id"));
        }
    };
    change(desk, target, Operation::remove(which))?;
    Ok(output.line(format!(
        "forgotten from {}; hermes memory undo brings it back",
        target.file_name()
    ))?)
}

fn change(desk: &Desk, target: Target, operation: Operation) -> Outcome<Changed> {
    let changed = desk
        .memory
        .change(target, &[operation], JournalOrigin::User, None);
    Ok(changed?)
}

pub(super) fn undo(desk: &Desk, id: Option<i64>, output: &mut Output) -> Outcome {
    let undone = desk.memory.undo(id)?;
    output.line(format!(
        "took back {}: {}",
        undone.id,
        one_line(&undone.summary)
    ))?;
    let mut lines: Vec<String> = Vec::new();
    let show = |mark: &str, texts: &[String]| -> Vec<String> {
        let lines = texts
            .iter()
            .map(|text| format!("  {mark} {}", one_line(&preview(text))));
        lines.collect()
    };
    lines.extend(show("+", &undone.restored));
    lines.extend(show("-", &undone.removed));
    if lines.is_empty() {
        lines.push("  everything was so already".to_owned());
    }
    for line in lines {
        output.line(line)?;
    }
    Ok(())
}

pub(super) fn tidy(desk: &Desk, target: Target, output: &mut Output) -> Outcome {
    let tidied = desk.memory.tidy(target)?;
    Ok(output.line(match tidied.backup {
        None => format!("{} is in order", target.file_name()),
        Some(backup) => format!(
            "took over {} entries of {}; how it was is in {}",
            tidied.contents.entries.len(),
            target.file_name(),
            backup.display()
        ),
    })?)
}

pub(super) fn reset(desk: &Desk, targets: &[Target], yes: bool, output: &mut Output) -> Outcome {
    if !yes {
        let names: Vec<&str> = targets.iter().map(|target| name(*target)).collect();
        confirm(&format!("Forget everything ({})", names.join(", ")))?;
    }
    for target in targets {
        let reset = desk.memory.reset(*target)?;
        let copy = reset
            .backup
            .map(|backup| format!("; how it was is in {}", backup.display()));
        output.line(format!(
            "{}: {} entries forgotten{}",
            target.file_name(),
            reset.removed,
            copy.unwrap_or_default()
        ))?;
    }
    Ok(output.line("hermes memory undo brings back what the last change took")?)
}
