//! Files written for older versions.
//!
//! Loading understands every version without touching the file. `hermes config migrate` writes the
//! same meaning down: only the keys that differ and the version, comments and order kept, a copy of the
//! old file beside it, and nothing at all when one step fails.

mod difference;
mod plan;
mod plugins;
mod rewrite;
mod servers;
mod steps;

pub use plan::{EnvChange, MigrateError, Plan, Report, Warning, pending};

use crate::value::{Node, Value};

/// The version this program writes.
pub const CURRENT_VERSION: u32 = 33;

/// The key that holds the version.
const VERSION_KEY: &str = "_config_version";

/// What a file says of its own version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// Nothing: written by hand, or older than versions.
    Unstamped,
    Stamped(u32),
}

impl Version {
    /// Reads the stamp; one that is no number counts as zero.
    pub fn of(tree: &Node) -> Self {
        match tree.child(VERSION_KEY) {
            None => Self::Unstamped,
            Some(node) => Self::Stamped(match &node.value {
                Value::Int(number) => u32::try_from(*number).unwrap_or(0),
                Value::Text(text) => text.trim().parse().unwrap_or(0),
                Value::Null | Value::Bool(_) | Value::Float(_) | Value::List(_) | Value::Map(_) => {
                    0
                }
            }),
        }
    }

    /// Where the steps start.
    pub fn number(self) -> u32 {
        match self {
            Self::Unstamped => 0,
            Self::Stamped(number) => number,
        }
    }
}

/// Gives a file of an older version the meaning it has today, in memory.
///
/// A file without a version is taken at its word: keys that moved are found, but values the user wrote
/// are not changed behind his back.
pub(crate) fn read_as_current(tree: &mut Node) {
    if tree.value.as_map().is_none() {
        return;
    }
    let version = Version::of(tree);
    for step in steps::ALL {
        let applies = match (step.kind, version) {
            (steps::Kind::Moves, version) => version.number() < step.version,
            (steps::Kind::Changes, Version::Stamped(number)) => number < step.version,
            (steps::Kind::Changes, Version::Unstamped) => false,
        };
        if applies {
            // Nobody is told: the file stays as it is.
            let _ = (step.run)(tree);
        }
    }
}
