//! What is remembered of all skills between two runs, and whether it still holds.
//!
//! A file that was changed has another time or size; a directory in which something came or went has
//! another time. So asking for the facts of what was seen is enough to know that nothing is new.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::catalog::{Catalog, CatalogEntry};
use crate::roots::Root;

const VERSION: u32 = 2;

/// How a file or directory looked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(i64, u64)", into = "(i64, u64)")]
pub(super) struct Stamp {
    /// Nanoseconds since 1970.
    pub(super) changed: i64,
    size: u64,
}

impl Stamp {
    /// Never holds.
    pub(super) const UNSURE: Self = Self {
        changed: i64::MAX,
        size: 0,
    };
    const ABSENT: Self = Self {
        changed: i64::MIN,
        size: 0,
    };

    pub(super) fn of(facts: Option<&Metadata>) -> Self {
        facts.map_or(Self::ABSENT, |facts| Self {
            changed: facts
                .mtime()
                .saturating_mul(1_000_000_000)
                .saturating_add(facts.mtime_nsec()),
            size: if facts.is_dir() { 0 } else { facts.size() },
        })
    }
}

impl From<(i64, u64)> for Stamp {
    fn from((changed, size): (i64, u64)) -> Self {
        Self { changed, size }
    }
}

impl From<Stamp> for (i64, u64) {
    fn from(stamp: Stamp) -> Self {
        (stamp.changed, stamp.size)
    }
}

/// Everything that was looked at, in that order. A map would compare paths a dozen times for each, which
/// takes longer than reading the whole file.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Remembered(Vec<(PathBuf, Stamp)>);

impl Remembered {
    pub(super) fn push(&mut self, path: PathBuf, stamp: Stamp) {
        self.0.push((path, stamp));
    }

    /// How each path looked; one that was seen twice as it did the last time.
    pub(super) fn stamps(&self) -> HashMap<&Path, Stamp> {
        let pairs = self.0.iter();
        pairs
            .map(|(path, stamp)| (path.as_path(), *stamp))
            .collect()
    }

    /// Whether it is of use in a later run.
    pub(super) fn is_certain(&self) -> bool {
        self.0.iter().all(|(_, stamp)| *stamp != Stamp::UNSURE)
    }

    /// Whether everything looks as it did.
    pub(super) fn still_holds(&self) -> bool {
        self.0.iter().all(|(path, stamp)| {
            *stamp != Stamp::UNSURE && Stamp::of(fs::metadata(path).ok().as_ref()) == *stamp
        })
    }
}

#[derive(Serialize)]
struct Written<'a> {
    version: u32,
    roots: Vec<&'a Path>,
    manifest: &'a Remembered,
    skills: &'a [CatalogEntry],
    category_descriptions: &'a BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Read {
    version: u32,
    roots: Vec<PathBuf>,
    manifest: Remembered,
    skills: Vec<CatalogEntry>,
    category_descriptions: BTreeMap<String, String>,
}

/// What an earlier run wrote, when it was for these roots. Another program's file is none of ours.
pub(super) fn read(path: &Path, roots: &[Root]) -> Option<(Catalog, Remembered)> {
    let bytes = fs::read(path).ok()?;
    let read: Read = serde_json::from_slice(&bytes).ok()?;
    let same = read.roots.iter().eq(roots.iter().map(|root| &root.path));
    (read.version == VERSION && same).then_some((
        Catalog {
            entries: read.skills,
            categories: read.category_descriptions,
        },
        read.manifest,
    ))
}

/// Writes what was found. It saves time and nothing else, so it need not survive a crash and may fail.
pub(super) fn write(path: &Path, roots: &[Root], catalog: &Catalog, manifest: &Remembered) {
    let written = Written {
        version: VERSION,
        roots: roots.iter().map(|root| root.path.as_path()).collect(),
        manifest,
        skills: &catalog.entries,
        category_descriptions: &catalog.categories,
    };
    let temporary = path.with_extension(format!("{}.tmp", std::process::id()));
    let done = serde_json::to_vec(&written)
        .map_err(std::io::Error::other)
        .and_then(|bytes| fs::write(&temporary, bytes))
        .and_then(|()| fs::rename(&temporary, path));
    if let Err(error) = done {
        // Nobody misses it.
        let _ = fs::remove_file(&temporary);
        tracing::debug!(%error, "the list of skills was not kept");
    }
}
