//! All of the terminal, drawn where it differs from what is there.

use std::fmt::Write as _;
use std::io::{self, Write};

use ratatui::text::Line;

use super::{Live, paint};

/// Begins and ends a picture that a terminal shows as a whole. Lines that are too long for a terminal that shrank
/// meanwhile are cut.
const BEGIN: &str = "\x1b[?2026h\x1b[?25l\x1b[?7l";
const END: &str = "\x1b[?7h\x1b[?2026l";
const SHOW_CURSOR: &str = "\x1b[?25h";
const CLEAR: &str = "\x1b[0m\x1b[2J";
const TO_END_OF_LINE: &str = "\x1b[K";

/// The whole screen.
pub struct Full<W> {
    out: W,
    /// What is on it; nothing when that is not known.
    shown: Option<Live>,
    size: (u16, u16),
}

impl<W: Write> Full<W> {
    /// Nothing is drawn yet.
    pub fn new(out: W) -> Self {
        Self {
            out,
            shown: None,
            size: (0, 0),
        }
    }

    /// Draws a picture for a size. What looks the same writes nothing.
    ///
    /// # Errors
    ///
    /// The terminal is gone.
    pub fn draw(&mut self, live: Live, size: (u16, u16)) -> io::Result<()> {
        let before = self.shown.take().filter(|_| size == self.size);
        if before.as_ref() == Some(&live) {
            self.shown = before;
            return Ok(());
        }
        let mut bytes = String::from(BEGIN);
        if before.is_none() {
            bytes.push_str(CLEAR);
        }
        let old = before.map(|live| live.lines).unwrap_or_default();
        let nothing = Line::default();
        let rows = live.lines.len().max(old.len()).min(usize::from(size.1));
        for row in 0..rows {
            let line = live.lines.get(row).unwrap_or(&nothing);
            if line == old.get(row).unwrap_or(&nothing) {
                continue;
            }
            go_to(row, 0, &mut bytes);
            // Clearing first: at the last column it would take the last character away.
            bytes.push_str(TO_END_OF_LINE);
            paint::line(line, &mut bytes);
        }
        if let Some((row, column)) = live.cursor {
            go_to(usize::from(row), usize::from(column), &mut bytes);
            bytes.push_str(SHOW_CURSOR);
        }
        bytes.push_str(END);
        self.size = size;
        self.out.write_all(bytes.as_bytes())?;
        self.out.flush()?;
        self.shown = Some(live);
        Ok(())
    }

    /// The terminal was somebody else's meanwhile: the next picture is drawn from the beginning.
    pub fn forget(&mut self) {
        self.shown = None;
    }
}

fn go_to(row: usize, column: usize, bytes: &mut String) {
    // Writing to a string cannot fail.
    let _ = write!(bytes, "\x1b[{};{}H", row + 1, column + 1);
}
