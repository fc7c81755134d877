//! `gateway`: the service that connects chats.

use std::collections::BTreeMap;
use std::time::Duration;

use super::platform::{DirectMessages, Platform};
use super::route::ProfileRoute;
use super::sessions::SessionReset;
use crate::macros::{secs, section};

section! {
    /// The service that connects chats. A key that also exists at the top level counts there first.
    pub struct Gateway {
        /// Keeps a record of answers, so that none is lost or sent twice.
        delivery_ledger: bool = true;
        /// Seconds a platform has to connect.
        platform_connect_timeout: Duration = secs(30);
        /// Also writes the list of chats to `sessions.json`.
        write_sessions_json: bool = true;
        /// Stopping a machine nobody talks to.
        scale_to_zero: ScaleToZero = ScaleToZero::default();
        /// Restarts after which interrupted turns are no longer taken up.
        restart_loop_guard: RestartGuard = RestartGuard::default();
        /// Starts after which the next one is put off.
        respawn_storm: RespawnStorm = RespawnStorm::default();
        /// The time in front of every message.
        message_timestamps: MessageTimestamps = MessageTimestamps::default();
        /// Most bytes of one file from a chat.
        max_inbound_media_bytes: u64 = 134_217_728;
        /// Only sends files from the allowed directories.
        strict: bool = false;
        /// Directories whose files may be sent to chats.
        media_delivery_allow_dirs: Vec<String> = Vec::new();
        /// Also sends files the agent has just made elsewhere.
        trust_recent_files: bool = true;
        /// Seconds a file counts as just made.
        trust_recent_files_seconds: Duration = secs(600);
        /// The API for other programs.
        api_server: ApiServer = ApiServer::default();
        /// The chat platforms, by name.
        @unlisted platforms: BTreeMap<String, Platform> = BTreeMap::new();
        /// When a chat begins a new session by itself.
        @unlisted session_reset: Option<SessionReset> = None;
        /// The same for kinds of chats: `dm`, `group`, `thread`.
        @unlisted reset_by_type: BTreeMap<String, SessionReset> = BTreeMap::new();
        /// The same for platforms.
        @unlisted reset_by_platform: BTreeMap<String, SessionReset> = BTreeMap::new();
        /// Messages that begin a new session; `/new` and `/reset` when unset.
        @unlisted reset_triggers: Option<Vec<String>> = None;
        /// Gives everyone in a group a session of their own; on when unset.
        @unlisted group_sessions_per_user: Option<bool> = None;
        /// Gives everyone in a thread a session of their own; off when unset.
        @unlisted thread_sessions_per_user: Option<bool> = None;
        /// Most turns at once; no limit when unset.
        @unlisted max_concurrent_sessions: Option<u32> = None;
        /// Serves all profiles from one process; off when unset.
        @unlisted multiplex_profiles: Option<bool> = None;
        /// Which chats belong to which profile.
        @unlisted profile_routes: Vec<ProfileRoute> = Vec::new();
        /// What happens to a message of someone unknown; `pair` when unset.
        @unlisted unauthorized_dm_behavior: Option<DirectMessages> = None;
        /// Holds back answers that only say that there is nothing to say; on when unset.
        @unlisted filter_silence_narration: Option<bool> = None;
        /// Keeps a copy of everything sent in a log; on when unset.
        @unlisted always_log_local: Option<bool> = None;
        /// Shows the text of voice messages in the chat; as `stt.echo_transcripts` when unset.
        @unlisted stt_echo_transcripts: Option<bool> = None;
        /// Days a chat without messages is remembered; 90 when unset.
        @unlisted session_store_max_age_days: Option<u32> = None;
        /// Seconds between signs of life to systemd; none when unset or 0.
        @unlisted systemd_watchdog_seconds: Option<Duration> = None;
    }
}

section! {
    /// Stopping a machine nobody talks to.
    pub struct ScaleToZero {
        /// Minutes without messages after which it stops.
        idle_timeout_minutes: f64 = 5.0, in 0.0..=1_000_000.0;
    }
}

section! {
    /// Restarts after which interrupted turns are no longer taken up.
    pub struct RestartGuard {
        /// Restarts.
        max_restarts: u32 = 3, in 0..=10_000;
        /// Seconds in which they happen.
        window_seconds: Duration = secs(60);
    }
}

section! {
    /// Starts after which the next one is put off.
    pub struct RespawnStorm {
        /// Starts.
        max_starts: u32 = 5, in 0..=10_000;
        /// Seconds in which they happen.
        window_seconds: Duration = secs(120);
    }
}

section! {
    /// The time in front of every message.
    pub struct MessageTimestamps {
        /// Tells the model when each message was sent.
        enabled: bool = false;
    }
}

section! {
    /// The API for other programs.
    pub struct ApiServer {
        /// Most requests worked on at once.
        max_concurrent_runs: u32 = 10, in 0..=1_000_000;
    }
}
