//! Packed files: read into memory within limits, or refused.

use std::io::{Cursor, Read};

use zip::ZipArchive;

use super::bundle::{File, Files, LARGEST_FILE, LARGEST_TOTAL, MOST_FILES};
use super::error::SourceError;
use super::file_path::{FilePath, PathFault};
use crate::library::SKIPPED;

/// Most bytes of one packed file, which is less than other places may send.
const LARGEST_PACKED: usize = 500 * 1024;
/// What a Mac puts beside the files it packs.
const BESIDE: &str = "__MACOSX";
const KIND: u32 = 0o170_000;
const PLAIN: u32 = 0o100_000;
const DIRECTORY: u32 = 0o040_000;
const LINK: u32 = 0o120_000;

/// Unpacks a zip file. The directory all files are in, if there is one, is taken off.
pub(super) fn unzip(bytes: &[u8]) -> Result<Files, SourceError> {
    let damaged = |error| SourceError::Archive(Some(error));
    let mut zip = ZipArchive::new(Cursor::new(bytes)).map_err(damaged)?;
    if zip.len() > MOST_FILES * 2 {
        return Err(SourceError::TooManyFiles { limit: MOST_FILES });
    }
    if zip.has_duplicate_names() {
        return Err(hostile("a name in it", PathFault::Duplicate));
    }
    if zip.has_overlapping_files().map_err(damaged)? {
        return Err(hostile("it", PathFault::Bomb));
    }
    let mut found: Vec<(String, File)> = Vec::new();
    let mut total = 0_usize;
    for index in 0..zip.len() {
        let Some((name, size, executable)) = judge(&mut zip, index)? else {
            continue;
        };
        total = total.saturating_add(size);
        if size > LARGEST_FILE || total > LARGEST_TOTAL {
            return Err(hostile(&name, PathFault::Bomb));
        }
        if is_beside(&name) {
            continue;
        }
        if size > LARGEST_PACKED {
            let limit = LARGEST_PACKED;
            return Err(SourceError::TooLarge { what: name, limit });
        }
        let bytes = read(&mut zip, index, &name, size)?;
        found.push((name, File { bytes, executable }));
    }
    let top = shared_top(found.iter().map(|(name, _)| name.as_str()));
    let mut files = Files::default();
    for (name, file) in found {
        let inner = match &top {
            Some(top) => name.strip_prefix(top.as_str()).unwrap_or(&name),
            None => &name,
        };
        let path = FilePath::new(inner).map_err(|fault| hostile(&name, fault))?;
        files.add(path, file)?;
    }
    Ok(files)
}

/// Whether a file belongs to a program that packs, keeps or builds skills and not to the skill.
fn is_beside(name: &str) -> bool {
    let mut folders = name.split('/').rev().skip(1);
    folders.any(|folder| folder == BESIDE || SKIPPED.contains(&folder))
}

/// The name, size and executable bit of an entry that is a file; nothing for a directory.
fn judge(
    zip: &mut ZipArchive<Cursor<&[u8]>>,
    index: usize,
) -> Result<Option<(String, usize, bool)>, SourceError> {
    let raw = zip
        .by_index_raw(index)
        .map_err(|error| SourceError::Archive(Some(error)))?;
    let Ok(name) = String::from_utf8(raw.name_raw().to_vec()) else {
        let shown = String::from_utf8_lossy(raw.name_raw()).into_owned();
        return Err(hostile(&shown, PathFault::BadName));
    };
    let mode = raw.unix_mode().unwrap_or(0);
    match mode & KIND {
        0 | PLAIN | DIRECTORY => {}
        LINK => return Err(hostile(&name, PathFault::Link)),
        _ => return Err(hostile(&name, PathFault::Special)),
    }
    if raw.encrypted() {
        return Err(hostile(&name, PathFault::Encrypted));
    }
    // Directories are judged too: their names could lead out just as well.
    let inner = name.strip_suffix('/').unwrap_or(&name);
    FilePath::new(inner).map_err(|fault| hostile(&name, fault))?;
    if raw.is_dir() {
        return Ok(None);
    }
    let size = usize::try_from(raw.size()).unwrap_or(usize::MAX);
    Ok(Some((name, size, mode & 0o100 != 0)))
}

fn read(
    zip: &mut ZipArchive<Cursor<&[u8]>>,
    index: usize,
    name: &str,
    size: usize,
) -> Result<Vec<u8>, SourceError> {
    let entry = zip
        .by_index(index)
        .map_err(|error| SourceError::Archive(Some(error)))?;
    let mut bytes = Vec::new();
    // One byte more than announced is enough to know that the announcement was wrong.
    entry
        .take(size as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| SourceError::Archive(Some(error.into())))?;
    if bytes.len() == size {
        Ok(bytes)
    } else {
        Err(hostile(name, PathFault::WrongSize))
    }
}

/// The directory that all names begin with, unless the skill itself stands at the top.
fn shared_top<'n>(mut names: impl Iterator<Item = &'n str>) -> Option<String> {
    let (top, _) = names.next()?.split_once('/')?;
    let prefix = format!("{top}/");
    names
        .all(|name| name.starts_with(&prefix))
        .then_some(prefix)
}

fn hostile(entry: &str, fault: PathFault) -> SourceError {
    let entry = entry.chars().take(120).collect();
    SourceError::HostileArchive { entry, fault }
}
