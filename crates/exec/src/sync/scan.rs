//! Which files there are to send.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::{Source, SourceKind, hash};
use crate::files::FileHash;

/// More files than this are not sent.
const MAX_FILES: usize = 50_000;
/// Directories deeper than this are not looked into.
const MAX_DEPTH: usize = 32;

/// A file of ours as it was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) from: PathBuf,
    pub(super) kind: SourceKind,
    pub(super) mode: u32,
    pub(super) hash: FileHash,
    /// Size and time in nanoseconds: while they stay, so does the hash.
    stamp: (u64, i64, i64),
}

/// All files of the sources by where they go. Links are left out: they may lead anywhere.
pub(super) fn scan(
    sources: &[Source],
    known: &BTreeMap<String, Seen>,
) -> io::Result<BTreeMap<String, Seen>> {
    let mut found = BTreeMap::new();
    for source in sources {
        walk(
            &source.from,
            source.to.clone(),
            source.kind,
            0,
            known,
            &mut found,
        )?;
    }
    Ok(found)
}

fn walk(
    from: &Path,
    to: String,
    kind: SourceKind,
    depth: usize,
    known: &BTreeMap<String, Seen>,
    found: &mut BTreeMap<String, Seen>,
) -> io::Result<()> {
    let data = match std::fs::symlink_metadata(from) {
        Ok(data) => data,
        // It vanished, which is a reason to remove it over there, not to stop.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    // A line break would end the name in the list of vanished files.
    if to.contains('\n') || depth > MAX_DEPTH {
        return Ok(());
    }
    if data.is_dir() {
        for entry in std::fs::read_dir(from)? {
            let entry = entry?;
            if let Some(name) = entry.file_name().to_str() {
                walk(
                    &entry.path(),
                    format!("{to}/{name}"),
                    kind,
                    depth + 1,
                    known,
                    found,
                )?;
            }
        }
    } else if data.is_file() {
        if found.len() == MAX_FILES {
            return Err(io::Error::other("there are too many files to send"));
        }
        let seen = look(from, kind, &data, known.get(&to))?;
        found.insert(to, seen);
    }
    Ok(())
}

fn look(from: &Path, kind: SourceKind, data: &Metadata, known: Option<&Seen>) -> io::Result<Seen> {
    let stamp = (data.size(), data.mtime(), data.mtime_nsec());
    let mode = match kind {
        SourceKind::Shared => data.mode() & 0o755,
        SourceKind::Credential => 0o600,
    };
    let hash = match known.filter(|known| known.stamp == stamp && known.from == from) {
        Some(known) => known.hash,
        None => hash(std::fs::File::open(from)?)?,
    };
    Ok(Seen {
        from: from.to_owned(),
        kind,
        mode,
        hash,
        stamp,
    })
}
