//! `hermes backup`

use std::path::{Path, PathBuf};

use hermes_core::{Failure, FailureKind};
use hermes_store::{ArchiveError, BackUp, BackedUp, Label, Notes, Snapshot, TakeSnapshot};
use serde_json::{Value, json};

use super::progress::Bar;
use crate::args::backup::BackupArgs;
use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::output::{Output, Style, one_line};
use crate::{logging, number, size};

const PROGRAM: &str = concat!("hermes ", env!("CARGO_PKG_VERSION"));
/// More notes than this are only counted; `--json` lists them all.
const SHOWN_NOTES: usize = 20;

pub(crate) fn run(args: &BackupArgs, context: &Context, output: &mut Output) -> Outcome {
    let home = context.home()?;
    if !home.path().is_dir() {
        return Err(Complaint::new(
            FailureKind::NotFound,
            format!("there is no home at {}", home.path().display()),
        )
        .hint("nothing to back up yet"));
    }
    logging::start(context);
    if args.quick {
        return quick(args, context, output);
    }
    let target = target_of(args, context)?;
    let request = BackUp {
        home: home.path(),
        profile: home.profile().as_str(),
        output: &target,
        at: context.clock().now(),
        zone: context.zone(),
        program: PROGRAM,
    };
    let mut bar = Bar::new();
    let made = request.run(&mut |progress| bar.show(progress));
    bar.finish();
    let made = made.inspect_err(|error| tracing::error!(%error, "the backup failed"))?;
    tracing::info!(
        path = %made.path.display(),
        files = made.files,
        size = made.size,
        left_out = made.notes.listed.len(),
        "backup written"
    );
    if args.json {
        output.json(&backup_json(&made))?;
    } else {
        output.line(format!(
            "Backed up {} ({}, {}) to {} ({})",
            number::of(made.files, "file"),
            size::show(made.bytes),
            number::of(made.databases.len() as u64, "database"),
            made.path.display(),
            size::show(made.size)
        ))?;
        print_notes(&made.notes, output)?;
    }
    if made.notes.unreadable > 0 {
        let missing = number::of(made.notes.unreadable, "file");
        return Err(Complaint::new(
            FailureKind::Unavailable,
            format!("the backup is not complete: {missing} could not be read"),
        )
        .hint("check who owns them; the rest is in the backup"));
    }
    Ok(())
}

fn quick(args: &BackupArgs, context: &Context, output: &mut Output) -> Outcome {
    let label = args.label.as_deref().map(Label::new).transpose()?;
    let request = TakeSnapshot {
        home: context.home()?.path(),
        label: label.as_ref(),
        at: context.clock().now(),
    };
    let taken = request
        .run()
        .inspect_err(|error| tracing::error!(%error, "the snapshot failed"))?;
    tracing::info!(id = taken.id, files = taken.files, "snapshot taken");
    if args.json {
        return Ok(output.json(&snapshot_json(&taken))?);
    }
    output.line(format!(
        "Copied {} ({}) to {}",
        number::of(taken.files, "file"),
        size::show(taken.bytes),
        taken.path.display()
    ))?;
    if !taken.removed.is_empty() {
        let removed = number::of(taken.removed.len() as u64, "old snapshot");
        output.line(format!("Removed {removed}."))?;
    }
    print_notes(&taken.notes, output)
}

/// The file to write: as given, in the directory that was given, or among the home's backups.
fn target_of(args: &BackupArgs, context: &Context) -> Outcome<PathBuf> {
    let now = context.clock().local();
    let name = format!("hermes-backup-{}.zip", now.strftime("%Y%m%d-%H%M%S"));
    match &args.output {
        Some(folder) if folder.is_dir() => Ok(free_name(folder, &name)),
        Some(file) if file.exists() => Err(Complaint::new(
            FailureKind::Refused,
            format!("{} is there already", file.display()),
        )
        .hint("choose another name, or remove it first")),
        Some(file) => Ok(file.clone()),
        None => {
            let folder = context.home()?.path().join("backups");
            context.home()?.create(&folder)?;
            Ok(free_name(&folder, &name))
        }
    }
}

/// A second backup in the same second gets a number.
fn free_name(folder: &Path, name: &str) -> PathBuf {
    let numbered =
        (2..).map(|number| folder.join(format!("{}-{number}.zip", name.trim_end_matches(".zip"))));
    std::iter::once(folder.join(name))
        .chain(numbered)
        .find(|path| !path.exists())
        .unwrap_or_else(|| folder.join(name))
}

fn backup_json(made: &BackedUp) -> Value {
    json!({
        "path": made.path,
        "files": made.files,
        "bytes": made.bytes,
        "size": made.size,
        "databases": made.databases,
        "notes": notes_json(&made.notes),
    })
}

pub(super) fn snapshot_json(taken: &Snapshot) -> Value {
    json!({
        "id": taken.id,
        "path": taken.path,
        "files": taken.files,
        "bytes": taken.bytes,
        "removed": taken.removed,
        "notes": notes_json(&taken.notes),
    })
}

pub(super) fn notes_json(notes: &Notes) -> Vec<Value> {
    notes
        .listed
        .iter()
        .map(|note| json!({"path": note.path, "kind": note.kind.word()}))
        .collect()
}

pub(super) fn print_notes(notes: &Notes, output: &mut Output) -> Outcome {
    for note in notes.listed.iter().take(SHOWN_NOTES) {
        let path = one_line(&note.path);
        let line = output.paint(Style::Faint, &format!("  {path} {}", note.kind));
        output.line(line)?;
    }
    let hidden = notes.listed.len().saturating_sub(SHOWN_NOTES) as u64 + notes.more;
    if hidden > 0 {
        output.line(format!("  and {hidden} more"))?;
    }
    Ok(())
}

impl From<ArchiveError> for Complaint {
    fn from(error: ArchiveError) -> Self {
        let kind = match &error {
            ArchiveError::Broken { .. } | ArchiveError::DamagedEntry { .. } => FailureKind::Damaged,
            ArchiveError::NotABackup { .. } | ArchiveError::TooNew { .. } => FailureKind::BadInput,
            ArchiveError::Refused { .. } | ArchiveError::TooMuch(_) => FailureKind::Refused,
            ArchiveError::InUse { .. } | ArchiveError::AlreadyRunning { .. } => {
                FailureKind::Unavailable
            }
            ArchiveError::BadLabel { .. } => FailureKind::BadRequest,
            ArchiveError::File { source, .. } if source.kind() == std::io::ErrorKind::NotFound => {
                FailureKind::NotFound
            }
            ArchiveError::Database(_) => match error {
                ArchiveError::Database(error) => return error.into(),
                _ => FailureKind::Internal,
            },
            _ => FailureKind::Unavailable,
        };
        let hint = error.hint();
        let failure = Failure::new(kind, error.to_string()).because(error);
        Self::Failed(match hint {
            Some(hint) => failure.hint(hint),
            None => failure,
        })
    }
}
