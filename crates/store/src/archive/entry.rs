//! What one entry of an archive may be.

use std::collections::HashSet;

use super::error::{ArchiveError, Refusal};

const LONGEST_PART: usize = 255;
const LONGEST_PATH: usize = 4_000;
const KIND: u32 = 0o170_000;
const PLAIN: u32 = 0o100_000;
const DIRECTORY: u32 = 0o040_000;
const LINK: u32 = 0o120_000;

/// Refuses a name that could end up outside the home or that means different things to different systems.
pub(super) fn check_name(name: &str) -> Result<(), ArchiveError> {
    let refuse = |refusal| Err(ArchiveError::refused(name, refusal));
    let mut start = name.chars();
    let is_drive =
        start.next().is_some_and(|c| c.is_ascii_alphabetic()) && start.next() == Some(':');
    if name.starts_with('/') || is_drive {
        return refuse(Refusal::Outside);
    }
    if name.is_empty()
        || name.len() > LONGEST_PATH
        || name.contains('\\')
        || name.chars().any(char::is_control)
    {
        return refuse(Refusal::BadName);
    }
    for part in name.trim_end_matches('/').split('/') {
        match part {
            ".." => return refuse(Refusal::Outside),
            "" | "." => return refuse(Refusal::BadName),
            part if part.len() > LONGEST_PART => return refuse(Refusal::BadName),
            _ => {}
        }
    }
    Ok(())
}

/// Refuses everything but plain files and directories. Archives without modes hold only those.
pub(super) fn check_mode(name: &str, mode: Option<u32>) -> Result<(), ArchiveError> {
    match mode.unwrap_or(0) & KIND {
        0 | PLAIN | DIRECTORY => Ok(()),
        LINK => Err(ArchiveError::refused(name, Refusal::Link)),
        _ => Err(ArchiveError::refused(name, Refusal::Special)),
    }
}

/// Refuses two entries with one name, and a file that is also a directory.
pub(super) fn check_tree(names: &[&str]) -> Result<(), ArchiveError> {
    let mut files = HashSet::with_capacity(names.len());
    for name in names {
        if !files.insert(*name) {
            return Err(ArchiveError::refused(name, Refusal::Duplicate));
        }
    }
    for name in names {
        for (at, _) in name.match_indices('/') {
            if let Some(parent) = name.get(..at)
                && files.contains(parent)
            {
                return Err(ArchiveError::refused(parent, Refusal::FileAndDirectory));
            }
        }
    }
    Ok(())
}
