//! `compression`, `context` and `prompt_caching`: keeping long conversations within the window.

use crate::macros::{choice, section, text};

choice! {
    /// Who shortens a conversation that runs through `codex`.
    pub enum CodexCompaction {
        /// The `codex` program.
        Native = "native",
        /// Hermes.
        Hermes = "hermes",
        /// Nobody.
        Off = "off",
    }
}

section! {
    /// Summarising the older part of a conversation before it no longer fits.
    pub struct Compression {
        /// Summarises by itself.
        enabled: bool = true;
        /// Share of the context window at which it starts; at least 0.75 for windows below 512 K tokens.
        threshold: f64 = 0.5, in 0.01..=1.0;
        /// Share of that amount which stays as it was.
        target_ratio: f64 = 0.2, in 0.0..=1.0;
        /// Latest messages that are never summarised.
        protect_last_n: u32 = 20;
        /// Messages in a chat from which it is shortened before a turn, whatever their size.
        hygiene_hard_message_limit: u32 = 5000, no_effect "until there is a gateway";
        /// First messages that are never summarised.
        protect_first_n: u32 = 3;
        /// Leaves the conversation alone when no summary could be made, in place of cutting it.
        abort_on_summary_failure: bool = false;
        /// Waits longer with GPT-5.5 over the Codex login, whose window is counted differently.
        codex_gpt55_autoraise: bool = true;
        /// Says so once.
        codex_gpt55_autoraise_notice: bool = true;
        /// Who shortens a conversation that runs through `codex`.
        codex_app_server_auto: CodexCompaction = CodexCompaction::Native, no_effect "as conversations do not run through `codex`";
        /// Goes on in the same session in place of a new one.
        in_place: bool = true;
    }
}

section! {
    /// What keeps the conversation within the window.
    pub struct Context {
        /// Name of the engine; plugins can add others.
        engine: String = text("compressor");
    }
}

choice! {
    /// How long a provider keeps the prompt it has read.
    pub enum CacheTtl {
        /// Five minutes.
        FiveMinutes = "5m",
        /// An hour, at a higher price.
        OneHour = "1h",
    }
}

section! {
    /// Paying less for the part of the prompt that stays the same.
    pub struct PromptCaching {
        /// How long the provider keeps it.
        cache_ttl: CacheTtl = CacheTtl::FiveMinutes;
    }
}
