//! `memory`: what the agent remembers between sessions.

use std::time::Duration;

use crate::macros::{secs, section};

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
        /// Seconds a message waits for what the external memory knows about it.
        @unlisted recall_timeout: Duration = secs(8), in secs(1)..=secs(8);
        /// Messages of yours after which the agent looks back for something to remember; 0 is never.
        @unlisted nudge_interval: u32 = 10;
    }
}
