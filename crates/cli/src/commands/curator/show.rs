//! Looking at how skills are used and what was put away.

use hermes_skills::{Absorbed, CuratorState, Move, Rewrite, Run, UsageRecord, UsageState};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Value as Json, json};

use super::Desk;
use crate::complaint::Outcome;
use crate::output::{Output, one_line};
use crate::table::Table;
use crate::when;

/// A skill with its counts.
struct Used {
    name: String,
    /// Whether it lies in our own directory.
    own: bool,
    record: UsageRecord,
}

fn used(desk: &Desk<'_>) -> Vec<Used> {
    let mut records = desk.library.usage().records();
    let catalog = desk.library.catalog();
    let entries = catalog.entries.iter();
    entries
        .map(|entry| Used {
            name: entry.name.clone(),
            own: desk.library.is_own(entry),
            record: records.remove(&entry.name).unwrap_or_default(),
        })
        .collect()
}

pub(super) fn status(desk: &Desk<'_>, as_json: bool, output: &mut Output) -> Outcome {
    let state = desk.curator.state()?;
    let skills = used(desk);
    let count = |fits: &dyn Fn(&UsageRecord) -> bool| {
        skills.iter().filter(|skill| fits(&skill.record)).count()
    };
    let stale = count(&|record| record.state == UsageState::Stale);
    let pinned = count(&|record| record.pinned);
    let archived = desk.curator.archived()?.len();
    let backups = desk.curator.backups()?.len();
    let due = desk.curator.plan();
    let settings = &desk.settings;
    if as_json {
        return Ok(output.json(&json!({
            "enabled": settings.enabled,
            "paused": state.paused,
            "interval_hours": settings.interval_hours,
            "min_idle_hours": settings.min_idle_hours,
            "stale_after_days": settings.stale_after_days,
            "archive_after_days": settings.archive_after_days,
            "consolidate": settings.consolidate,
            "last_run_at": state.last_run_at,
            "last_run_summary": state.last_run_summary,
            "last_report_path": state.last_report_path,
            "run_count": state.run_count,
            "skills": skills.len(),
            "stale": stale,
            "pinned": pinned,
            "archived": archived,
            "backups": backups,
            "due": due,
        }))?);
    }
    output.line(match (settings.enabled, state.paused) {
        (false, _) => "Nothing is tidied up by itself: curator.enabled is switched off.".to_owned(),
        (true, true) => {
            "Nothing is tidied up by itself: it is paused; hermes curator resume goes on."
                .to_owned()
        }
        (true, false) => format!(
            "Skills are tidied up every {} hours, after {} without a conversation.",
            settings.interval_hours, settings.min_idle_hours
        ),
    })?;
    last_run(&state, desk.context.zone(), output)?;
    output.line(format!(
        "{} skills, {stale} of them stale and {pinned} pinned; {archived} put away, {backups} copies",
        skills.len()
    ))?;
    Ok(output.line(match due.len() {
        0 => "A run would change nothing now.".to_owned(),
        due => format!("A run would change {due} now: hermes curator run --dry-run shows them."),
    })?)
}

fn last_run(state: &CuratorState, zone: &TimeZone, output: &mut Output) -> Outcome {
    let (Some(at), Some(summary)) = (state.last_run_at, &state.last_run_summary) else {
        return Ok(output.line("Nothing was tidied up yet.")?);
    };
    output.line(format!(
        "Last run: {}, {}",
        moment(at, zone),
        one_line(summary)
    ))?;
    match &state.last_report_path {
        Some(path) => Ok(output.line(format!("Report: {}", one_line(path)))?),
        None => Ok(()),
    }
}

fn moment(at: Timestamp, zone: &TimeZone) -> String {
    when::show(at.as_duration().as_secs_f64(), zone)
}

fn word(state: UsageState) -> &'static str {
    match state {
        UsageState::Active => "in use",
        UsageState::Stale => "stale",
        UsageState::Archived => "put away",
    }
}

pub(super) fn usage(desk: &Desk<'_>, as_json: bool, output: &mut Output) -> Outcome {
    let skills = used(desk);
    if as_json {
        let skills = skills.iter().map(|skill| {
            let mut document = json!(skill.record);
            document["name"] = json!(skill.name);
            document["own"] = json!(skill.own);
            document
        });
        return Ok(output.json(&json!({ "skills": skills.collect::<Vec<Json>>() }))?);
    }
    if skills.is_empty() {
        return Ok(output.line("There are no skills.")?);
    }
    let mut table = Table::new([
        "NAME", "STATE", "USED", "READ", "MENDED", "LAST", "BY", "PINNED",
    ]);
    for Used { name, record, .. } in skills {
        let last = record.last_used_at.as_deref().unwrap_or_default();
        let last = last.get(..10).unwrap_or(last).to_owned();
        table.row([
            name,
            word(record.state).to_owned(),
            record.use_count.to_string(),
            record.view_count.to_string(),
            record.patch_count.to_string(),
            last,
            record.created_by.unwrap_or_default(),
            if record.pinned { "yes" } else { "" }.to_owned(),
        ]);
    }
    Ok(table.print(output)?)
}

/// What a run would do.
pub(super) fn plan(desk: &Desk<'_>, as_json: bool, output: &mut Output) -> Outcome {
    let due = desk.curator.plan();
    if as_json {
        return Ok(output.json(&json!({ "dry_run": true, "moves": due }))?);
    }
    if due.is_empty() {
        return Ok(output.line("A run would change nothing now.")?);
    }
    moves(&due, output)?;
    Ok(output.line("Nothing was changed: hermes curator run does it.")?)
}

pub(super) fn moves(moves: &[Move], output: &mut Output) -> Outcome {
    if moves.is_empty() {
        return Ok(());
    }
    let mut table = Table::new(["NAME", "WAS", "BECOMES", "UNUSED FOR"]);
    for step in moves {
        table.row([
            step.name.clone(),
            word(step.from).to_owned(),
            word(step.to).to_owned(),
            format!("{} days", step.idle_days),
        ]);
    }
    Ok(table.print(output)?)
}

/// What merging came to, if it was tried.
pub(super) fn merged(run: &Run, output: &mut Output) -> Outcome {
    for name in &run.written {
        output.line(format!("{name}: written, to hold several"))?;
    }
    for Absorbed { name, into } in &run.absorbed {
        output.line(format!("{name}: put away, {into} says all of it"))?;
    }
    for Rewrite { job, from, to } in &run.rewrites {
        let line = format!("job {job}: uses {to} in place of {from}");
        output.line(one_line(&line))?;
    }
    let cut_short = run.merging.as_ref().and_then(|it| it.cut_short.as_ref());
    match cut_short {
        Some(why) => {
            let line = format!("merging was not finished: {why}");
            Ok(output.line(one_line(&line))?)
        }
        None => Ok(()),
    }
}

pub(super) fn archived(desk: &Desk<'_>, as_json: bool, output: &mut Output) -> Outcome {
    let archived = desk.curator.archived()?;
    if as_json {
        return Ok(output.json(&json!({ "archived": archived }))?);
    }
    if archived.is_empty() {
        return Ok(output.line("No skill was put away.")?);
    }
    let mut table = Table::new(["NAME", "SINCE", "NOW PART OF"]);
    for skill in archived {
        let since = skill.archived_at.unwrap_or_default();
        table.row([
            skill.name,
            since.get(..10).unwrap_or(&since).to_owned(),
            skill.absorbed_into.unwrap_or_default(),
        ]);
    }
    table.print(output)?;
    Ok(output.line("hermes curator restore NAME brings one back.")?)
}

pub(super) fn backups(desk: &Desk<'_>, as_json: bool, output: &mut Output) -> Outcome {
    let backups = desk.curator.backups()?;
    if as_json {
        return Ok(output.json(&json!({ "backups": backups }))?);
    }
    if backups.is_empty() {
        return Ok(output.line("There are no copies; hermes curator backup makes one.")?);
    }
    let mut table = Table::new(["NAME", "MADE", "SKILLS", "WHY"]);
    for backup in backups {
        table.row([
            backup.name,
            moment(backup.created_at, desk.context.zone()),
            backup.skills.to_string(),
            backup.reason,
        ]);
    }
    Ok(table.print(output)?)
}
