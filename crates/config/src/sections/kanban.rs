//! `kanban`: the board of work for agents.

use std::time::Duration;

use crate::macros::{secs, section};

section! {
    /// The board of work that agents take cards from.
    pub struct Kanban {
        /// Lets the gateway hand out cards.
        dispatch_in_gateway: bool = true;
        /// Seconds between two looks at the board.
        dispatch_interval_seconds: Duration = secs(60), in secs(1)..=secs(31_536_000);
        /// Failures after which a card is given up.
        failure_limit: u32 = 2, in 1..=10_000;
        /// Size in bytes at which a worker's log is begun anew; 0 never.
        worker_log_rotate_bytes: u64 = 2_097_152;
        /// Older logs kept.
        worker_log_backup_count: u32 = 1, in 0..=10_000;
        /// Profile that splits and assigns cards; the default one when empty.
        orchestrator_profile: String = String::new();
        /// Profile that gets cards nobody was named for; none when empty.
        default_assignee: String = String::new();
        /// Most cards one profile works on at once; no limit when null.
        max_in_progress_per_profile: Option<u32> = None;
        /// Splits large cards by itself.
        auto_decompose: bool = true;
        /// Cards split in one look at the board.
        auto_decompose_per_tick: u32 = 3;
        /// Seconds without a sign of life after which a card is handed out again.
        dispatch_stale_timeout_seconds: Duration = secs(14_400);
        /// Tells the chat a card was made in how it goes on.
        @unlisted auto_subscribe_on_create: bool = true;
    }
}
