//! A key from a pipe, or typed where nobody sees it.

use std::io::{self, IsTerminal, Write};

use crate::commands::ask::{Echo, Typing};
use crate::complaint::{Complaint, Outcome};

/// The key for somebody; there must be one.
pub(in crate::commands) fn read(name: &str) -> Outcome<String> {
    line(&format!("Key for {name} (it is not shown): "))?.ok_or_else(|| {
        Complaint::bad_request("there is no key")
            .hint("type it, pipe it in, or give it with --api-key")
    })
}

/// A line that is not shown; `None` when it is empty.
pub(in crate::commands) fn line(question: &str) -> Outcome<Option<String>> {
    let typing = Typing::begin(Echo::Hidden);
    let seen = io::stdin().is_terminal();
    let mut errors = io::stderr().lock();
    if seen {
        errors.write_all(question.as_bytes())?;
        errors.flush()?;
    }
    let typed = typing.line();
    if seen {
        writeln!(errors)?;
    }
    Ok(typed?.filter(|key| !key.is_empty()))
}
