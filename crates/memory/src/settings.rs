//! What the settings say about the two files.

use crate::target::Target;

/// What is kept, and how much of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// The agent's own notes.
    pub memory: TargetSettings,
    /// What it knows about the user.
    pub user: TargetSettings,
}

/// What the settings say about one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TargetSettings {
    /// Whether the agent sees and writes it.
    pub enabled: bool,
    /// Most characters of its entries and what separates them.
    pub limit: usize,
}

impl Settings {
    /// Those of one file.
    pub fn of(&self, target: Target) -> TargetSettings {
        match target {
            Target::Memory => self.memory,
            Target::User => self.user,
        }
    }
}

impl From<&hermes_config::Memory> for Settings {
    fn from(section: &hermes_config::Memory) -> Self {
        Self {
            memory: TargetSettings {
                enabled: section.memory_enabled,
                limit: section.memory_char_limit as usize,
            },
            user: TargetSettings {
                enabled: section.user_profile_enabled,
                limit: section.user_char_limit as usize,
            },
        }
    }
}
