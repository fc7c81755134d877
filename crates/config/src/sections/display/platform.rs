//! `display.platforms.<name>`.

use super::{BusyMode, LiveStatus, ProgressGrouping, ReasoningStyle, RuntimeFooter, ToolProgress};
use crate::macros::{choice, section};
use crate::value::Value;

choice! {
    /// Whether a chat hears that a long turn is still running.
    pub enum LongRunNotice {
        /// With what it is doing.
        On = "on",
        /// Without.
        Generic = "generic",
        /// Not at all.
        Off = "off",
    }
}

section! {
    /// What is shown on one chat platform, in place of the general settings.
    pub struct DisplayPlatform [..rest: Value] {
        /// Shows an answer while it is written.
        @unlisted streaming: Option<bool> = None;
        /// What is shown of tool calls.
        @unlisted tool_progress: Option<ToolProgress> = None;
        /// How tool calls are shown.
        @unlisted tool_progress_grouping: Option<ProgressGrouping> = None;
        /// Characters shown of a tool call's arguments; 0 is no limit.
        @unlisted tool_preview_length: Option<u32> = None;
        /// Names tool calls by what they do.
        @unlisted friendly_tool_labels: Option<bool> = None;
        /// Shows what the model thinks.
        @unlisted show_reasoning: Option<bool> = None;
        /// How thinking is set off.
        @unlisted reasoning_style: Option<ReasoningStyle> = None;
        /// Shows that the model thinks, while it does.
        @unlisted thinking_progress: Option<bool> = None;
        /// Shows what the model says between tool calls.
        @unlisted interim_assistant_messages: Option<bool> = None;
        /// Whether the chat hears that a long turn is still running.
        @unlisted long_running_notifications: Option<LongRunNotice> = None;
        /// What a message does that is sent while a turn runs.
        @unlisted busy_input_mode: Option<BusyMode> = None;
        /// Says in the reply to such a message what the turn is doing.
        @unlisted busy_ack_detail: Option<bool> = None;
        /// Says that such a message was worked into the running turn.
        @unlisted busy_steer_ack_enabled: Option<bool> = None;
        /// Deletes the messages about tool calls once the answer is there.
        @unlisted cleanup_progress: Option<bool> = None;
        /// How much the live status line of Slack says.
        @unlisted live_status: Option<LiveStatus> = None;
        /// A line of facts below every answer.
        @unlisted runtime_footer: Option<RuntimeFooter> = None;
    }
}

impl DisplayPlatform {
    /// A platform that only says whether it streams.
    pub(super) fn streaming(on: bool) -> Self {
        Self {
            streaming: Some(on),
            ..Self::default()
        }
    }
}
