//! `hermes sessions import`

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use hermes_core::FailureKind;
use hermes_store::ImportCaps;
use serde_json::json;

use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::number;
use crate::output::Output;
use crate::takeover;

/// A file of the user's own may hold a long life; what comes over a network has the smaller default caps.
const LOCAL_CAPS: ImportCaps = ImportCaps {
    sessions: 100_000,
    session_messages: 1_000_000,
    messages: 5_000_000,
    session_bytes: 512 * 1024 * 1024,
    bytes: 4 * 1024 * 1024 * 1024,
};

pub(crate) fn import(
    file: Option<&Path>,
    json: bool,
    context: &Context,
    output: &mut Output,
) -> Outcome {
    let theirs = context.home()?.reference_database();
    let path = file.unwrap_or(&theirs);
    if file.is_none() && !path.exists() {
        return Err(Complaint::new(
            FailureKind::NotFound,
            format!("{} is not there", path.display()),
        )
        .hint("name a state.db or a .jsonl file"));
    }
    if path.is_dir() {
        return Err(
            Complaint::bad_request(format!("{} is a directory", path.display())).hint(
                "name one file: a state.db, or a .jsonl file that hermes sessions export has written",
            ),
        );
    }
    if is_database(path)? {
        return import_database(path, json, context, output);
    }
    let reader = BufReader::new(open(path)?);
    let imported = context.store()?.import_jsonl(path, reader, &LOCAL_CAPS)?;
    if json {
        let skipped: Vec<_> = imported
            .skipped
            .iter()
            .map(|skipped| &skipped.session)
            .collect();
        return Ok(output.json(&json!({
            "sessions": imported.sessions,
            "messages": imported.messages,
            "unchanged": imported.unchanged,
            "skipped": skipped,
        }))?);
    }
    output.line(format!(
        "{} with {} imported",
        number::of(imported.sessions, "conversation"),
        number::of(imported.messages, "message")
    ))?;
    if imported.unchanged > 0 {
        output.line(format!("{} were here already", imported.unchanged))?;
    }
    for skipped in &imported.skipped {
        output.line(format!(
            "{} was left out: another conversation has this id",
            skipped.session
        ))?;
    }
    Ok(())
}

fn import_database(path: &Path, json: bool, context: &Context, output: &mut Output) -> Outcome {
    let imported = takeover::import(&context.store()?, path)?;
    if json {
        return Ok(output.json(&json!({
            "schema_version": imported.schema_version,
            "sessions": imported.sessions_new,
            "sessions_changed": imported.sessions_changed,
            "messages": imported.messages,
            "skipped": imported.skipped,
        }))?);
    }
    output.line(format!(
        "{} added, {} changed, {} imported",
        number::of(imported.sessions_new, "conversation"),
        imported.sessions_changed,
        number::of(imported.messages, "message")
    ))?;
    for skipped in &imported.skipped {
        output.line(format!(
            "{skipped} was left out: another conversation has this id"
        ))?;
    }
    Ok(())
}

fn open(path: &Path) -> Outcome<File> {
    File::open(path).map_err(|error| {
        let message = format!("{} could not be opened: {error}", path.display());
        Complaint::new(FailureKind::NotFound, message).hint("name a state.db or a .jsonl file")
    })
}

fn is_database(path: &Path) -> Outcome<bool> {
    let mut start = Vec::new();
    open(path)?.take(16).read_to_end(&mut start)?;
    Ok(start == b"SQLite format 3\0")
}
