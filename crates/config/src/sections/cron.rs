//! `cron`: scheduled jobs.

use std::time::Duration;

use crate::macros::{secs, section, text};

section! {
    /// Scheduled jobs.
    pub struct Cron {
        /// Outside scheduler that starts jobs; the built-in one when empty.
        provider: String = String::new();
        /// The outside scheduler Chronos.
        chronos: Chronos = Chronos::default();
        /// Puts the job's name above its result and a hint below.
        wrap_response: bool = true;
        /// Also adds the result to the chat's conversation, so that it can be answered.
        mirror_delivery: bool = false;
        /// Most jobs at once; no limit when null.
        max_parallel_jobs: Option<u32> = None;
        /// Results kept of one job.
        output_retention: u32 = 50, in 0..=10_000_000;
        /// Seconds a job waits for the database.
        session_db_timeout_seconds: Duration = secs(10);
        /// Seconds a job's own script may run.
        @unlisted script_timeout_seconds: Duration = secs(3600);
    }
}

section! {
    /// The outside scheduler Chronos.
    pub struct Chronos {
        /// Address of its portal.
        portal_url: String = text("https://portal.nousresearch.com");
        /// Address at which it can reach this machine.
        callback_url: String = String::new();
        /// Audience its tokens have to name.
        expected_audience: String = String::new();
        /// Address of the keys that sign its tokens.
        nas_jwks_url: String = String::new();
    }
}
