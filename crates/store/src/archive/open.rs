//! Opening an archive and refusing what is not a sound backup, before anything is touched.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use zip::ZipArchive;

use super::entry;
use super::error::{ArchiveError, Cap, Refusal};
use super::manifest::{FORMAT, MANIFEST_NAME, Manifest};
use super::rules;

/// Larger than any manifest.
const LARGEST_MANIFEST: u64 = 1024 * 1024;
/// A zip file that holds one of these at its top is a home.
const MARKS: [&str; 4] = ["config.yaml", ".env", "state.db", "hermes.db"];

/// How much one archive may hold.
#[derive(Debug, Clone, Copy)]
pub struct ArchiveCaps {
    pub entries: u64,
    /// Bytes after unpacking.
    pub bytes: u64,
    /// How many times its own size an archive may unpack to.
    pub ratio: u64,
    /// Archives that unpack to less than this are not looked at for their ratio.
    pub ratio_from: u64,
}

impl Default for ArchiveCaps {
    fn default() -> Self {
        Self {
            entries: 1_000_000,
            bytes: 64 * 1024 * 1024 * 1024,
            ratio: 200,
            ratio_from: 256 * 1024 * 1024,
        }
    }
}

/// A backup that was found to be in order, as far as its table of contents says.
#[derive(Debug)]
pub struct Archive {
    pub(super) path: PathBuf,
    pub(super) zip: ZipArchive<BufReader<File>>,
    /// What to restore, by its index in the zip file.
    pub(super) entries: Vec<Entry>,
    pub(super) external: Vec<String>,
    manifest: Option<Manifest>,
}

/// A file to restore.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) index: usize,
    /// Where it goes inside the home.
    pub(super) relative: String,
    pub(super) size: u64,
    pub(super) executable: bool,
}

impl Archive {
    /// Reads the table of contents and checks every entry.
    pub fn open(path: &Path, caps: &ArchiveCaps) -> Result<Self, ArchiveError> {
        let file = File::open(path).map_err(ArchiveError::file(path))?;
        let length = file.metadata().map_err(ArchiveError::file(path))?.len();
        let mut zip = ZipArchive::new(BufReader::new(file)).map_err(ArchiveError::broken(path))?;
        let found = zip.len() as u64;
        if found > caps.entries {
            let most = caps.entries;
            return Err(ArchiveError::TooMuch(Cap::Entries { most, found }));
        }
        if zip.has_duplicate_names() {
            return Err(ArchiveError::refused(&path_name(path), Refusal::Duplicate));
        }
        let mut found = read_entries(&mut zip, path)?;
        check_sizes(&found, length, caps)?;
        let names: Vec<_> = found.iter().map(|entry| entry.relative.as_str()).collect();
        entry::check_tree(&names)?;
        if zip
            .has_overlapping_files()
            .map_err(ArchiveError::broken(path))?
        {
            return Err(ArchiveError::refused(&path_name(path), Refusal::Overlap));
        }
        strip_top_folder(&mut found);
        let manifest = read_manifest(&mut zip, &found, path)?;
        let is_home = manifest.is_some()
            || found
                .iter()
                .any(|entry| MARKS.contains(&entry.relative.as_str()));
        if !is_home {
            return Err(ArchiveError::NotABackup {
                path: path.to_owned(),
            });
        }
        let is_external = |entry: &Entry| entry.relative.split('/').next() == Some(rules::EXTERNAL);
        let (external, mut entries): (Vec<_>, Vec<_>) = found.into_iter().partition(is_external);
        entries.retain(|entry| entry.relative != MANIFEST_NAME);
        Ok(Self {
            path: path.to_owned(),
            zip,
            entries,
            external: external.into_iter().map(|entry| entry.relative).collect(),
            manifest,
        })
    }

    /// What the backup says about itself; the reference's say nothing.
    pub fn manifest(&self) -> Option<&Manifest> {
        self.manifest.as_ref()
    }

    pub fn files(&self) -> usize {
        self.entries.len()
    }

    /// Bytes after unpacking.
    pub fn bytes(&self) -> u64 {
        self.entries.iter().map(|entry| entry.size).sum()
    }
}

fn read_entries(
    zip: &mut ZipArchive<BufReader<File>>,
    path: &Path,
) -> Result<Vec<Entry>, ArchiveError> {
    let mut entries = Vec::with_capacity(zip.len());
    for index in 0..zip.len() {
        let raw = zip
            .by_index_raw(index)
            .map_err(ArchiveError::broken(path))?;
        // Names in old code pages could come out as anything; the programs that write backups use UTF-8.
        let Ok(name) = String::from_utf8(raw.name_raw().to_vec()) else {
            let shown = String::from_utf8_lossy(raw.name_raw());
            return Err(ArchiveError::refused(&shown, Refusal::BadName));
        };
        entry::check_name(&name)?;
        entry::check_mode(&name, raw.unix_mode())?;
        if raw.encrypted() {
            return Err(ArchiveError::refused(&name, Refusal::Encrypted));
        }
        if raw.is_dir() {
            continue;
        }
        entries.push(Entry {
            index,
            size: raw.size(),
            executable: raw.unix_mode().is_some_and(|mode| mode & 0o100 != 0),
            relative: name,
        });
    }
    Ok(entries)
}

fn check_sizes(entries: &[Entry], length: u64, caps: &ArchiveCaps) -> Result<(), ArchiveError> {
    let total = entries
        .iter()
        .fold(0_u64, |sum, entry| sum.saturating_add(entry.size));
    if total > caps.bytes {
        return Err(ArchiveError::TooMuch(Cap::Bytes {
            most: caps.bytes,
            found: total,
        }));
    }
    if total > caps.ratio_from && total / length.max(1) > caps.ratio {
        return Err(ArchiveError::TooMuch(Cap::Ratio { most: caps.ratio }));
    }
    Ok(())
}

/// A zip file made of the home's directory, instead of what is in it, has that directory in front of
/// every name.
fn strip_top_folder(entries: &mut [Entry]) {
    let marked = |relative: &str| MARKS.contains(&relative) || relative == MANIFEST_NAME;
    let Some(first) = entries.first() else { return };
    let Some((top, _)) = first.relative.split_once('/') else {
        return;
    };
    let prefix = format!("{top}/");
    let inside = |entry: &Entry| entry.relative.strip_prefix(&prefix).map(str::to_owned);
    let all = entries
        .iter()
        .all(|entry| entry.relative.starts_with(&prefix));
    let is_home = entries
        .iter()
        .filter_map(inside)
        .any(|relative| marked(&relative));
    if all && is_home {
        for entry in entries {
            if let Some(relative) = inside(entry) {
                entry.relative = relative;
            }
        }
    }
}

fn read_manifest(
    zip: &mut ZipArchive<BufReader<File>>,
    entries: &[Entry],
    path: &Path,
) -> Result<Option<Manifest>, ArchiveError> {
    let Some(entry) = entries
        .iter()
        .find(|entry| entry.relative == MANIFEST_NAME && entry.size <= LARGEST_MANIFEST)
    else {
        return Ok(None);
    };
    let mut text = Vec::new();
    zip.by_index(entry.index)
        .map_err(ArchiveError::broken(path))?
        .take(LARGEST_MANIFEST)
        .read_to_end(&mut text)
        .map_err(|error| ArchiveError::broken(path)(error.into()))?;
    let Ok(manifest) = serde_json::from_slice::<Manifest>(&text) else {
        return Err(ArchiveError::NotABackup {
            path: path.to_owned(),
        });
    };
    if manifest.version > FORMAT {
        return Err(ArchiveError::TooNew {
            path: path.to_owned(),
            found: manifest.version,
            known: FORMAT,
        });
    }
    Ok(Some(manifest))
}

fn path_name(path: &Path) -> String {
    path.file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
}
