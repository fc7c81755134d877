//! `display`: what the user sees.

mod pet;
mod platform;
mod words;

pub use pet::Pet;
pub use platform::{DisplayPlatform, LongRunNotice};
pub use words::{
    BusyMode, CopyShortcut, DetailsMode, Interface, LiveStatus, MarkdownMode, MemoryNotice,
    MouseTracking, ProcessNotice, ProgressGrouping, ReasoningStyle, ResumeDisplay, StatusBar,
    StatusIndicator, ToolProgress,
};

use std::collections::BTreeMap;
use std::time::Duration;

use crate::macros::{secs, section, text, texts};
use crate::value::Value;

section! {
    /// What you see in the terminal and in chats.
    pub struct Display {
        /// A short banner at the start, however wide the terminal is.
        compact: bool = false;
        /// Personality that is on from the start; none when empty.
        personality: String = String::new();
        /// What is shown of a resumed session.
        resume_display: ResumeDisplay = ResumeDisplay::Full;
        /// Exchanges shown of a resumed session.
        resume_exchanges: u32 = 10;
        /// Characters shown of each of your messages.
        resume_max_user_chars: u32 = 300;
        /// Characters shown of each answer.
        resume_max_assistant_chars: u32 = 200;
        /// Lines shown of each answer.
        resume_max_assistant_lines: u32 = 3;
        /// Leaves out answers that only called tools.
        resume_skip_tool_only: bool = true;
        /// What a message does that is sent while a turn runs.
        busy_input_mode: BusyMode = BusyMode::Interrupt;
        /// The same for plain text in chats; `busy_input_mode` when unset.
        @unlisted busy_text_mode: Option<String> = None, no_effect "until there is a gateway";
        /// Tells a chat that its message arrived while a turn ran.
        @unlisted busy_ack_enabled: bool = true, no_effect "until there is a gateway";
        /// Tells a chat that its message was worked into the running turn.
        busy_steer_ack_enabled: bool = true, no_effect "until there is a gateway";
        /// Which terminal interface starts.
        interface: Interface = Interface::Cli;
        /// Resumes the latest session when the full-screen interface starts.
        tui_auto_resume_recent: bool = false;
        /// Reminds of running agents.
        tui_agents_nudge: bool = true, no_effect "as the status line counts running agents";
        /// Rings the terminal's bell when a turn is done.
        bell_on_complete: bool = false;
        /// Shows what the model thinks.
        show_reasoning: bool = true;
        /// Shows all of it instead of the first lines of each thought; in full screen, thoughts that are unfolded.
        reasoning_full: bool = false;
        /// Says when memories or skills were changed.
        memory_notifications: MemoryNotice = MemoryNotice::On;
        /// Shows an answer while it is written.
        streaming: bool = true;
        /// Shows the time of every message.
        timestamps: bool = false;
        /// How the time is written, in `strftime` notation.
        timestamp_format: String = text("%H:%M");
        /// What becomes of Markdown in answers.
        final_response_markdown: MarkdownMode = MarkdownMode::Render;
        /// Writes the latest output again when the screen is drawn anew with Ctrl+L or `/redraw`.
        persistent_output: bool = true;
        /// Lines kept for that, 10,000 at most.
        persistent_output_max_lines: u32 = 200;
        /// Leaves a line in the scrollback for every question that was answered.
        persist_prompts: bool = true;
        /// Shows what an edit changed.
        inline_diffs: bool = true;
        /// Says when an edit failed and was not repaired by the end of the turn.
        file_mutation_verifier: bool = true;
        /// Says when the credit with a provider is low.
        credits_notices: bool = true, no_effect "as a provider that refuses for lack of credit is always named";
        /// Explains a turn that ended without an answer, and says what can be done.
        turn_completion_explainer: bool = true;
        /// Shows what a turn cost.
        show_cost: bool = false;
        /// Colours and words of the interface, by name.
        skin: String = text("default");
        /// Language of the interface.
        language: String = text("en"), no_effect "as the interface is in English, and answers in the language you write in";
        /// What moves while the agent works.
        tui_status_indicator: StatusIndicator = StatusIndicator::Kaomoji;
        /// Where the full-screen interface has its status line.
        @unlisted tui_statusbar: Option<StatusBar> = None;
        /// How far details are unfolded.
        @unlisted details_mode: Option<DetailsMode> = None;
        /// How far single kinds of details are unfolded: `thinking`, `tools`, `subagents`, `activity`.
        @unlisted sections: BTreeMap<String, DetailsMode> = BTreeMap::new();
        /// What the full-screen interface uses the mouse for.
        @unlisted mouse_tracking: Option<MouseTracking> = None;
        /// Seconds between two redraws of the status line while nothing happens; 0 is never.
        cli_refresh_interval: Duration = secs(1);
        /// What is shown of your own message once it is sent.
        user_message_preview: MessagePreview = MessagePreview::default();
        /// Shows in chats what the model says between tool calls.
        interim_assistant_messages: bool = true, no_effect "until there is a gateway";
        /// Shows what the model says before it calls tools; otherwise only answers are shown, when they are complete.
        show_commentary: bool = true;
        /// What is shown of tool calls.
        @unlisted tool_progress: ToolProgress = ToolProgress::All;
        /// Lets chats change that with `/verbose`.
        tool_progress_command: bool = false, no_effect "until there is a gateway";
        /// What is shown of tool calls on single platforms; now `platforms.<name>.tool_progress`.
        tool_progress_overrides: BTreeMap<String, ToolProgress> = BTreeMap::new(), no_effect "until there is a gateway";
        /// Characters shown of a tool call's arguments; 0 is no limit.
        tool_preview_length: u32 = 0;
        /// Names tool calls by what they do.
        friendly_tool_labels: bool = true;
        /// How tool calls are shown in chats.
        tool_progress_grouping: ProgressGrouping = ProgressGrouping::Accumulate, no_effect "until there is a gateway";
        /// Words for what the agent does.
        status_phrases: BTreeMap<String, Value> = BTreeMap::new(), no_effect "as a skin has the words (`spinner.thinking_verbs`)";
        /// How thinking is set off in chats.
        reasoning_style: ReasoningStyle = ReasoningStyle::Code, no_effect "until there is a gateway";
        /// Seconds after which notices in chats are deleted; 0 never.
        ephemeral_system_ttl: Duration = secs(0), no_effect "until there is a gateway";
        /// What chats hear of processes in the background.
        @unlisted background_process_notifications: ProcessNotice = ProcessNotice::All, no_effect "until there is a gateway";
        /// Settings for single chat platforms.
        platforms: BTreeMap<String, DisplayPlatform> = BTreeMap::from([
            (text("telegram"), DisplayPlatform::streaming(true)),
            (text("discord"), DisplayPlatform::streaming(false)),
        ]), no_effect "until there is a gateway";
        /// A line of facts below every answer.
        runtime_footer: RuntimeFooter = RuntimeFooter::default();
        /// Keys that copy.
        copy_shortcut: CopyShortcut = CopyShortcut::Auto, no_effect "as the terminal's own keys copy what is selected in it";
        /// An animal beside the prompt.
        pet: Pet = Pet::default(), no_effect "as there are no companions";
    }
}

section! {
    /// What is shown of your own message once it is sent.
    pub struct MessagePreview {
        /// Lines from its beginning.
        first_lines: u32 = 2;
        /// Lines from its end.
        last_lines: u32 = 2;
    }
}

section! {
    /// A line of facts below every answer.
    pub struct RuntimeFooter {
        /// Shows it.
        enabled: bool = false;
        /// The facts in order, such as `model`, `context_pct` and `cwd`.
        fields: Vec<String> = texts(["model", "context_pct", "cwd"]);
    }
}
