//! `hermes skills list`.

use hermes_skills::hub::Locked;
use hermes_skills::{Catalog, CatalogEntry, Library, is_disabled};
use serde_json::{Value as Json, json};

use super::ground::Ground;
use crate::args::skills::{Kind, ListArgs};
use crate::complaint::Outcome;
use crate::output::{Output, one_line};
use crate::table::{Table, cut};

const SURFACE: &str = "cli";
/// Most characters of a description in the table.
const WIDEST: usize = 60;

pub(super) fn run(args: &ListArgs, ground: &Ground<'_>, output: &mut Output) -> Outcome {
    let library = ground.library()?;
    let catalog = library.catalog();
    let rows = rows(args, &catalog, library, ground)?;
    if args.json {
        return Ok(output.json(&document(&rows, library)?)?);
    }
    if rows.is_empty() {
        output.line("There are no skills here. Look for some with: hermes skills search WORDS")?;
        return left_out(library, output);
    }
    let mut table = Table::new(["NAME", "CATEGORY", "KIND", "STATE", "WHAT IT IS FOR"]);
    for row in &rows {
        let entry = row.entry;
        let origin = row.locked.as_ref().map(|locked| locked.source.as_str());
        table.row([
            cut(&entry.name, 40),
            entry.shown_category().to_owned(),
            origin.unwrap_or_else(|| word(row.kind)).to_owned(),
            if row.enabled { "on" } else { "off" }.to_owned(),
            cut(&one_line(&entry.description), WIDEST),
        ]);
    }
    table.print(output)?;
    for name in library.waiting_updates()? {
        output.line(format!(
            "You changed {name}, and a newer one of the program changed the same lines: hermes skills diff {name} shows both."
        ))?;
    }
    left_out(library, output)
}

/// A skill, and what is known about how it came here.
struct Row<'a> {
    entry: &'a CatalogEntry,
    locked: Option<Locked>,
    kind: Kind,
    enabled: bool,
}

/// The skills that were asked for.
fn rows<'a>(
    args: &ListArgs,
    catalog: &'a Catalog,
    library: &Library,
    ground: &Ground<'_>,
) -> Outcome<Vec<Row<'a>>> {
    let installed = ground.hub()?.installed()?;
    let settings = &ground.loaded.config.skills;
    let rows = catalog.entries.iter().map(|entry| {
        let locked = locked(entry, &installed, ground);
        let kind = match (&locked, library.is_shipped(&entry.name)) {
            (Some(_), _) => Kind::Hub,
            (None, true) => Kind::Builtin,
            (None, false) => Kind::Local,
        };
        Row {
            entry,
            locked,
            kind,
            enabled: !is_disabled(&entry.name, SURFACE, settings),
        }
    });
    Ok(rows
        .filter(|row| args.source == Kind::All || args.source == row.kind)
        .filter(|row| row.enabled || !args.enabled_only)
        .collect())
}

fn document(rows: &[Row<'_>], library: &Library) -> Outcome<Json> {
    let skills: Vec<_> = rows
        .iter()
        .map(|row| {
            json!({
                "name": row.entry.name,
                "category": row.entry.category,
                "description": row.entry.description,
                "kind": word(row.kind),
                "enabled": row.enabled,
                "path": row.entry.directory,
                "external": row.entry.external,
                "installed": row.locked,
            })
        })
        .collect();
    let left_out: Vec<_> = library
        .left_out()
        .into_iter()
        .map(|one| json!({ "path": one.file, "why": one.why }))
        .collect();
    let waiting = library.waiting_updates()?;
    Ok(json!({
        "skills": skills,
        "left_out": left_out,
        "updates_waiting": waiting,
    }))
}

/// The skills nobody can use, and why.
fn left_out(library: &Library, output: &mut Output) -> Outcome {
    for one in library.left_out() {
        let path = one.file.display().to_string();
        output.line(format!(
            "Left out: {} {}",
            one_line(&path),
            one_line(&one.why)
        ))?;
    }
    Ok(())
}

/// The entry of a skill in the list of what was installed, by the directory it is in.
fn locked(
    entry: &CatalogEntry,
    installed: &[(String, Locked)],
    ground: &Ground<'_>,
) -> Option<Locked> {
    let skills = ground.skills().ok()?;
    installed
        .iter()
        .find(|(_, locked)| entry.directory == skills.join(&locked.install_path))
        .map(|(_, locked)| locked.clone())
}

fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::All | Kind::Local => "local",
        Kind::Hub => "hub",
        Kind::Builtin => "builtin",
    }
}
