//! `sessions`, `session_reset` and `clarify`.

use std::time::Duration;

use crate::macros::{choice, secs, section, texts};

section! {
    /// How long conversations are kept, and how they are found again.
    pub struct Sessions {
        /// Deletes old conversations by itself.
        auto_prune: bool = false, no_effect "as old conversations go only with `hermes sessions prune`";
        /// Days an ended conversation is kept.
        retention_days: u32 = 90, no_effect "as old conversations go only with `hermes sessions prune`";
        /// Gives the freed space back afterwards.
        vacuum_after_prune: bool = true, no_effect "as old conversations go only with `hermes sessions prune`";
        /// Least hours between two clean-ups.
        min_interval_hours: f64 = 24.0, in 0.0..=1_000_000.0, no_effect "as old conversations go only with `hermes sessions prune`";
        /// Also writes every conversation to a JSON file.
        write_json_snapshots: bool = false, no_effect "as `hermes sessions export` writes them when asked";
        /// GGUF file of an embedding model, for searches that find other words for the same; a bare name is in `models`.
        @unlisted embedding_model: String = String::new();
        /// Text put in front of what is searched for, where the model was trained with one.
        @unlisted embedding_query_prefix: String = String::new();
    }
}

choice! {
    /// When a chat begins a new session.
    pub enum ResetMode {
        /// Only when asked to.
        None = "none",
        /// After a time without messages.
        Idle = "idle",
        /// Once a day.
        Daily = "daily",
        /// After a time without messages, and once a day.
        Both = "both",
    }
}

section! {
    /// When a chat begins a new session by itself.
    pub struct SessionReset {
        /// When it does.
        mode: ResetMode = ResetMode::None;
        /// Minutes without messages.
        idle_minutes: u32 = 1440, in 1..=52_560_000;
        /// Hour of the day, in local time.
        at_hour: u32 = 4, in 0..=23;
        /// Says so in the chat.
        @unlisted notify: bool = true;
        /// Platforms where it does not.
        @unlisted notify_exclude_platforms: Vec<String> = texts(["api_server", "webhook"]);
        /// Hours a process in the background keeps its session from being reset.
        @unlisted bg_process_max_age_hours: f64 = 24.0, in 0.0..=1_000_000.0;
    }
}

section! {
    /// Questions of the agent in the terminal.
    pub struct Clarify {
        /// Seconds a question stays open before the agent decides by itself.
        timeout: Duration = secs(120);
    }
}
