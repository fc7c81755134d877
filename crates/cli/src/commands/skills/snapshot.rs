//! `hermes skills snapshot`: what is installed, to install it elsewhere.

use std::io::Read as _;
use std::path::Path;

use hermes_core::{FailureKind, causes};
use hermes_skills::hub::{Choice, SkillName, Snapshot, SnapshotEntry};

use super::ground::Ground;
use super::install::{self, Wishes};
use super::{Asking, Ended};
use crate::args::skills::SnapshotCommand;
use crate::complaint::{Complaint, Outcome};
use crate::output::{Output, one_line};

/// Most bytes of a list.
const LARGEST: u64 = 4 * 1024 * 1024;
const EXPORTS: &str = "hermes skills snapshot export FILE writes one";

pub(super) fn run(
    command: SnapshotCommand,
    ground: &Ground<'_>,
    output: &mut Output,
) -> Outcome<Ended> {
    match command {
        SnapshotCommand::Export { file } => export(&file, ground, output).map(|()| Ended::Done),
        SnapshotCommand::Import { file, force, yes } => {
            import(&file, Wishes { force, yes }, ground, output)
        }
    }
}

fn export(file: &str, ground: &Ground<'_>, output: &mut Output) -> Outcome {
    let snapshot = ground.hub()?.snapshot()?;
    if file == "-" {
        return Ok(output.json(&snapshot)?);
    }
    let mut bytes = serde_json::to_vec_pretty(&snapshot)
        .map_err(|error| Complaint::caused(FailureKind::Internal, error))?;
    bytes.push(b'\n');
    hermes_config::replace_file(Path::new(file), &bytes)?;
    let count = snapshot.skills.len();
    Ok(output.line(format!("Wrote {count} skills to {file}."))?)
}

fn import(file: &str, wishes: Wishes, ground: &Ground<'_>, output: &mut Output) -> Outcome<Ended> {
    let snapshot = read(file, ground.asking)?;
    let hub = ground.hub()?;
    for tap in snapshot.taps {
        hub.add_tap(tap)?;
    }
    let mut failed = 0;
    let mut ended = Ended::Done;
    for entry in snapshot.skills {
        match one(&entry, wishes, ground, output) {
            Ok(Ended::Done) => {}
            Ok(Ended::NeedsYes) => ended = Ended::NeedsYes,
            Err(Complaint::Failed(failure)) => {
                failed += 1;
                output.line(format!(
                    "{}: {}",
                    one_line(&entry.name),
                    one_line(&causes(&failure))
                ))?;
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
    entry: &SnapshotEntry,
    wishes: Wishes,
    ground: &Ground<'_>,
    output: &mut Output,
) -> Outcome<Ended> {
    let hub = ground.hub()?;
    if hub.installed()?.iter().any(|(name, _)| *name == entry.name) {
        output.line(format!("{} is here already.", one_line(&entry.name)))?;
        return Ok(Ended::Done);
    }
    let bundle = ground.wait(hub.fetch(&entry.place()?))??;
    let choice = Choice {
        name: Some(SkillName::new(&entry.name)?),
        category: entry.category().map(str::to_owned),
    };
    install::one(bundle, &choice, wishes, ground, output)
}

fn read(file: &str, asking: Asking) -> Outcome<Snapshot> {
    let bytes = if file == "-" && asking == Asking::Elsewhere {
        return Err(
            Complaint::bad_request("the input belongs to the conversation").hint("name a file"),
        );
    } else if file == "-" {
        let mut bytes = Vec::new();
        std::io::stdin().take(LARGEST).read_to_end(&mut bytes)?;
        bytes
    } else {
        let missing =
            || Complaint::new(FailureKind::NotFound, format!("{file} is not there")).hint(EXPORTS);
        hermes_config::read_file(Path::new(file))?.ok_or_else(missing)?
    };
    serde_json::from_slice(&bytes).map_err(|error| {
        let message = format!("{file} is no list of skills: {error}");
        Complaint::new(FailureKind::BadInput, message).hint(EXPORTS)
    })
}
