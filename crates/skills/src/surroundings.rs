//! The world around skills, as far as they need it.

use hermes_config::EnvName;
use hermes_core::SessionId;

/// What skills need of the world around them.
///
/// Called on threads that may block: while a skill is read (`is_set`, `has_program`, `hands_on_files`,
/// `grant`), and when a
/// person has typed what it lacks (`keep`).
pub trait Surroundings: Send + Sync {
    /// Whether a variable has a value, in the environment or in the file of secrets.
    fn is_set(&self, name: &str) -> bool;

    /// Whether a program is found.
    fn has_program(&self, name: &str) -> bool;

    /// Keeps a value a person typed, where all secrets are, and masks it from here on. The error says in
    /// words what went wrong and never holds the value.
    fn keep(&self, name: &EnvName, value: String) -> Result<(), String>;

    /// Whether commands may be given files with credentials at all; where not, they count as missing.
    fn hands_on_files(&self) -> bool {
        true
    }

    /// Lets the commands of a session see these variables and files below the home, as far as they are there
    /// and no rule holds them back.
    fn grant(&self, session: &SessionId, names: &[EnvName], files: &[String]);
}

/// A world in which nothing is set and nothing can be kept, for looking at skills only.
#[derive(Debug, Clone, Copy, Default)]
pub struct Bare;

impl Surroundings for Bare {
    fn is_set(&self, _: &str) -> bool {
        false
    }

    fn has_program(&self, _: &str) -> bool {
        true
    }

    fn keep(&self, name: &EnvName, _: String) -> Result<(), String> {
        Err(format!("{name} cannot be kept here"))
    }

    fn grant(&self, _: &SessionId, _: &[EnvName], _: &[String]) {}
}
