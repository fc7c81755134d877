//! Files and folders.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use super::fenced;
use super::guard::Guard;
use super::parse::Lines;

/// Most entries of a folder that are listed.
const MOST_ENTRIES: usize = 200;
/// How much of a file is looked at to tell text from other things.
const PROBE: usize = 8 * 1024;

/// A file's text, or some lines of it, or what kind of file it is. `most` is in bytes.
pub(super) async fn file(
    shown: &str,
    path: PathBuf,
    lines: Option<Lines>,
    most: usize,
) -> Result<String, String> {
    let name = shown.to_owned();
    blocking(move || read(&name, &path, lines, most)).await
}

/// What is in a folder, without what its ignore rules leave out.
pub(super) async fn folder(shown: &str, path: PathBuf, guard: Guard) -> Result<String, String> {
    let name = shown.to_owned();
    blocking(move || list(&name, &path, &guard)).await
}

async fn blocking(
    work: impl FnOnce() -> Result<String, String> + Send + 'static,
) -> Result<String, String> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|error| Err(error.to_string()))
}

fn read(shown: &str, path: &Path, lines: Option<Lines>, most: usize) -> Result<String, String> {
    let failed = |error: std::io::Error| format!("it cannot be read: {error}");
    let meta = path.metadata().map_err(failed)?;
    if meta.is_dir() {
        return Err(format!("it is a folder; say @folder:{shown}"));
    }
    // A pipe or a device would keep us waiting.
    if !meta.is_file() {
        return Err("it is no ordinary file".to_owned());
    }
    let mut reader = BufReader::with_capacity(PROBE, File::open(path).map_err(failed)?);
    if reader.fill_buf().map_err(failed)?.contains(&0) {
        return Ok(binary(shown, meta.len()));
    }
    let bytes = match lines {
        Some(lines) => some_lines(&mut reader, lines, most).map_err(failed)?,
        None => {
            let mut bytes = Vec::new();
            reader
                .take(most as u64 + 1)
                .read_to_end(&mut bytes)
                .map_err(failed)?;
            bytes
        }
    };
    if bytes.len() > most {
        return Err(format!(
            "it is too large ({} bytes); name the lines you mean, such as @file:{shown}:1-200",
            meta.len()
        ));
    }
    let Ok(text) = String::from_utf8(bytes) else {
        return Ok(binary(shown, meta.len()));
    };
    let place = match lines {
        Some(Lines { first, last }) if first == last => format!(", line {first}"),
        Some(Lines { first, last }) => format!(", lines {first} to {last}"),
        None => String::new(),
    };
    if lines.is_some() && text.is_empty() {
        return Err("it has no such lines".to_owned());
    }
    let language = path
        .extension()
        .and_then(|extension| extension.to_str())
        .unwrap_or_default();
    Ok(format!("File {shown}{place}:\n{}", fenced(language, &text)))
}

fn some_lines(reader: &mut impl BufRead, lines: Lines, most: usize) -> std::io::Result<Vec<u8>> {
    let mut kept = Vec::new();
    for number in 1..=lines.last {
        let start = kept.len();
        // One endless line must not fill the memory.
        let count = reader
            .by_ref()
            .take(most as u64 + 1)
            .read_until(b'\n', &mut kept)?;
        if count == 0 || kept.len() > most {
            break;
        }
        if number < lines.first {
            kept.truncate(start);
        }
    }
    Ok(kept)
}

fn binary(shown: &str, size: u64) -> String {
    let kind = Path::new(shown).extension().map_or_else(
        || "no text".to_owned(),
        |extension| format!("{} data, no text", extension.display()),
    );
    format!("File {shown}: {kind}, {size} bytes. Its content is not attached.")
}

fn list(shown: &str, path: &Path, guard: &Guard) -> Result<String, String> {
    if !path.is_dir() {
        return Err(format!("it is no folder; say @file:{shown}"));
    }
    let walk = ignore::WalkBuilder::new(path)
        // Where the user's own rules are kept depends on the environment, which is not ours to read.
        .git_global(false)
        .require_git(false)
        .follow_links(false)
        .sort_by_file_path(Path::cmp)
        .build();
    let mut lines = Vec::new();
    let mut more = false;
    for entry in walk
        .filter_map(Result::ok)
        .filter(|entry| entry.depth() > 0)
    {
        if guard.is_denied(entry.path()) {
            continue;
        }
        if lines.len() == MOST_ENTRIES {
            more = true;
            break;
        }
        let name = entry
            .path()
            .strip_prefix(path)
            .unwrap_or(entry.path())
            .display();
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        lines.push(match entry.metadata() {
            _ if is_folder => format!("{name}/"),
            Ok(meta) => format!("{name} ({} bytes)", meta.len()),
            Err(_) => name.to_string(),
        });
    }
    if more {
        lines.push(format!(
            "… and more; only {MOST_ENTRIES} entries are listed"
        ));
    }
    Ok(format!(
        "Folder {shown}:\n{}",
        fenced("", &lines.join("\n"))
    ))
}
