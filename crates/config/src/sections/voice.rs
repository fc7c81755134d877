//! `voice`: talking with the agent in the terminal.

use std::time::Duration;

use crate::macros::{secs, section, text};

section! {
    /// Talking with the agent in the terminal.
    pub struct Voice {
        /// Key that starts and ends a recording.
        record_key: String = text("ctrl+b");
        /// Seconds a recording may last.
        max_recording_seconds: Duration = secs(120);
        /// Speaks every answer.
        auto_tts: bool = false;
        /// Beeps when a recording starts and ends.
        beep_enabled: bool = true;
        /// Loudness below which it is silent, from 0 to 32767.
        silence_threshold: u32 = 200, in 0..=32_767;
        /// Seconds of silence that end a recording.
        silence_duration: Duration = secs(3);
    }
}
