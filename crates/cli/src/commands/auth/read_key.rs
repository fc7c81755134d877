//! A key from a pipe, or typed where nobody sees it.

use std::io::{self, BufRead, IsTerminal, Read, Write};

use nix::sys::termios::{LocalFlags, SetArg, Termios, tcgetattr, tcsetattr};

use crate::complaint::{Complaint, Outcome};

/// Longer is no key.
const MOST_BYTES: u64 = 16 * 1024;

/// The key for somebody; there must be one.
pub(in crate::commands) fn read(name: &str) -> Outcome<String> {
    line(&format!("Key for {name} (it is not shown): "))?.ok_or_else(|| {
        Complaint::bad_request("there is no key")
            .hint("type it, pipe it in, or give it with --api-key")
    })
}

/// A line that is not shown; `None` when it is empty.
pub(in crate::commands) fn line(question: &str) -> Outcome<Option<String>> {
    let input = io::stdin();
    let mut line = String::new();
    let filled = |line: &str| Some(line.trim().to_owned()).filter(|key| !key.is_empty());
    if !input.is_terminal() {
        input.lock().take(MOST_BYTES).read_line(&mut line)?;
        return Ok(filled(&line));
    }
    // Before the prompt: a key that is pasted the moment it appears must not be seen either.
    let hidden = Hidden::begin();
    let mut errors = io::stderr().lock();
    errors.write_all(question.as_bytes())?;
    errors.flush()?;
    let read = input.lock().take(MOST_BYTES).read_line(&mut line);
    drop(hidden);
    writeln!(errors)?;
    read?;
    Ok(filled(&line))
}

/// Keeps the terminal from showing what is typed, until it is dropped.
struct Hidden(Option<Termios>);

impl Hidden {
    fn begin() -> Self {
        let input = io::stdin();
        let Ok(before) = tcgetattr(&input) else {
            return Self(None);
        };
        let mut quiet = before.clone();
        quiet.local_flags.remove(LocalFlags::ECHO);
        let hidden = tcsetattr(&input, SetArg::TCSAFLUSH, &quiet);
        Self(hidden.is_ok().then_some(before))
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            // There is no other way to get the terminal back.
            let _ = tcsetattr(io::stdin(), SetArg::TCSANOW, before);
        }
    }
}
