//! The words `display` settings accept.

use crate::macros::choice;

choice! {
    /// What is shown of a resumed session.
    pub enum ResumeDisplay {
        /// The latest exchanges.
        Full = "full",
        /// One line.
        Minimal = "minimal",
    }
}

choice! {
    /// What a message does that is sent while a turn runs.
    pub enum BusyMode {
        /// Stops the turn and starts the next.
        Interrupt = "interrupt",
        /// Waits for the turn to end.
        Queue = "queue",
        /// Is worked into the turn after the next tool call.
        Steer = "steer",
    }
}

choice! {
    /// Which terminal interface starts.
    pub enum Interface {
        /// The one that writes lines.
        Cli = "cli",
        /// The one that fills the screen.
        Tui = "tui",
    }
}

choice! {
    /// What is said of changed memories and skills.
    pub enum MemoryNotice {
        /// That something changed.
        On = "on",
        /// What changed.
        Verbose = "verbose",
        /// Nothing.
        Off = "off",
    }
}

choice! {
    /// What becomes of Markdown in answers.
    pub enum MarkdownMode {
        /// The marks are taken out.
        Strip = "strip",
        /// It is drawn.
        Render = "render",
        /// It is shown as it is.
        Raw = "raw",
    }
}

choice! {
    /// How the full-screen interface shows that it works.
    pub enum StatusIndicator {
        /// Faces made of characters.
        Kaomoji = "kaomoji",
        /// Emoji.
        Emoji = "emoji",
        /// A spinner.
        Unicode = "unicode",
        /// A spinner of plain characters.
        Ascii = "ascii",
    }
}

choice! {
    /// Where the status line is.
    pub enum StatusBar {
        /// Above the input.
        Top = "top" | "on",
        /// Below the input.
        Bottom = "bottom",
        /// Nowhere.
        Off = "off",
    }
}

choice! {
    /// How far details are unfolded.
    pub enum DetailsMode {
        /// They are not shown.
        Hidden = "hidden" | "off",
        /// Their headings are shown.
        Collapsed = "collapsed",
        /// They are shown.
        Expanded = "expanded" | "on",
    }
}

choice! {
    /// What the mouse is used for.
    pub enum MouseTracking {
        /// Everything.
        All = "all" | "on",
        /// Clicks and the wheel.
        Buttons = "buttons",
        /// The wheel.
        Wheel = "wheel",
        /// Nothing; the terminal keeps it.
        Off = "off",
    }
}

choice! {
    /// What is shown of tool calls.
    pub enum ToolProgress {
        /// Every call.
        All = "all" | "on",
        /// A call only when the tool is another than before.
        New = "new",
        /// Every call with all arguments.
        Verbose = "verbose",
        /// Nothing; calls go to a log file.
        Log = "log",
        /// Nothing.
        Off = "off",
    }
}

choice! {
    /// How tool calls are shown in chats.
    pub enum ProgressGrouping {
        /// In one message that grows.
        Accumulate = "accumulate",
        /// In a message each.
        Separate = "separate",
    }
}

choice! {
    /// How thinking is set off in chats.
    pub enum ReasoningStyle {
        /// As a code block.
        Code = "code",
        /// As a quotation.
        Blockquote = "blockquote",
        /// As small print.
        Subtext = "subtext",
    }
}

choice! {
    /// What chats hear of processes in the background.
    pub enum ProcessNotice {
        /// Their output and their end.
        All = "all" | "on",
        /// Their end.
        Result = "result",
        /// Their end, if they failed.
        Error = "error",
        /// Nothing.
        Off = "off",
    }
}

choice! {
    /// How much a live status line says.
    pub enum LiveStatus {
        /// What is being done, and to what.
        Full = "full" | "on",
        /// What is being done.
        Verb = "verb",
        /// Nothing.
        Off = "off",
    }
}

choice! {
    /// Keys that copy the selected text.
    pub enum CopyShortcut {
        /// Those usual on the system.
        Auto = "auto",
        /// Ctrl+C.
        CtrlC = "ctrl_c",
        /// Ctrl+Shift+C.
        CtrlShiftC = "ctrl_shift_c",
        /// None.
        Disabled = "disabled" | "off",
    }
}
