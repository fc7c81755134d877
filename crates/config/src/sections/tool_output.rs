//! `tool_output`: how much of one tool result reaches the model.

use crate::macros::section;

section! {
    /// How much of one tool result reaches the model; the rest goes to a file it can read.
    pub struct ToolOutput {
        /// Bytes kept of one result.
        max_bytes: u64 = 50_000, in 1_000..=100_000_000;
        /// Lines kept of one result.
        max_lines: u32 = 2_000, in 10..=10_000_000;
        /// Characters kept of one line.
        max_line_length: u32 = 2_000, in 80..=10_000_000;
    }
}
