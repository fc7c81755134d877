//! `hermes import`

use std::io::IsTerminal;
use std::path::Path;

use hermes_core::FailureKind;
use hermes_store::{
    Archive, ArchiveCaps, KeptSnapshot, Label, Manifest, Restore, Restored, is_occupied,
};
use serde_json::json;

use super::ask;
use super::backup::{notes_json, print_notes, snapshot_json};
use super::progress::Bar;
use crate::args::backup::ImportArgs;
use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::logging;
use crate::number;
use crate::output::{Output, one_line};

const SNAPSHOT_LABEL: &str = "before-import";
const BEFORE_RESTORE: &str = "before-restore";

pub(crate) fn run(args: &ImportArgs, context: &Context, output: &mut Output) -> Outcome {
    let home = context.home()?;
    if let Some(kept) = named(&args.from, context)? {
        if !args.force {
            confirm(home.path())?;
        }
        let restored = put_back(&kept, context)?;
        return print(args.json, None, &restored, context, output);
    }
    let mut archive = Archive::open(&args.from, &ArchiveCaps::default())?;
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
        at: context.clock().now(),
    };
    let mut bar = Bar::new();
    let restored = request.run(&mut archive, &mut |progress| bar.show(progress));
    bar.finish();
    let restored = restored.inspect_err(|error| {
        tracing::error!(path = %args.from.display(), %error, "the import failed");
    })?;
    tracing::info!(
        path = %args.from.display(),
        files = restored.files,
        databases = restored.databases.len(),
        "backup imported"
    );
    print(args.json, archive.manifest(), &restored, context, output)
}

/// The snapshot of this home that a path or a bare name means, if it means one.
fn named(path: &Path, context: &Context) -> Outcome<Option<KeptSnapshot>> {
    let home = context.home()?.path();
    let mut all = KeptSnapshot::all(home).into_iter();
    if path.is_file() {
        return Ok(None);
    }
    let whole = path.canonicalize().ok();
    Ok(all.find(|kept| {
        let there = || kept.folder(home).canonicalize().ok();
        Path::new(&kept.id) == path || (whole.is_some() && whole == there())
    }))
}

/// The snapshot with an id.
pub(super) fn kept(id: &str, context: &Context) -> Outcome<KeptSnapshot> {
    let mut all = KeptSnapshot::all(context.home()?.path()).into_iter();
    all.find(|kept| kept.id == id).ok_or_else(|| {
        Complaint::new(
            FailureKind::NotFound,
            format!("there is no snapshot {}", one_line(id)),
        )
        .hint("/snapshot list shows them")
    })
}

/// Goes back to a snapshot, and says so. Nobody of this process may have a database open.
pub(super) fn go_back(kept: &KeptSnapshot, context: &Context, output: &mut Output) -> Outcome {
    let restored = put_back(kept, context)?;
    print(false, None, &restored, context, output)?;
    Ok(output.line("Start hermes again to go on from there.")?)
}

fn put_back(kept: &KeptSnapshot, context: &Context) -> Outcome<Restored> {
    let home = context.home()?;
    logging::start(context);
    let label = Label::new(BEFORE_RESTORE)?;
    let request = Restore {
        home: home.path(),
        is_root: home.profile().is_default(),
        snapshot: Some(&label),
        at: context.clock().now(),
    };
    let restored = request
        .run_snapshot(kept)
        .inspect_err(|error| tracing::error!(id = kept.id, %error, "going back failed"))?;
    tracing::info!(
        id = kept.id,
        files = restored.files,
        "went back to a snapshot"
    );
    Ok(restored)
}

fn print(
    as_json: bool,
    manifest: Option<&Manifest>,
    restored: &Restored,
    context: &Context,
    output: &mut Output,
) -> Outcome {
    let home = context.home()?;
    if as_json {
        return Ok(output.json(&json!({
            "home": home.path(),
            "files": restored.files,
            "databases": restored.databases,
            "backup": manifest,
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
fn confirm(home: &Path) -> Outcome {
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
