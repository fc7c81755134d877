//! What is wrong with a setting, said so that it can be mended.

use std::fmt;
use std::path::PathBuf;

use crate::root::Config;
use crate::setting::Setting;
use crate::value::{KeyPath, Layer, Origin};

/// One thing wrong with one key.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    pub key: KeyPath,
    pub origin: Origin,
    /// The file the origin's line is in, once the loader has filled it in.
    pub file: Option<PathBuf>,
    pub fault: Fault,
}

/// What is wrong.
#[derive(Debug, Clone, PartialEq)]
pub enum Fault {
    /// The value has the wrong type, or a word or number that is not allowed.
    NotAccepted { expected: String, found: String },
    /// Nothing reads this key.
    UnknownKey { suggestion: Option<String> },
    /// The key stands twice in the same section; the later one counts.
    Duplicate,
    /// A project file may not set this.
    NotForProjects,
    /// An old spelling that still works.
    OldSpelling { now: String },
}

/// A setting that was set although nothing reads it.
#[derive(Debug, Clone, PartialEq)]
pub struct Idle {
    pub key: KeyPath,
    pub origin: Origin,
    /// The file the origin's line is in, once the loader has filled it in.
    pub file: Option<PathBuf>,
    /// What it waits for, or why it is not needed.
    pub why: &'static str,
}

impl Idle {
    /// Whether somebody who set it relies on it: for what is refused, for keys, or for what stays apart or hidden.
    pub fn is_relied_on(&self) -> bool {
        let mut segments = self.key.segments();
        let first = segments.next().unwrap_or_default();
        ["hooks", "privacy", "secrets", "worktree"].contains(&first)
    }
}

impl fmt::Display for Idle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        place(self.file.as_ref(), self.origin, f)?;
        write!(f, "{} has no effect {}", self.key, self.why)
    }
}

impl Fault {
    /// Whether the value cannot be used; the rest is advice.
    pub fn is_error(&self) -> bool {
        match self {
            Self::NotAccepted { .. } => true,
            Self::UnknownKey { .. }
            | Self::Duplicate
            | Self::NotForProjects
            | Self::OldSpelling { .. } => false,
        }
    }
}

impl Problem {
    /// The MCP server whose entry it is in. What is wrong with one of them stops none of the others.
    pub fn server(&self) -> Option<&str> {
        let mut segments = self.key.segments();
        segments.next().filter(|first| *first == "mcp_servers")?;
        segments.next()
    }

    /// Whether the settings as a whole cannot be used.
    pub fn is_fatal(&self) -> bool {
        self.fault.is_error() && self.server().is_none()
    }

    /// The next step, when there is one.
    pub fn hint(&self) -> Option<String> {
        let key = &self.key;
        match &self.fault {
            Fault::NotAccepted { .. } if self.origin.layer == Layer::File => {
                Some(match Config::shape().example_in(key) {
                    Some(inner) => {
                        format!("hermes config unset {key}, then hermes config set {inner} VALUE")
                    }
                    None => format!("hermes config set {key} VALUE, or hermes config unset {key}"),
                })
            }
            Fault::UnknownKey {
                suggestion: Some(name),
            } => Some(format!("did you mean {name}?")),
            Fault::OldSpelling { now } => Some(format!(
                "the key is now {now}; hermes config migrate rewrites it"
            )),
            Fault::NotForProjects => Some("put it into your own config.yaml".to_owned()),
            Fault::NotAccepted { .. }
            | Fault::UnknownKey { suggestion: None }
            | Fault::Duplicate => None,
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        place(self.file.as_ref(), self.origin, f)?;
        let key = &self.key;
        match &self.fault {
            Fault::NotAccepted { expected, found } => {
                write!(f, "{key} must be {expected}, not {found}")
            }
            Fault::UnknownKey { .. } => write!(f, "{key} is not a known setting"),
            Fault::Duplicate => write!(f, "{key} is set twice; the later one counts"),
            Fault::NotForProjects => write!(f, "{key} cannot be set by a project"),
            Fault::OldSpelling { .. } => write!(f, "{key} is an old spelling"),
        }
    }
}

/// Where a setting was said, in front of what there is to say about it.
fn place(file: Option<&PathBuf>, origin: Origin, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match file {
        Some(file) => write!(f, "{}:{}: ", file.display(), origin.line),
        None => write!(f, "{}: ", origin.layer.name()),
    }
}
