//! A live area at the bottom of the terminal's own history.
//!
//! What is finished is written once and belongs to the terminal from then on: it scrolls, is selected and found
//! like the output of any program, and nothing here ever clears it. Only the lines below it are drawn again.
//! Everything goes out in one synchronised write.

use std::fmt::Write as _;
use std::io::{self, Write};

use ratatui::text::Line;

use super::paint;

/// Begins and ends a picture that a terminal shows as a whole.
const BEGIN: &str = "\x1b[?2026h\x1b[?25l";
const END: &str = "\x1b[?25h\x1b[?2026l";
/// Lines that are too long for a terminal that shrank meanwhile are cut instead of wrapped: a wrapped one would
/// take a row that nobody counted.
const NO_WRAP: &str = "\x1b[?7l";
const WRAP: &str = "\x1b[?7h";
const TO_END_OF_LINE: &str = "\x1b[K";
const TO_END_OF_SCREEN: &str = "\x1b[J";

/// What happens to lines when a terminal becomes narrower.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reflow {
    /// They are broken again: nearly every terminal.
    Breaks,
    /// They are cut.
    Cuts,
}

/// What is to be seen of the live area.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Live {
    /// The lines, none wider than the terminal.
    pub lines: Vec<Line<'static>>,
    /// Row and column of the cursor among them; none hides it.
    pub cursor: Option<(u16, u16)>,
}

/// The live area and what is known about where it is.
pub struct Inline<W> {
    out: W,
    reflow: Reflow,
    /// What is on the screen.
    shown: Live,
    /// The width it was drawn for.
    width: u16,
}

impl<W: Write> Inline<W> {
    /// Nothing is drawn yet; the cursor is at the beginning of a line.
    pub fn new(out: W, reflow: Reflow, width: u16) -> Self {
        Self {
            out,
            reflow,
            shown: Live::default(),
            width,
        }
    }

    /// Writes what is finished above the live area and draws that again where it differs.
    ///
    /// # Errors
    ///
    /// The terminal is gone.
    pub fn draw(&mut self, finished: &[Line<'_>], live: Live, width: u16) -> io::Result<()> {
        let resized = width != self.width;
        if finished.is_empty() && !resized && live == self.shown {
            return Ok(());
        }
        let mut bytes = String::from(BEGIN);
        let same_shape =
            finished.is_empty() && !resized && live.lines.len() == self.shown.lines.len();
        if same_shape {
            self.retouch(&live, &mut bytes);
        } else {
            self.rebuild(finished, &live, width, &mut bytes);
        }
        bytes.push_str(match live.cursor {
            Some(_) => END,
            None => "\x1b[?2026l",
        });
        self.shown = live;
        self.width = width;
        self.out.write_all(bytes.as_bytes())?;
        self.out.flush()
    }

    /// Removes the live area; the cursor is where it began.
    ///
    /// # Errors
    ///
    /// The terminal is gone.
    pub fn clear(&mut self, width: u16) -> io::Result<()> {
        self.draw(&[], Live::default(), width)?;
        self.out.write_all(b"\x1b[?25h")?;
        self.out.flush()
    }

    /// The terminal was somebody else's meanwhile and the cursor is at the beginning of a fresh line.
    pub fn forget(&mut self) {
        self.shown = Live::default();
    }

    /// Rewrites only the lines that changed.
    fn retouch(&self, live: &Live, bytes: &mut String) {
        let mut row = self.row_of_cursor(self.width);
        bytes.push_str(NO_WRAP);
        for (index, (line, old)) in live.lines.iter().zip(&self.shown.lines).enumerate() {
            if line == old {
                continue;
            }
            step(row, index, bytes);
            row = index;
            bytes.push('\r');
            paint::line(line, bytes);
            bytes.push_str(TO_END_OF_LINE);
        }
        bytes.push_str(WRAP);
        place(row, live, bytes);
    }

    fn rebuild(&self, finished: &[Line<'_>], live: &Live, width: u16, bytes: &mut String) {
        step(self.row_of_cursor(width), 0, bytes);
        bytes.push('\r');
        bytes.push_str(TO_END_OF_SCREEN);
        for line in finished {
            paint::line(line, bytes);
            bytes.push_str("\r\n");
        }
        bytes.push_str(NO_WRAP);
        for (index, line) in live.lines.iter().enumerate() {
            if index > 0 {
                bytes.push_str("\r\n");
            }
            paint::line(line, bytes);
        }
        bytes.push_str(WRAP);
        place(live.lines.len().saturating_sub(1), live, bytes);
    }

    /// How many rows the cursor is below the beginning of the live area, on a terminal that is `width` wide now.
    fn row_of_cursor(&self, width: u16) -> usize {
        let last = self.shown.lines.len().saturating_sub(1);
        let (row, column) = match self.shown.cursor {
            Some((row, column)) => (usize::from(row), usize::from(column)),
            None => (last, 0),
        };
        if self.reflow == Reflow::Cuts || width >= self.width {
            return row;
        }
        let width = usize::from(width.max(1));
        let rows = |cells: usize| cells.div_ceil(width).max(1);
        let above: usize = self
            .shown
            .lines
            .iter()
            .take(row)
            .map(|line| rows(paint::width(line)))
            .sum();
        above + column / width
    }
}

/// Moves the cursor between two rows.
fn step(from: usize, to: usize, bytes: &mut String) {
    // Writing to a string cannot fail.
    let _ = match to.cmp(&from) {
        std::cmp::Ordering::Less => write!(bytes, "\x1b[{}A", from - to),
        std::cmp::Ordering::Greater => write!(bytes, "\x1b[{}B", to - from),
        std::cmp::Ordering::Equal => Ok(()),
    };
}

/// Puts the cursor where it belongs, from a row of the live area.
fn place(row: usize, live: &Live, bytes: &mut String) {
    let last = live.lines.len().saturating_sub(1);
    let (to, column) = live
        .cursor
        .map_or((last, 0), |(row, column)| (usize::from(row), column));
    step(row, to, bytes);
    bytes.push('\r');
    if column > 0 {
        let _ = write!(bytes, "\x1b[{column}C");
    }
}
