//! `hermes sandbox returned`: files of ours that were changed elsewhere, for somebody to look at.

use std::path::Path;

use hermes_exec::{Change, Difference, Returned};
use jiff::tz::TimeZone;
use serde_json::json;
use similar::TextDiff;

use super::confirm;
use crate::args::sandbox::ReturnedCommand;
use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::hands::came_back;
use crate::output::{Output, one_line, printable};
use crate::table::Table;
use crate::when::{iso, show};

const NONE: &str = "Nothing came back from elsewhere.";
/// Larger files are not compared line by line.
const MAX_COMPARED: u64 = 512 << 10;

pub(super) fn run(
    command: Option<ReturnedCommand>,
    context: &Context,
    output: &mut Output,
) -> Outcome {
    let all = came_back(context.home()?)?;
    match command.unwrap_or(ReturnedCommand::Ls { json: false }) {
        ReturnedCommand::Ls { json: true } => {
            let all: Vec<_> = all.iter().map(as_value).collect();
            Ok(output.json(&json!({ "returned": all }))?)
        }
        ReturnedCommand::Ls { json: false } => list(&all, context.zone(), output),
        ReturnedCommand::Show { name } => show_one(named(&all, &name)?, output),
        ReturnedCommand::Rm {
            names,
            all: everything,
            yes,
        } => {
            let wanted: Vec<&Returned> = match everything {
                true => all.iter().collect(),
                false => names
                    .iter()
                    .map(|name| named(&all, name))
                    .collect::<Outcome<_>>()?,
            };
            remove(&wanted, yes, output)
        }
    }
}

fn named<'a>(all: &'a [Returned], name: &str) -> Outcome<&'a Returned> {
    let found = all.iter().find(|one| one.name == name);
    found.ok_or_else(|| {
        Complaint::bad_request(format!("nothing came back under the name `{name}`"))
            .hint("hermes sandbox returned ls shows the names")
    })
}

fn list(all: &[Returned], zone: &TimeZone, output: &mut Output) -> Outcome {
    if all.is_empty() {
        return Ok(output.line(NONE)?);
    }
    let mut table = Table::new(["NAME", "CAME", "FROM", "FILES"]);
    for one in all {
        table.row([
            one.name.clone(),
            show(one.came_at as f64, zone),
            one_line(&one.note.from),
            one.note.changes.len().to_string(),
        ]);
    }
    Ok(table.print(output)?)
}

fn as_value(one: &Returned) -> serde_json::Value {
    json!({
        "name": one.name,
        "came_at": iso(one.came_at as f64),
        "from": one.note.from,
        "folder": one.folder,
        "changes": one.note.changes,
    })
}

fn remove(wanted: &[&Returned], yes: bool, output: &mut Output) -> Outcome {
    if wanted.is_empty() {
        return Ok(output.line(NONE)?);
    }
    if !yes {
        let names: Vec<&str> = wanted.iter().map(|one| &*one.name).collect();
        confirm(&format!("Remove {}", names.join(", ")))?;
    }
    for one in wanted {
        one.remove()?;
        output.line(format!("removed {}", one.name))?;
    }
    Ok(())
}

fn show_one(one: &Returned, output: &mut Output) -> Outcome {
    output.line(format!(
        "From {}, in {}",
        one_line(&one.note.from),
        one.folder.display()
    ))?;
    for (name, difference) in &one.note.changes {
        let shown = compared(name, difference, &one.folder.join(name));
        output.line(printable(shown.trim_end()))?;
    }
    Ok(output.line("Our own files are as they were; copy what is good.")?)
}

/// One file, as a difference from ours where both are text.
fn compared(name: &str, difference: &Difference, theirs: &Path) -> String {
    let word = match difference.change {
        Change::Added => "added",
        Change::Changed => "changed",
        Change::Removed => return format!("removed: {}", one_line(name)),
    };
    let ours = match (&difference.ours, difference.change) {
        (Some(ours), Change::Changed) => text(ours),
        (Some(_) | None, _) => Some(String::new()),
    };
    let (Some(old), Some(new)) = (ours, text(theirs)) else {
        return format!("{word}: {} (no text, or too long to show)", one_line(name));
    };
    let diff = TextDiff::from_lines(&old, &new);
    let header = one_line(name);
    let unified = diff
        .unified_diff()
        .header(&format!("our {header}"), &format!("their {header}"))
        .to_string();
    format!("{word}: {header}\n{unified}")
}

/// The content of a file that is text and not long.
fn text(path: &Path) -> Option<String> {
    let short = std::fs::metadata(path).is_ok_and(|about| about.len() <= MAX_COMPARED);
    let content = short.then(|| std::fs::read(path).ok()).flatten()?;
    String::from_utf8(content)
        .ok()
        .filter(|text| !text.contains('\0'))
}
