//! The log of changes to memory and skills, as lists show it.

use hermes_store::JournalEntry;
use jiff::tz::TimeZone;
use serde_json::json;

use crate::complaint::Outcome;
use crate::output::Output;
use crate::table::Table;
use crate::when::{iso, show};

/// How changes are listed.
pub(super) struct Listing<'a> {
    pub(super) json: bool,
    /// The time zone times are told in.
    pub(super) zone: &'a TimeZone,
    /// What the place of a change is called in JSON.
    pub(super) place: &'static str,
    /// What is said when there are none.
    pub(super) nothing: &'static str,
}

pub(super) fn list(changes: Vec<JournalEntry>, how: &Listing<'_>, output: &mut Output) -> Outcome {
    if how.json {
        let changes = changes.into_iter().map(|change| {
            json!({
                "id": change.id,
                "at": iso(change.at),
                "origin": change.origin,
                "session": change.session,
                how.place: change.subject,
                "path": change.path,
                "before": change.before,
                "after": change.after,
                "summary": change.summary,
                "undone_at": change.undone_at.map(iso),
            })
        });
        return Ok(output.json(&json!({ "changes": changes.collect::<Vec<_>>() }))?);
    }
    if changes.is_empty() {
        return Ok(output.line(how.nothing)?);
    }
    let mut table = Table::new(["#", "WHEN", "BY", "WHERE", "WHAT"]);
    for change in changes {
        let undone = match change.undone_at {
            Some(_) => " (taken back)",
            None => "",
        };
        table.row([
            change.id.to_string(),
            show(change.at, how.zone),
            change.origin.word().to_owned(),
            change.subject,
            format!("{}{undone}", change.summary),
        ]);
    }
    Ok(table.print(output)?)
}
