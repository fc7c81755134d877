//! Files in archives, going up and coming down.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Seek};
use std::path::{Component, Path};

use super::scan::Seen;
use super::{Change, Source, SourceKind, hash};

const VANISHED: &str = ".hermes-vanished";
/// More files than this do not come down.
const MAX_FILES: usize = 50_000;

/// Writes the archive that goes up.
pub(super) fn pack(path: &Path, files: &[(String, Seen)], removed: &[String]) -> io::Result<()> {
    let mut builder = tar::Builder::new(File::create(path)?);
    for (name, seen) in files {
        let mut file = File::open(&seen.from)?;
        let data = file.metadata()?;
        let mut header = tar::Header::new_gnu();
        header.set_metadata(&data);
        header.set_mode(seen.mode);
        header.set_uid(0);
        header.set_gid(0);
        builder.append_data(&mut header, name, &mut file)?;
    }
    if !removed.is_empty() {
        let list = removed.join("\n") + "\n";
        let mut header = tar::Header::new_gnu();
        header.set_size(list.len() as u64);
        header.set_mode(0o600);
        builder.append_data(&mut header, VANISHED, list.as_bytes())?;
    }
    builder.into_inner()?.sync_all()
}

/// Lays out what is different in the archive that came down. The archive was made by whatever ran over there:
/// only plain files with plain names are taken from it.
pub(super) fn unpack(
    path: &Path,
    quarantine: &Path,
    sent: &BTreeMap<String, Seen>,
    sources: &[Source],
) -> io::Result<BTreeMap<String, Change>> {
    let mut changes = BTreeMap::new();
    let mut there = BTreeSet::new();
    let mut archive = tar::Archive::new(File::open(path)?);
    for entry in archive.entries()? {
        let mut entry = entry?;
        let Some(name) = plain(&entry.path()?) else {
            continue;
        };
        if !entry.header().entry_type().is_file() || is_credential(&name, sources) {
            continue;
        }
        if there.len() == MAX_FILES {
            return Err(io::Error::other("there are too many files to look at"));
        }
        there.insert(name.clone());
        let target = quarantine.join(&name);
        if let Some(folder) = target.parent() {
            std::fs::create_dir_all(folder)?;
        }
        // Two entries with one name are not worth a second look: the first one stays.
        let mut file = match File::options()
            .read(true)
            .write(true)
            .create_new(true)
            .open(&target)
        {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            file => file?,
        };
        io::copy(&mut entry, &mut file)?;
        file.rewind()?;
        let hash = hash(&mut file)?;
        match sent.get(&name) {
            Some(known) if known.hash == hash => std::fs::remove_file(&target)?,
            Some(_) => {
                changes.insert(name, Change::Changed);
            }
            None => {
                changes.insert(name, Change::Added);
            }
        }
    }
    for (name, seen) in sent {
        if seen.kind == SourceKind::Shared && !there.contains(name) {
            changes.insert(name.clone(), Change::Removed);
        }
    }
    prune(quarantine)?;
    Ok(changes)
}

/// The name as we write them, if nothing about it is odd.
fn plain(path: &Path) -> Option<String> {
    let mut parts = Vec::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::Normal(name) => parts.push(name.to_str()?),
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    (!parts.is_empty()).then(|| parts.join("/"))
}

fn is_credential(name: &str, sources: &[Source]) -> bool {
    sources
        .iter()
        .filter(|source| source.kind == SourceKind::Credential)
        .any(|source| Path::new(name).starts_with(&source.to))
}

/// Removes directories in which nothing was left.
fn prune(folder: &Path) -> io::Result<()> {
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    let mut empty = true;
    for entry in entries {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            prune(&entry.path())?;
        }
        empty = empty && !entry.path().exists();
    }
    if empty {
        std::fs::remove_dir(folder)
    } else {
        Ok(())
    }
}
