//! Looking at what is remembered.

use hermes_memory::{Contents, Target, planted};
use hermes_tools::Subsystem;
use serde_json::{Value as Json, json};

use super::Desk;
use super::external::External;
use crate::commands::journal::{self, Listing};
use crate::complaint::Outcome;
use crate::context::Context;
use crate::output::{Output, Style, printable};
use crate::table::Table;

/// What a file is called for people.
pub(super) fn name(target: Target) -> &'static str {
    match target {
        Target::Memory => "notes of the agent",
        Target::User => "about you",
    }
}

fn file_table(files: &[(Contents, bool)]) -> Table {
    let mut table = Table::new(["FILE", "WHAT", "STATE", "ENTRIES", "USE"]);
    for (contents, enabled) in files {
        let state = match (enabled, contents.drifted) {
            (false, _) => "off",
            (true, true) => "edited outside",
            (true, false) => "on",
        };
        table.row([
            contents.target.file_name().to_owned(),
            name(contents.target).to_owned(),
            state.to_owned(),
            contents.entries.len().to_string(),
            contents.usage(),
        ]);
    }
    table
}

pub(super) fn status(
    desk: &Desk,
    as_json: bool,
    context: &Context,
    output: &mut Output,
) -> Outcome {
    let memory = &desk.loaded.config.memory;
    let waiting = desk.staging.list(Subsystem::Memory).len();
    let external = External::look(desk, context)?;
    let mut files = Vec::new();
    for target in Target::ALL {
        files.push((
            desk.memory.contents(target)?,
            desk.memory.settings().of(target).enabled,
        ));
    }
    if as_json {
        let mut document = json!({
            "provider": memory.provider,
            "external": external.as_ref().map(External::document),
            "write_approval": memory.write_approval,
            "pending": waiting,
        });
        for (contents, enabled) in &files {
            document[contents.target.word()] = json!({
                "enabled": enabled,
                "file": contents.target.file_name(),
                "entries": contents.entries.len(),
                "chars": contents.size,
                "limit": contents.limit,
                "edited_outside": contents.drifted,
            });
        }
        return Ok(output.json(&document)?);
    }
    file_table(&files).print(output)?;
    output.line(match &external {
        None => "External memory: none (hermes memory setup chooses one)".to_owned(),
        Some(external) => external.words(context.zone()),
    })?;
    output.line(match (memory.write_approval, waiting) {
        (true, 0) => "You are asked before something is remembered; nothing waits.".to_owned(),
        (false, 0) => "Nothing asks you before something is remembered.".to_owned(),
        (_, waiting) => format!("{waiting} changes wait for you: hermes memory pending"),
    })?;
    for (contents, _) in files.iter().filter(|(contents, _)| contents.drifted) {
        output.line(format!(
            "{} was edited in another form and is not written: hermes memory tidy {} takes it over.",
            contents.target.file_name(),
            contents.target.word()
        ))?;
    }
    Ok(())
}

pub(super) fn show(desk: &Desk, targets: &[Target], output: &mut Output) -> Outcome {
    for (index, target) in targets.iter().enumerate() {
        let contents = desk.memory.contents(*target)?;
        if index > 0 {
            output.line("")?;
        }
        let heading = format!(
            "{}: {} [{}]",
            target.file_name(),
            name(*target),
            contents.usage()
        );
        let heading = output.paint(Style::Strong, &heading);
        output.line(heading)?;
        if contents.entries.is_empty() {
            output.line("Nothing is kept here.")?;
        }
        for entry in &contents.entries {
            output.line(format!(
                "- {}",
                printable(&entry.text).replace('\n', "\n  ")
            ))?;
            let ids = planted(&entry.text);
            if !ids.is_empty() {
                output.line(format!(
                    "  (looks planted: {}; the agent does not see it. Remove it with: hermes memory remove {})",
                    ids.join(", "),
                    entry.id
                ))?;
            }
        }
    }
    Ok(())
}

pub(super) fn list(desk: &Desk, targets: &[Target], as_json: bool, output: &mut Output) -> Outcome {
    let mut all = Vec::new();
    for target in targets {
        all.push(desk.memory.contents(*target)?);
    }
    if as_json {
        let files = all.iter().map(|contents| {
            let name = contents.target.word().to_owned();
            (name, document(contents))
        });
        return Ok(output.json(&Json::Object(files.collect()))?);
    }
    if all.iter().all(|contents| contents.entries.is_empty()) {
        return Ok(output.line("Nothing is remembered.")?);
    }
    let mut table = Table::new(["ID", "WHERE", "CHARS", "SEEN", "TEXT"]);
    for contents in &all {
        for entry in &contents.entries {
            let seen = match planted(&entry.text).is_empty() {
                true => "yes",
                false => "blocked",
            };
            table.row([
                entry.id.clone(),
                contents.target.word().to_owned(),
                entry.text.chars().count().to_string(),
                seen.to_owned(),
                entry.preview(),
            ]);
        }
    }
    Ok(table.print(output)?)
}

fn document(contents: &Contents) -> Json {
    let entries = contents.entries.iter().map(|entry| {
        json!({
            "id": entry.id,
            "text": entry.text,
            "chars": entry.text.chars().count(),
            "blocked": planted(&entry.text),
        })
    });
    json!({
        "chars": contents.size,
        "limit": contents.limit,
        "edited_outside": contents.drifted,
        "entries": entries.collect::<Vec<_>>(),
    })
}

pub(super) fn log(
    desk: &Desk,
    limit: u32,
    as_json: bool,
    context: &Context,
    output: &mut Output,
) -> Outcome {
    let how = Listing {
        json: as_json,
        zone: context.zone(),
        place: "target",
        nothing: "Nothing was changed yet.",
    };
    journal::list(desk.memory.log(limit)?, &how, output)
}
