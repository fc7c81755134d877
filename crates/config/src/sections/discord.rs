//! `discord`: what Discord has of its own.

use std::collections::BTreeMap;
use std::time::Duration;

use super::names::NameList;
use crate::macros::{secs, section, texts};
use crate::value::Value;

section! {
    /// Discord. Takes the keys of `platforms.<name>` as well.
    pub struct Discord [..rest: Value] {
        /// Only answers in channels when it is mentioned.
        require_mention: bool = true;
        /// Channels where it answers without being mentioned.
        free_response_channels: NameList = NameList::default();
        /// The only channels it answers in; all when empty.
        allowed_channels: NameList = NameList::default();
        /// Opens a thread for every conversation.
        auto_thread: bool = true;
        /// Wants to be mentioned in threads, too.
        thread_require_mention: bool = false;
        /// Only answers other bots that mention it in their text.
        bots_require_inline_mention: bool = false;
        /// Shows the model what was said before it was mentioned.
        history_backfill: bool = true;
        /// Messages shown for that.
        history_backfill_limit: u32 = 50, in 0..=10_000;
        /// Answering what was sent while the gateway was down.
        missed_message_backfill: MissedMessages = MissedMessages::default();
        /// Shows with an emoji on your message that it is being worked on.
        reactions: bool = true;
        /// Seconds between two checks of the connection; 0 none.
        websocket_liveness_interval_seconds: Duration = secs(15);
        /// Failed checks in a row after which it is made anew.
        websocket_liveness_failure_threshold: u32 = 2, in 1..=10_000;
        /// Seconds without an answer after which a check fails.
        websocket_heartbeat_ack_max_age_seconds: Duration = secs(60);
        /// Seconds of delay above which a check fails.
        websocket_max_latency_seconds: Duration = secs(30);
        /// Text added to the system prompt in single channels.
        channel_prompts: BTreeMap<String, String> = BTreeMap::new();
        /// Server whose roles also count in direct messages; none when empty.
        dm_role_auth_guild: String = String::new();
        /// The only actions of the server tools; all when empty.
        server_actions: NameList = NameList::default();
        /// Has no effect; every kind of file is accepted.
        allow_any_attachment: bool = false;
        /// Most bytes of one file.
        max_attachment_bytes: u64 = 33_554_432;
        /// Mentions those who may answer when a command needs approval.
        approval_mentions: bool = false;
        /// Sounds in voice channels.
        voice_fx: VoiceEffects = VoiceEffects::default();
    }
}

section! {
    /// Answering what was sent while the gateway was down.
    pub struct MissedMessages {
        /// Looks for such messages after a start.
        enabled: bool = false;
        /// Channels to look in; those it answers in when empty.
        channels: NameList = NameList::default();
        /// Seconds to look back.
        window_seconds: Duration = secs(21_600);
        /// Messages read of one channel.
        limit: u32 = 100, in 0..=100_000;
        /// Most messages answered after one start.
        max_dispatches: u32 = 10, in 0..=100_000;
    }
}

section! {
    /// Sounds in voice channels.
    pub struct VoiceEffects {
        /// Plays them.
        enabled: bool = false;
        /// Plays a sound while the agent works.
        ambient_enabled: bool = true;
        /// File with that sound; a built-in one when empty.
        ambient_path: String = String::new();
        /// Its loudness, 1 being the file's own.
        ambient_gain: f64 = 0.18, in 0.0..=10.0;
        /// Its loudness while the agent speaks.
        duck_gain: f64 = 0.06, in 0.0..=10.0;
        /// Loudness of speech.
        speech_gain: f64 = 1.0, in 0.0..=10.0;
        /// Says something when a longer answer is coming.
        ack_enabled: bool = true;
        /// What is said then, one of these.
        ack_phrases: Vec<String> = texts([
            "Let me look into that.",
            "One moment.",
            "Checking on that now.",
            "Give me a sec.",
            "On it.",
        ]);
    }
}
