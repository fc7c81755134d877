//! `checkpoints`: snapshots of files that `/rollback` restores.

use crate::macros::section;

section! {
    /// Snapshots of your files, taken before the agent changes them, that `/rollback` restores.
    pub struct Checkpoints {
        /// Takes snapshots.
        enabled: bool = false;
        /// Snapshots kept of one directory.
        max_snapshots: u32 = 20, in 1..=100_000;
        /// Space all snapshots may take, in MB; 0 is no limit.
        max_total_size_mb: u32 = 500;
        /// Size in MB above which a file is left out; 0 is no limit.
        max_file_size_mb: u32 = 10;
        /// Removes old snapshots by itself.
        auto_prune: bool = true;
        /// Days a snapshot is kept.
        retention_days: u32 = 7;
        /// Removes snapshots of directories that are gone.
        delete_orphans: bool = true;
        /// Least hours between two clean-ups.
        min_interval_hours: f64 = 24.0, in 0.0..=1_000_000.0;
    }
}
