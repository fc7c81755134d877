//! `web` and `x_search`: looking things up.

use std::time::Duration;

use super::effort::Effort;
use crate::macros::{secs, section, text};

section! {
    /// Searching the web and reading pages.
    pub struct Web {
        /// Service for both searching and reading, such as `tavily`; the first usable one when empty.
        backend: String = String::new();
        /// Service for searching, in place of `backend`.
        search_backend: String = String::new();
        /// Service for reading pages, in place of `backend`.
        extract_backend: String = String::new();
        /// Characters of one page that reach the model; the rest goes to a file it can read.
        extract_char_limit: u32 = 15_000, in 100..=10_000_000;
    }
}

section! {
    /// Searching posts on X.
    pub struct XSearch {
        /// Model that searches.
        model: String = text("grok-4.5");
        /// Thinking it does; its own amount when null.
        reasoning_effort: Option<Effort> = None;
        /// Seconds one search may take.
        timeout_seconds: Duration = secs(180);
        /// Further attempts after a failed search.
        retries: u32 = 2, in 0..=20;
    }
}
