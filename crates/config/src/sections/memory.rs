//! `memory`: what the agent remembers between sessions.

use crate::macros::section;

section! {
    /// What the agent remembers between sessions.
    pub struct Memory {
        /// Keeps notes of its own in `MEMORY.md`.
        memory_enabled: bool = true;
        /// Keeps notes about you in `USER.md`.
        user_profile_enabled: bool = true;
        /// Asks you before it changes either.
        write_approval: bool = false;
        /// Most characters of its own notes.
        memory_char_limit: u32 = 2200, in 1..=10_000_000;
        /// Most characters of the notes about you.
        user_char_limit: u32 = 1375, in 1..=10_000_000;
        /// External memory used beside the files, such as `honcho`; none when empty.
        provider: String = String::new();
    }
}
