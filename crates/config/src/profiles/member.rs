//! The names and kinds of things in an archive, none of which is trusted.

use std::path::PathBuf;

use tar::EntryType;

const LONGEST_PATH: usize = 1024;
const DEEPEST_PATH: usize = 64;

/// Why an archive was not unpacked.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    #[error("{} is no readable archive", path.display())]
    Damaged {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("the archive is refused: {fault} ({member})")]
    Member { member: String, fault: MemberFault },
    #[error("the archive holds {roots} top directories instead of one")]
    Roots { roots: usize },
    #[error("the archive holds more than {limit} entries")]
    TooMany { limit: usize },
    #[error("the archive unpacks to more than {limit} bytes")]
    TooLarge { limit: u64 },
    #[error("the archive's directory {name:?} cannot be the name of a profile")]
    BadName { name: String },
}

impl ArchiveError {
    /// What the user can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Damaged { .. } => "it must be a .tar.gz as hermes profile export writes it",
            Self::Member { .. } | Self::TooMany { .. } | Self::TooLarge { .. } => {
                "nothing was unpacked; be wary of where it comes from"
            }
            Self::Roots { .. } => "hermes profile export packs one profile in one directory",
            Self::BadName { .. } => "give it a name with --name",
        }
    }
}

/// What is wrong with one thing in an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MemberFault {
    #[error("an absolute path")]
    Absolute,
    #[error("a path that leads out of the archive")]
    Escapes,
    #[error("a path with a backslash")]
    Backslash,
    #[error("a path with a drive letter")]
    Drive,
    #[error("a path that is not text, too long or too deep")]
    Unreadable,
    #[error("a link")]
    Link,
    #[error("a device, a pipe or something unknown")]
    Special,
    #[error("a path that appears twice")]
    Twice,
    #[error("a file that is too large")]
    TooLarge,
}

/// What may be unpacked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Directory,
}

pub(super) fn kind(kind: EntryType) -> Result<Kind, MemberFault> {
    match kind {
        EntryType::Regular => Ok(Kind::File),
        EntryType::Directory => Ok(Kind::Directory),
        EntryType::Link | EntryType::Symlink => Err(MemberFault::Link),
        _ => Err(MemberFault::Special),
    }
}

/// The path of a member as plain names; empty for the archive's own top.
pub(super) fn parts(name: &[u8]) -> Result<Vec<String>, MemberFault> {
    let name = std::str::from_utf8(name).map_err(|_| MemberFault::Unreadable)?;
    if name.len() > LONGEST_PATH || name.chars().any(char::is_control) {
        return Err(MemberFault::Unreadable);
    }
    if name.starts_with('/') {
        return Err(MemberFault::Absolute);
    }
    let bytes = name.as_bytes();
    if bytes.first().is_some_and(u8::is_ascii_alphabetic) && bytes.get(1) == Some(&b':') {
        return Err(MemberFault::Drive);
    }
    if name.contains('\\') {
        return Err(MemberFault::Backslash);
    }
    let parts: Vec<String> = name
        .split('/')
        .filter(|part| !part.is_empty() && *part != ".")
        .map(str::to_owned)
        .collect();
    if parts.iter().any(|part| part == "..") {
        return Err(MemberFault::Escapes);
    }
    if parts.len() > DEEPEST_PATH {
        return Err(MemberFault::Unreadable);
    }
    Ok(parts)
}
