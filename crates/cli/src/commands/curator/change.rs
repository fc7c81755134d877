//! Putting skills away and bringing them back.

use hermes_core::FailureKind;
use hermes_skills::{Archived, CuratorError, Run};
use hermes_store::JournalOrigin;
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::{Desk, merge, show, written};
use crate::commands::skills::Ended;
use crate::complaint::{Complaint, Outcome};
use crate::output::Output;

pub(super) fn run(desk: &Desk<'_>, merges: bool, as_json: bool, output: &mut Output) -> Outcome {
    let store = desk.context.store()?;
    let merge = |skills| merge::by_hand(desk, &desk.library, store.clone(), skills);
    let run = written::tidy(&desk.curator, &store, merges.then_some(merge))?;
    told(&run, as_json, false, output)?;
    match (&run.backup, as_json) {
        (Some(backup), false) => Ok(output.line(format!(
            "hermes curator rollback {backup} makes all skills what they were."
        ))?),
        _ => Ok(()),
    }
}

/// Does all of it on a copy of the skills, which is thrown away.
pub(super) fn try_out(desk: &Desk<'_>, as_json: bool, output: &mut Output) -> Outcome {
    let trial = desk.curator.trial()?;
    let journal = merge::journal_at(trial.home(), desk.context)?;
    let merge = |skills| merge::by_hand(desk, trial.library(), journal.clone(), skills);
    let run = written::tidy(trial.curator(), &journal, Some(merge))?;
    told(&run, as_json, true, output)?;
    match as_json {
        true => Ok(()),
        false => Ok(output.line("Nothing was changed: hermes curator run --consolidate does it.")?),
    }
}

fn told(run: &Run, as_json: bool, dry: bool, output: &mut Output) -> Outcome {
    if as_json {
        let mut document = json!(run);
        document["dry_run"] = json!(dry);
        return Ok(output.json(&document)?);
    }
    show::moves(&run.moves, output)?;
    for (name, why) in &run.failed {
        output.line(format!("{name}: left as it was, {why}"))?;
    }
    show::merged(run, output)?;
    Ok(output.line(run.summary())?)
}

pub(super) fn pause(desk: &Desk<'_>, paused: bool, output: &mut Output) -> Outcome {
    desk.curator.pause(paused)?;
    Ok(output.line(match (paused, desk.settings.enabled) {
        (true, _) => "Nothing is tidied up by itself; hermes curator resume goes on.",
        (false, true) => "Skills are tidied up by themselves.",
        (false, false) => {
            "It is not paused, but switched off: hermes config set curator.enabled true"
        }
    })?)
}

pub(super) fn pin(desk: &Desk<'_>, name: &str, pinned: bool, output: &mut Output) -> Outcome {
    desk.curator.pin(name, pinned)?;
    Ok(output.line(match pinned {
        true => format!("{name} stays where it is"),
        false => format!("{name} may be put away again"),
    })?)
}

pub(super) fn archive(desk: &Desk<'_>, name: &str, output: &mut Output) -> Outcome {
    let name = desk.curator.archive(name)?;
    let summary = format!("skill {name} put away");
    written::put_away(&desk.context.store()?, JournalOrigin::User, &name, summary)?;
    Ok(output.line(format!(
        "{name} was put away; hermes curator restore brings it back"
    ))?)
}

pub(super) fn restore(desk: &Desk<'_>, name: &str, output: &mut Output) -> Outcome {
    let place = desk.curator.restore(name)?;
    Ok(output.line(format!("{name} is back in {}", place.display()))?)
}

pub(super) fn prune(desk: &Desk<'_>, days: u32, yes: bool, output: &mut Output) -> Outcome<Ended> {
    let now = desk.context.clock().now();
    let old = desk.curator.archived()?;
    let names: Vec<String> = old
        .into_iter()
        .filter(|archived| is_older(archived, days, now))
        .map(|archived| archived.name)
        .collect();
    if names.is_empty() {
        output.line(format!("No skill was put away {days} days ago or earlier."))?;
        return Ok(Ended::Done);
    }
    let names = names.join(", ");
    if !desk.agreed(&format!("Delete for good: {names}"), yes)? {
        output.line(format!("These would be deleted for good: {names}"))?;
        return Ok(Ended::NeedsYes);
    }
    let gone = desk.curator.prune(days)?;
    output.line(format!("deleted: {}", gone.join(", ")))?;
    Ok(Ended::Done)
}

fn is_older(archived: &Archived, days: u32, now: Timestamp) -> bool {
    let at = archived.archived_at.as_deref();
    let at = at.and_then(|text| text.parse::<Timestamp>().ok());
    let limit = SignedDuration::from_hours(i64::from(days) * 24);
    at.is_some_and(|at| now.duration_since(at) >= limit)
}

pub(super) fn backup(desk: &Desk<'_>, output: &mut Output) -> Outcome {
    let backup = desk.curator.backup("by hand")?;
    Ok(output.line(format!(
        "{}: a copy of {} skills; hermes curator rollback goes back to it",
        backup.name, backup.skills
    ))?)
}

pub(super) fn rollback(
    desk: &Desk<'_>,
    name: Option<String>,
    yes: bool,
    output: &mut Output,
) -> Outcome<Ended> {
    let backups = desk.curator.backups()?;
    let newest = || backups.first().map(|backup| backup.name.clone());
    let name = name.or_else(newest).ok_or_else(|| {
        Complaint::new(FailureKind::NotFound, "there is no copy to go back to")
            .hint("hermes curator backup makes one")
    })?;
    // Nobody is asked about a copy that is not there.
    if !backups.iter().any(|backup| backup.name == name) {
        return Err(CuratorError::NoBackup { name }.into());
    }
    if !desk.agreed(&format!("Make all skills what they were in {name}"), yes)? {
        output.line(format!("All skills would become what they were in {name}."))?;
        return Ok(Ended::NeedsYes);
    }
    let kept = desk.curator.rollback(&name)?;
    output.line(format!(
        "All skills are what they were in {name}. hermes curator rollback {} undoes this.",
        kept.name
    ))?;
    Ok(Ended::Done)
}
