//! What was left out, and why.

use std::fmt;

/// More are only counted.
const MOST_NOTES: usize = 1_000;

/// Files that were left out of a backup or a restore, or not taken as they are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Notes {
    pub listed: Vec<Note>,
    /// How many there are besides the listed ones.
    pub more: u64,
    /// How many files could not be read, listed or not.
    pub unreadable: u64,
}

/// One file that was left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Relative to the home.
    pub path: String,
    pub kind: NoteKind,
}

/// Why a file was left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoteKind {
    /// It was gone when its turn came.
    Vanished,
    Link,
    /// A socket, a pipe or a device.
    Special,
    Unreadable,
    /// A name that is not UTF-8 or that other systems take for something else.
    BadName,
    /// A damaged database, copied as it is.
    Damaged,
    /// A database that is damaged in the backup.
    DamagedCopy,
    /// It belongs to a running program.
    Runtime,
    /// A log of another time, or of another home.
    Log,
    /// A file of another program, from outside the home.
    External,
    /// It belongs to another profile, and only the default home holds those.
    OtherProfile,
}

impl NoteKind {
    /// A word for programs.
    pub fn word(self) -> &'static str {
        match self {
            Self::Vanished => "vanished",
            Self::Link => "link",
            Self::Special => "special",
            Self::Unreadable => "unreadable",
            Self::BadName => "bad_name",
            Self::Damaged => "damaged",
            Self::DamagedCopy => "damaged_copy",
            Self::Runtime => "runtime",
            Self::Log => "log",
            Self::External => "external",
            Self::OtherProfile => "other_profile",
        }
    }
}

impl fmt::Display for NoteKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Vanished => "was gone before it could be copied",
            Self::Link => "is a link and was not followed",
            Self::Special => "is no plain file and was left out",
            Self::Unreadable => "could not be read",
            Self::BadName => "has a name that cannot be stored",
            Self::Damaged => "is a damaged database, copied as it is",
            Self::DamagedCopy => "is damaged in the backup and was left out",
            Self::Runtime => "belongs to a running program and was left out",
            Self::Log => "is a log and was left out",
            Self::External => "lies outside the home and was left out",
            Self::OtherProfile => "belongs to another profile and was left out",
        })
    }
}

impl Notes {
    pub(super) fn add(&mut self, path: impl Into<String>, kind: NoteKind) {
        if kind == NoteKind::Unreadable {
            self.unreadable += 1;
        }
        if self.listed.len() < MOST_NOTES {
            let path = path.into();
            self.listed.push(Note { path, kind });
        } else {
            self.more += 1;
        }
    }

    pub fn is_empty(&self) -> bool {
        self.listed.is_empty()
    }
}
