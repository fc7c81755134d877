//! `hermes skills check` and `update`.

use hermes_core::causes;
use hermes_skills::hub::{Change, Locked, Newer};
use serde_json::json;

use super::ground::Ground;
use super::install::{self, Wishes};
use super::{Ended, show};
use crate::args::skills::UpdateArgs;
use crate::complaint::{Complaint, Outcome};
use crate::output::{Output, one_line, printable};
use crate::table::Table;

/// Most lines of a difference that are shown of one file.
const MOST_LINES: usize = 80;

pub(super) fn check(
    name: Option<&str>,
    as_json: bool,
    ground: &Ground<'_>,
    output: &mut Output,
) -> Outcome {
    let hub = ground.hub()?;
    let mut rows = Vec::new();
    for (name, entry) in named(name, ground)? {
        let newer = ground.wait(hub.newer(&entry))?;
        let (status, error) = match newer {
            Ok(Newer::Same) => ("current", None),
            Ok(Newer::Other(_)) => ("outdated", None),
            Err(error) => ("unknown", Some(causes(&error))),
        };
        let modified = hub.is_modified(&entry);
        rows.push((name, entry, status, error, modified));
    }
    if as_json {
        let skills: Vec<_> = rows
            .iter()
            .map(|(name, entry, status, error, modified)| {
                json!({
                    "name": name, "identifier": entry.identifier, "status": status,
                    "error": error, "modified": modified,
                })
            })
            .collect();
        return Ok(output.json(&json!({ "skills": skills }))?);
    }
    if rows.is_empty() {
        return Ok(output.line("Nothing was installed from elsewhere.")?);
    }
    let mut table = Table::new(["NAME", "STATE", "FROM"]);
    for (name, entry, status, error, modified) in rows {
        let words = match status {
            "current" => "current".to_owned(),
            "outdated" => "something newer is there".to_owned(),
            _ => format!("not known: {}", one_line(&error.unwrap_or_default())),
        };
        let changed = if modified { ", changed by you" } else { "" };
        table.row([name, format!("{words}{changed}"), entry.identifier]);
    }
    Ok(table.print(output)?)
}

pub(super) fn run(args: &UpdateArgs, ground: &Ground<'_>, output: &mut Output) -> Outcome<Ended> {
    let entries = named(args.name.as_deref(), ground)?;
    if entries.is_empty() {
        output.line("Nothing was installed from elsewhere.")?;
        return Ok(Ended::Done);
    }
    let wishes = Wishes {
        force: args.force,
        yes: args.yes,
    };
    let alone = entries.len() == 1;
    let mut failed = 0;
    let mut ended = Ended::Done;
    for (name, entry) in entries {
        match one(&name, &entry, wishes, ground, output) {
            Ok(Ended::Done) => {}
            Ok(Ended::NeedsYes) => ended = Ended::NeedsYes,
            Err(complaint) if alone => return Err(complaint),
            // One that fails does not keep the others from being updated.
            Err(Complaint::Failed(failure)) => {
                failed += 1;
                output.line(format!("{name}: {}", one_line(&causes(&failure))))?;
                if let Some(hint) = &failure.hint {
                    output.line(format!("  {hint}"))?;
                }
            }
            Err(Complaint::Code(1)) => {}
            Err(other) => return Err(other),
        }
    }
    match failed {
        0 => Ok(ended),
        _ => Err(Complaint::Code(1)),
    }
}

fn one(
    name: &str,
    entry: &Locked,
    wishes: Wishes,
    ground: &Ground<'_>,
    output: &mut Output,
) -> Outcome<Ended> {
    let hub = ground.hub()?;
    let bundle = match ground.wait(hub.newer(entry))?? {
        Newer::Same => {
            output.line(format!("{name} is current."))?;
            return Ok(Ended::Done);
        }
        Newer::Other(bundle) => *bundle,
    };
    let plan = hub.plan_update(bundle, name)?;
    output.line(format!("{name} from {}:", entry.identifier))?;
    for change in hub.changes(&plan)? {
        print(&change, output)?;
    }
    show::report(&plan.report, plan.bundle.origin.trust, output)?;
    let changed = if hub.is_modified(entry) {
        ", which you have changed"
    } else {
        ""
    };
    let question = format!("Update {name}{changed}");
    install::settle(plan, &question, wishes, ground, output)
}

fn print(change: &Change, output: &mut Output) -> Outcome {
    let (word, path, diff) = match change {
        Change::Added { path, diff } => ("new file", path, diff.as_str()),
        Change::Removed { path } => ("file removed:", path, ""),
        Change::Changed { path, diff } => ("changed:", path, diff.as_str()),
    };
    output.line(format!("  {word} {}", one_line(path.as_str())))?;
    let lines: Vec<&str> = diff.lines().collect();
    for line in lines.iter().take(MOST_LINES) {
        output.line(format!("    {}", printable(line)))?;
    }
    if lines.len() > MOST_LINES {
        output.line(format!("    … and {} more lines", lines.len() - MOST_LINES))?;
    }
    Ok(())
}

/// All that were installed, or the one that is named.
fn named(name: Option<&str>, ground: &Ground<'_>) -> Outcome<Vec<(String, Locked)>> {
    let hub = ground.hub()?;
    let mut all = hub.installed()?;
    if let Some(name) = name {
        let name = hub.installed_as(name)?;
        all.retain(|(other, _)| *other == name);
    }
    Ok(all)
}
