//! `logging`, `privacy` and `human_delay`.

use crate::macros::{choice, section};

choice! {
    /// How much is logged.
    pub enum LogLevel {
        /// Everything.
        Debug = "DEBUG" | "TRACE",
        /// What happens.
        Info = "INFO",
        /// What went wrong but was coped with.
        Warning = "WARNING" | "WARN",
        /// What failed.
        Error = "ERROR",
        /// What ended the program.
        Critical = "CRITICAL" | "FATAL",
    }
}

section! {
    /// The log files in the home.
    pub struct Logging {
        /// How much is logged.
        level: LogLevel = LogLevel::Info;
        /// Size in MB at which a new file is begun.
        max_size_mb: u32 = 5, in 1..=1_000_000;
        /// Older files kept.
        backup_count: u32 = 3, in 0..=10_000;
    }
}

section! {
    /// What the model learns about people.
    pub struct Privacy {
        /// Shows the model scrambled ids in place of phone numbers and user names.
        redact_pii: bool = false, no_effect "until there is a gateway";
    }
}

choice! {
    /// Whether chat answers are held back.
    pub enum DelayMode {
        /// They are not.
        Off = "off",
        /// For 0.8 to 2.5 seconds.
        Natural = "natural" | "on",
        /// For as long as `min_ms` and `max_ms` say.
        Custom = "custom",
    }
}

section! {
    /// Holding chat answers back a little, as a person would.
    pub struct HumanDelay {
        /// Whether they are held back.
        mode: DelayMode = DelayMode::Off;
        /// Least milliseconds.
        min_ms: u32 = 800;
        /// Most milliseconds.
        max_ms: u32 = 2500;
    }
}
