//! A program of the user's that speaks or listens: `tts.providers.<name>`, `stt.providers.<name>`.

use std::time::Duration;

use crate::macros::section;
use crate::value::Value;

section! {
    /// A program of yours that speaks or listens.
    pub struct CommandProvider [..rest: Value] {
        /// Kind of provider; `command` is the only one.
        @unlisted r#type as "type": String = String::new();
        /// Command line, with placeholders such as `{input_path}` and `{output_path}`.
        @unlisted command: String = String::new();
        /// Seconds it may run; 120 for speaking and 300 for listening when unset.
        @unlisted timeout: Option<Duration> = None;
        /// Format of what it writes.
        @unlisted output_format: String = String::new();
        /// What `{voice}` stands for.
        @unlisted voice: String = String::new();
        /// What `{model}` stands for.
        @unlisted model: String = String::new();
        /// Sends the result as a voice message where the platform has them.
        @unlisted voice_compatible: Option<bool> = None;
        /// Most characters it gets at once.
        @unlisted max_text_length: Option<u32> = None;
    }
}
