//! `hermes logs list`

use std::fs;
use std::io;
use std::time::UNIX_EPOCH;

use serde_json::json;

use super::unreadable;
use crate::args::logs::LogsArgs;
use crate::complaint::Outcome;
use crate::context::Context;
use crate::output::Output;
use crate::table::Table;
use crate::{size, when};

struct Found {
    name: String,
    path: std::path::PathBuf,
    bytes: u64,
    modified_at: f64,
}

pub(super) fn list(args: &LogsArgs, context: &Context, output: &mut Output) -> Outcome {
    let folder = context.home()?.logs_dir();
    let found = files_of(&folder).map_err(unreadable(&folder))?;
    if args.json {
        let rows: Vec<_> = found
            .iter()
            .map(|file| {
                json!({
                    "name": file.name,
                    "path": file.path,
                    "bytes": file.bytes,
                    "modified_at": when::iso(file.modified_at),
                })
            })
            .collect();
        return Ok(output.json(&rows)?);
    }
    if found.is_empty() {
        return Ok(output.line(format!("No logs yet in {}.", folder.display()))?);
    }
    let mut table = Table::new(["Log", "Size", "Changed"]);
    for file in found {
        table.row([
            file.name,
            size::show(file.bytes),
            when::since(file.modified_at, context.clock().as_ref()),
        ]);
    }
    table.print(output)?;
    Ok(output.line(format!("in {}", folder.display()))?)
}

fn files_of(folder: &std::path::Path) -> io::Result<Vec<Found>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_log = name
            .trim_end_matches(|c: char| c.is_ascii_digit() || c == '.')
            .ends_with(".log");
        // A file may go away while we look.
        let Some(metadata) = entry
            .metadata()
            .ok()
            .filter(|found| found.is_file() && is_log)
        else {
            continue;
        };
        let modified = metadata.modified()?.duration_since(UNIX_EPOCH);
        found.push(Found {
            name,
            path: entry.path(),
            bytes: metadata.len(),
            modified_at: modified.map_or(0.0, |since| since.as_secs_f64()),
        });
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}
