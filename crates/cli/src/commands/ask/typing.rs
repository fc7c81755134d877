//! A line that somebody types, where Ctrl+C ends the question and not the program: what was asked before may
//! have to be put in order first, such as a terminal that shows nothing.

use std::io::{self, BufRead, IsTerminal};

use nix::libc::_POSIX_VDISABLE;
use nix::sys::termios::{
    LocalFlags, SetArg, SpecialCharacterIndices, Termios, tcgetattr, tcsetattr,
};

use super::STOPPED;
use crate::complaint::{Complaint, Outcome};

/// Longer is no answer and no key.
const MOST_BYTES: usize = 16 * 1024;
/// What Ctrl+C types.
const INTERRUPT: u8 = 3;

/// Whether the terminal shows what is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Echo {
    Shown,
    /// Nothing is shown, and what was typed before the question is thrown away.
    Hidden,
}

/// The terminal while a line is typed; as it was before when this is dropped.
pub(crate) struct Typing(Option<Termios>);

impl Typing {
    /// Begins before the question is shown: a key that is pasted the moment it appears must not be seen either.
    pub(crate) fn begin(echo: Echo) -> Self {
        let input = io::stdin();
        if !input.is_terminal() {
            return Self(None);
        }
        let Ok(before) = tcgetattr(&input) else {
            return Self(None);
        };
        let mut now = before.clone();
        // Ctrl+C ends a line like Enter does, and is the last character of it.
        let mut set = |index: SpecialCharacterIndices, to: u8| {
            if let Some(character) = now.control_chars.get_mut(index as usize) {
                *character = to;
            }
        };
        set(SpecialCharacterIndices::VINTR, _POSIX_VDISABLE);
        set(SpecialCharacterIndices::VEOL, INTERRUPT);
        let when = match echo {
            Echo::Shown => SetArg::TCSANOW,
            Echo::Hidden => {
                now.local_flags.remove(LocalFlags::ECHO);
                SetArg::TCSAFLUSH
            }
        };
        let changed = tcsetattr(&input, when, &now);
        Self(changed.is_ok().then_some(before))
    }

    /// The line, without spaces around it; `None` at the end of the input. Ctrl+C ends the command with the
    /// code that shells know.
    pub(crate) fn line(&self) -> Outcome<Option<String>> {
        let mut input = io::stdin().lock();
        let mut line = Vec::new();
        loop {
            let chunk = match input.fill_buf() {
                Ok(chunk) => chunk,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error.into()),
            };
            if chunk.is_empty() && line.is_empty() {
                return Ok(None);
            }
            let stops = |byte: &u8| *byte == b'\n' || (self.0.is_some() && *byte == INTERRUPT);
            let end = chunk.iter().position(stops);
            let last = end.and_then(|end| chunk.get(end)).copied();
            line.extend_from_slice(chunk.get(..end.unwrap_or(chunk.len())).unwrap_or_default());
            let taken = end.map_or(chunk.len(), |end| end + 1);
            input.consume(taken);
            if last == Some(INTERRUPT) {
                return Err(Complaint::Code(STOPPED));
            }
            if last.is_some() || taken == 0 || line.len() > MOST_BYTES {
                return Ok(Some(String::from_utf8_lossy(&line).trim().to_owned()));
            }
        }
    }
}

/// A terminal that shows nothing of what is typed; as it was before when this is dropped. Ctrl+C means what it
/// always does, and what was typed before is not thrown away.
pub(crate) struct Unseen(Option<Termios>);

impl Unseen {
    /// Begins before the question is shown.
    pub(crate) fn begin() -> Self {
        let input = io::stdin();
        let before = match input.is_terminal() {
            true => tcgetattr(&input).ok(),
            false => None,
        };
        let Some(before) = before else {
            return Self(None);
        };
        let mut now = before.clone();
        now.local_flags.remove(LocalFlags::ECHO);
        // The end of the line is seen, so that what comes next begins on one of its own.
        now.local_flags.insert(LocalFlags::ECHONL);
        let changed = tcsetattr(&input, SetArg::TCSANOW, &now);
        Self(changed.is_ok().then_some(before))
    }
}

impl Drop for Unseen {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            // There is no other way to get the terminal back.
            let _ = tcsetattr(io::stdin(), SetArg::TCSANOW, before);
        }
    }
}

impl Drop for Typing {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            // There is no other way to get the terminal back.
            let _ = tcsetattr(io::stdin(), SetArg::TCSANOW, before);
        }
    }
}
