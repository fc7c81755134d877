//! `hermes import`

use std::io::IsTerminal;

use hermes_core::FailureKind;
use hermes_store::{Archive, ArchiveCaps, Label, Restore, Restored, is_occupied};
use serde_json::json;

use super::ask;
use super::backup::{notes_json, print_notes, snapshot_json};
use super::progress::Bar;
use crate::args::backup::ImportArgs;
use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::logging;
use crate::number;
use crate::output::Output;

const SNAPSHOT_LABEL: &str = "before-import";

pub(crate) fn run(args: &ImportArgs, context: &Context, output: &mut Output) -> Outcome {
    let home = context.home()?;
    let mut archive = Archive::open(&args.zipfile, &ArchiveCaps::default())?;
    let occupied = is_occupied(home.path())?;
    if occupied && !args.force {
        confirm(home.path())?;
    }
    logging::start(context);
    let label = occupied.then(|| Label::new(SNAPSHOT_LABEL)).transpose()?;
    let request = Restore {
        home: home.path(),
        is_root: home.profile().is_default(),
        snapshot: label.as_ref(),
        at: context.clock.now(),
    };
    let mut bar = Bar::new();
    let restored = request.run(&mut archive, &mut |progress| bar.show(progress));
    bar.finish();
    let restored = restored.inspect_err(|error| {
        tracing::error!(path = %args.zipfile.display(), %error, "the import failed");
    })?;
    tracing::info!(
        path = %args.zipfile.display(),
        files = restored.files,
        databases = restored.databases.len(),
        "backup imported"
    );
    print(args, &archive, &restored, context, output)
}

fn print(
    args: &ImportArgs,
    archive: &Archive,
    restored: &Restored,
    context: &Context,
    output: &mut Output,
) -> Outcome {
    let home = context.home()?;
    if args.json {
        return Ok(output.json(&json!({
            "home": home.path(),
            "files": restored.files,
            "databases": restored.databases,
            "backup": archive.manifest(),
            "snapshot": restored.snapshot.as_ref().map(snapshot_json),
            "notes": notes_json(&restored.notes),
        }))?);
    }
    if let Some(snapshot) = &restored.snapshot {
        output.line(format!("What was there is in {}", snapshot.path.display()))?;
    }
    output.line(format!(
        "Restored {} ({}) to {}",
        number::of(restored.files, "file"),
        number::of(restored.databases.len() as u64, "database"),
        home.path().display()
    ))?;
    print_notes(&restored.notes, output)
}

/// Asks a person; where nobody can be asked the answer is no.
fn confirm(home: &std::path::Path) -> Outcome {
    let home = home.display();
    if !std::io::stdin().is_terminal() {
        return Err(Complaint::new(
            FailureKind::Refused,
            format!("{home} is not empty, and files in it would be replaced"),
        )
        .hint("add --force to go ahead; a snapshot of the state is taken first"));
    }
    ask::confirm(&format!("{home} is not empty: replace the files in it"))
}
