//! The two files.

use serde::{Deserialize, Serialize};

/// What is remembered where.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// The agent's own notes.
    Memory,
    /// What the agent knows about the user.
    User,
}

impl Target {
    /// Both, in the order the prompt shows them.
    pub const ALL: [Self; 2] = [Self::Memory, Self::User];

    /// Its name in calls, commands and the journal.
    pub fn word(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::User => "user",
        }
    }

    /// The target of this name.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|target| target.word() == word)
    }

    /// The file, by its name.
    pub fn file_name(self) -> &'static str {
        match self {
            Self::Memory => "MEMORY.md",
            Self::User => "USER.md",
        }
    }

    /// The heading of its block in the prompt.
    pub(crate) fn heading(self) -> &'static str {
        match self {
            Self::Memory => "MEMORY: notes you took in earlier sessions",
            Self::User => "USER PROFILE: what you know about the user",
        }
    }
}
