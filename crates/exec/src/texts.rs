//! The changes made to commands before they run, for programs that try them on texts of their own.

use crate::shell::{rewrite, wrapped as wrap};

/// A command as it would run: lists detached, and every `sudo` made to read a password. With how many of those.
pub fn prepared(text: &str) -> (String, usize) {
    rewrite::feed_sudo(&rewrite::detach_lists(text))
}

/// A command with its lists detached.
pub fn detached(text: &str) -> String {
    rewrite::detach_lists(text)
}

/// The script bash is given to run a command, in which the command is the one word behind the last `eval -- `. A
/// command that is too long for an argument stands in a file instead.
pub fn wrapped(text: &str) -> String {
    wrap(text)
}
