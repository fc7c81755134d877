//! `streaming`: showing answers in chats while they are written.

use std::time::Duration;

use crate::macros::{choice, secs, section, text};

choice! {
    /// How an unfinished answer is shown in a chat.
    pub enum StreamTransport {
        /// As the platform does it best.
        Auto = "auto" | "on",
        /// As a draft, where the platform has them.
        Draft = "draft",
        /// As a message that is edited.
        Edit = "edit",
        /// Not at all.
        Off = "off",
    }
}

section! {
    /// Showing answers in chats while they are written.
    pub struct Streaming {
        /// Does so on platforms that do not say otherwise.
        enabled: bool = false;
        /// How it is done.
        transport: StreamTransport = StreamTransport::Auto;
        /// The same as `transport`; setting it also turns streaming on.
        @unlisted mode: Option<StreamTransport> = None;
        /// Seconds between two updates.
        edit_interval: Duration = Duration::from_millis(800);
        /// New characters that bring an update forward.
        buffer_threshold: u32 = 24;
        /// Mark at the end of an unfinished answer.
        cursor: String = text(" ▉");
        /// Seconds of writing after which the finished answer is sent as a new message; 0 never.
        fresh_final_after_seconds: Duration = secs(0);
    }
}
