//! Patches over several files, in the form models were taught: `*** Begin Patch` and what follows.

mod apply;
mod parse;

pub(crate) use apply::{HunkFault, apply};
pub(crate) use parse::parse;

/// What a patch does to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Operation {
    /// Changes a file, and perhaps its name.
    Update {
        path: String,
        move_to: Option<String>,
        hunks: Vec<Hunk>,
    },
    /// Makes a file.
    Add { path: String, content: String },
    /// Removes a file.
    Delete { path: String },
    /// Renames a file.
    Move { path: String, to: String },
}

impl Operation {
    /// The files it is about.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        let (path, other) = match self {
            Self::Update { path, move_to, .. } => (path, move_to.as_ref()),
            Self::Add { path, .. } | Self::Delete { path } => (path, None),
            Self::Move { path, to } => (path, Some(to)),
        };
        std::iter::once(path).chain(other).map(String::as_str)
    }
}

/// One place of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Hunk {
    /// Where it stands in the patch, counted from 1.
    pub(crate) line: usize,
    /// Lines to look for first, such as the function it is in; each after the one before.
    pub(crate) hints: Vec<String>,
    /// The line number a unified header names.
    pub(crate) near: Option<usize>,
    pub(crate) body: Vec<Body>,
    /// It is about the end of the file.
    pub(crate) at_end: bool,
}

/// A line of a hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Body {
    Keep(String),
    Remove(String),
    Insert(String),
}
