//! The skills that come with the program: changed, restored, kept out.

use std::path::Path;

use hermes_config::Home;
use hermes_core::FailureKind;
use hermes_skills::{Found, Library, ShippedSkill};
use serde_json::json;
use similar::TextDiff;

use super::Ended;
use super::ground::Ground;
use crate::complaint::{Complaint, Outcome};
use crate::output::{Output, printable};
use crate::table::Table;

/// In the home: its owner wants none of them.
const REFUSED: &str = ".no-bundled-skills";

pub(super) fn modified(as_json: bool, ground: &Ground<'_>, output: &mut Output) -> Outcome {
    let modified = ground.library()?.modified()?;
    if as_json {
        let skills: Vec<_> = modified
            .iter()
            .map(|one| json!({ "name": one.name, "path": one.directory, "update": one.update }))
            .collect();
        return Ok(output.json(&json!({ "skills": skills }))?);
    }
    if modified.is_empty() {
        return Ok(output.line("You changed none of the skills that came with the program.")?);
    }
    let mut table = Table::new(["NAME", "NEWER ONE WAITS", "IN"]);
    for one in modified {
        table.row([
            one.name,
            if one.update { "yes" } else { "no" }.to_owned(),
            one.directory.display().to_string(),
        ]);
    }
    Ok(table.print(output)?)
}

pub(super) fn diff(name: &str, ground: &Ground<'_>, output: &mut Output) -> Outcome {
    let library = ground.library()?;
    let shipped = library.shipped_skill(name)?;
    let directory = directory(library, name)?;
    let mut same = true;
    for (path, theirs) in &shipped.files {
        let ours = std::fs::read(directory.join(path)).ok();
        if ours.as_ref() == Some(theirs) {
            continue;
        }
        same = false;
        match ours {
            None => output.line(format!("removed: {path}"))?,
            Some(ours) => {
                let old = String::from_utf8_lossy(theirs);
                let new = String::from_utf8_lossy(&ours);
                let diff = TextDiff::from_lines(old.as_ref(), new.as_ref());
                let mut unified = diff.unified_diff();
                let text = unified
                    .header(&format!("the program's {path}"), &format!("your {path}"))
                    .to_string();
                output.line(printable(text.trim_end()))?;
            }
        }
    }
    for path in added(&shipped, &directory) {
        same = false;
        output.line(format!("added: {path}"))?;
    }
    if same {
        output.line(format!("{name} is as it came with the program."))?;
    }
    Ok(())
}

/// Files that are only in the home.
fn added(shipped: &ShippedSkill, directory: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in ignore::WalkBuilder::new(directory)
        .standard_filters(false)
        .build()
        .flatten()
    {
        let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
        let path = entry.path().strip_prefix(directory).ok();
        let path = path.map(|path| path.to_string_lossy().into_owned());
        if let Some(path) = path
            && is_file
            && !shipped.files.contains_key(&path)
        {
            found.push(path);
        }
    }
    found.sort();
    found
}

pub(super) fn reset(
    name: &str,
    restore: bool,
    yes: bool,
    ground: &Ground<'_>,
    output: &mut Output,
) -> Outcome<Ended> {
    if restore {
        return put_back(name, yes, ground, output);
    }
    let library = ground.library()?;
    library.shipped_skill(name)?;
    library.accept(name)?;
    output.line(format!(
        "{name} counts as it is now; a newer one of the program is told again."
    ))?;
    Ok(Ended::Done)
}

fn put_back(name: &str, yes: bool, ground: &Ground<'_>, output: &mut Output) -> Outcome<Ended> {
    let library = ground.library()?;
    library.shipped_skill(name)?;
    if !ground.agreed(
        &format!("Put the program's {name} in the place of yours"),
        yes,
    )? {
        output.line(format!(
            "{name} would be replaced by the one of the program."
        ))?;
        return Ok(Ended::NeedsYes);
    }
    let away = library.restore(name)?;
    output.line(format!("{name} is as it came with the program."))?;
    if let Some(away) = away {
        output.line(format!("Yours is kept in {}.", away.display()))?;
    }
    Ok(Ended::Done)
}

/// Mends what is damaged or gone; what was changed only when asked to.
pub(super) fn repair(
    name: &str,
    restore: bool,
    yes: bool,
    ground: &Ground<'_>,
    output: &mut Output,
) -> Outcome<Ended> {
    let library = ground.library()?;
    library.shipped_skill(name)?;
    let is_changed = library.modified()?.iter().any(|one| one.name == name);
    let lies_somewhere = directory(library, name).is_ok_and(|path| path.join("SKILL.md").is_file());
    if lies_somewhere && is_changed && !restore {
        let message = format!("{name} is not damaged; you changed it");
        return Err(Complaint::new(FailureKind::Refused, message)
            .hint("add --restore to put the one of the program in its place"));
    }
    if lies_somewhere && !is_changed {
        output.line(format!("{name} is as it came with the program."))?;
        return Ok(Ended::Done);
    }
    put_back(name, yes || !lies_somewhere, ground, output)
}

/// Keeps them out of a home from now on.
pub(in crate::commands) fn refuse(home: &Home) -> Outcome {
    home.create(home.path())?;
    Ok(hermes_config::replace_file(
        &home.path().join(REFUSED),
        b"",
    )?)
}

/// Lets them come into a home again.
pub(in crate::commands) fn accept(home: &Home) -> Outcome {
    let marker = home.path().join(REFUSED);
    match std::fs::remove_file(&marker) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            let message = format!("{} cannot be removed", marker.display());
            Err(Complaint::new(
                FailureKind::Unavailable,
                format!("{message}: {error}"),
            ))
        }
        _ => Ok(()),
    }
}

pub(super) fn opt_out(
    remove: bool,
    yes: bool,
    ground: &Ground<'_>,
    output: &mut Output,
) -> Outcome<Ended> {
    let home = ground.context.home()?;
    if remove
        && !ground.agreed(
            "Remove the skills of the program that you did not change",
            yes,
        )?
    {
        output.line("The skills of the program would be removed.")?;
        return Ok(Ended::NeedsYes);
    }
    refuse(home)?;
    output.line("Skills of the program stay out of this home from now on.")?;
    if remove {
        let library = ground.library()?;
        let removed = library.remove_shipped()?;
        output.line(format!("Removed {} of them.", removed.len()))?;
    }
    Ok(Ended::Done)
}

pub(super) fn opt_in(sync: bool, ground: &Ground<'_>, output: &mut Output) -> Outcome {
    accept(ground.context.home()?)?;
    output.line("Skills of the program may come into this home again.")?;
    if sync {
        let report = ground.library()?.sync()?;
        output.line(format!(
            "{} new, {} newer, {} you changed, {} you removed before.",
            report.copied.len(),
            report.updated.len(),
            report.modified.len(),
            report.deleted.len()
        ))?;
    }
    Ok(())
}

fn directory(library: &Library, name: &str) -> Outcome<std::path::PathBuf> {
    let catalog = library.catalog();
    match catalog.find(name) {
        Found::One(entry) => Ok(entry.directory.clone()),
        Found::Several(entries) => {
            let own = entries.into_iter().find(|entry| library.is_own(entry));
            own.map(|entry| entry.directory.clone())
                .ok_or_else(|| missing(name))
        }
        Found::Nothing => Err(missing(name)),
    }
}

fn missing(name: &str) -> Complaint {
    Complaint::new(
        FailureKind::NotFound,
        format!("there is no skill called {name} here"),
    )
    .hint(format!(
        "hermes skills repair-official {name} brings it back"
    ))
}
