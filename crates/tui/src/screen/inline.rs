//! A live area at the bottom of the terminal's own history.
//!
//! What is finished is written once and belongs to the terminal from then on: it scrolls, is selected and found
//! like the output of any program, and nothing here ever clears it. Only the lines below it are drawn again.
//! Everything goes out in one synchronised write.
//!
//! Between two pictures the terminal's own cursor is hidden at the beginning of the live area, and the one that
//! is seen is part of the picture. A terminal that is resized breaks its lines anew, some before they tell us, but
//! they all keep the cursor on its character: wherever that is afterwards, what is below it is ours.
//!
//! That holds while the cursor stays on the screen. A line that is broken into more rows pushes up what is above it,
//! and the rows it took below stay empty when it is drawn again. So it is counted how many rows of history are above
//! the live area, and its first lines give way where these would not be enough.

use std::fmt::Write as _;
use std::io::{self, Write};

use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

use super::paint;

/// Begins and ends a picture that a terminal shows as a whole.
const BEGIN: &str = "\x1b[?2026h\x1b[?25l";
const END: &str = "\x1b[?2026l";
const SHOW_CURSOR: &str = "\x1b[?25h";
/// Lines that are too long for a terminal that shrank meanwhile are cut instead of wrapped.
const NO_WRAP: &str = "\x1b[?7l";
const WRAP: &str = "\x1b[?7h";
const TO_END_OF_LINE: &str = "\x1b[K";
/// Clears this line and everything below. Not all at once: some terminals take that for a wish to keep what is on
/// the screen.
pub(super) const CLEAR_BELOW: &str = "\r\x1b[2K\x1b7\x1b[1B\x1b[J\x1b8";
/// One row up, as far as there are rows.
const UP: &str = "\x1b[1A";
/// Keeps the place of the cursor and goes back there. Rows are not counted on the way down: in a terminal that became
/// smaller meanwhile it may end early, and the same way up would lead into the history.
const KEEP_PLACE: &str = "\x1b7";
const TO_PLACE: &str = "\x1b8";
/// A window may become so many times narrower at once, and no live line ends up in the history.
const NARROWER: u16 = 3;

/// What is to be seen of the live area.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Live {
    /// The lines, none wider than the terminal.
    pub lines: Vec<Line<'static>>,
    /// How many of the first lines, all but one, are left out where there is no room for them.
    pub yielding: usize,
    /// Row and column of the cursor among them, if it is to be seen.
    pub cursor: Option<(u16, u16)>,
}

impl Live {
    /// Leaves out first lines until so many rows above are enough for what the others are broken into in a window that
    /// becomes much narrower.
    fn give_way(&mut self, above: usize, width: u16) {
        let narrow = width / NARROWER;
        let mut more = more_rows(&self.lines, narrow);
        let mut out = 0;
        for line in self.lines.iter().take(self.yielding.saturating_sub(1)) {
            if more <= above {
                break;
            }
            more -= rows_of(line, narrow) - 1;
            out += 1;
        }
        self.lines.drain(..out);
        let out = u16::try_from(out).unwrap_or(u16::MAX);
        self.cursor = self
            .cursor
            .map(|(row, column)| (row.saturating_sub(out), column));
    }
}

/// The live area. The terminal's cursor is at its beginning whenever nothing is being drawn.
pub struct Inline<W> {
    out: W,
    /// What is on the screen.
    shown: Vec<Line<'static>>,
    /// The width it was drawn for.
    width: u16,
    /// Rows of history that are on the screen for sure. There may be more.
    above: usize,
}

impl<W: Write> Inline<W> {
    /// Nothing is drawn yet; the cursor is at the beginning of a line.
    pub fn new(out: W, width: u16) -> Self {
        Self {
            out,
            shown: Vec::new(),
            width,
            above: 0,
        }
    }

    /// Writes what is finished above the live area and draws that again where it differs.
    ///
    /// # Errors
    ///
    /// The terminal is gone.
    pub fn draw(
        &mut self,
        finished: &[Line<'_>],
        mut live: Live,
        size: (u16, u16),
    ) -> io::Result<()> {
        let (width, rows) = size;
        let above = self.above + finished.len();
        live.give_way(above, width);
        let mut lines = live.lines;
        self.above = above.min(usize::from(rows).saturating_sub(lines.len()));
        if let Some((row, column)) = live.cursor
            && let Some(line) = lines.get_mut(usize::from(row))
        {
            *line = with_cursor(line, usize::from(column));
        }
        let resized = width != self.width;
        if finished.is_empty() && !resized && lines == self.shown {
            return Ok(());
        }
        let mut bytes = String::from(BEGIN);
        if finished.is_empty() && !resized && lines.len() == self.shown.len() {
            self.retouch(&lines, &mut bytes);
        } else {
            rebuild(finished, &lines, &mut bytes);
        }
        bytes.push_str(END);
        self.shown = lines;
        self.width = width;
        self.out.write_all(bytes.as_bytes())?;
        self.out.flush()
    }

    /// Draws everything again on a screen that may hold anything: the end of the history, as much as there is room
    /// for, and the live area below it. What scrolled away before is not touched.
    ///
    /// # Errors
    ///
    /// The terminal is gone.
    pub fn repaint(
        &mut self,
        history: &[Line<'static>],
        live: Live,
        size: (u16, u16),
    ) -> io::Result<()> {
        let (columns, rows) = size;
        let mut room = usize::from(rows).saturating_sub(live.lines.len());
        let mut from = history.len();
        for line in history.iter().rev() {
            // A line that was made for a wider window takes several rows.
            let taken = rows_of(line, columns);
            if taken > room {
                break;
            }
            room -= taken;
            from -= 1;
        }
        let mut bytes = String::from(BEGIN);
        // Row by row: some terminals take clearing everything for a wish to keep it.
        for row in 1..=rows {
            // Writing to a string cannot fail.
            let _ = write!(bytes, "\x1b[{row};1H{TO_END_OF_LINE}");
        }
        bytes.push_str("\x1b[H");
        bytes.push_str(END);
        self.out.write_all(bytes.as_bytes())?;
        self.shown.clear();
        self.above = 0;
        self.draw(history.get(from..).unwrap_or_default(), live, size)
    }

    /// Removes the live area and shows the terminal's own cursor where it began.
    ///
    /// # Errors
    ///
    /// The terminal is gone.
    pub fn clear(&mut self) -> io::Result<()> {
        self.shown.clear();
        self.out
            .write_all(format!("{BEGIN}{CLEAR_BELOW}{SHOW_CURSOR}{END}").as_bytes())?;
        self.out.flush()
    }

    /// Takes the live area away for a moment: a terminal that is being resized, now to this size, would break its lines
    /// anew each time, and may lose the place of the cursor over that.
    ///
    /// # Errors
    ///
    /// The terminal is gone.
    pub fn hide(&mut self, size: (u16, u16)) -> io::Result<()> {
        if self.shown.is_empty() {
            return Ok(());
        }
        let (columns, rows) = size;
        let first = self.shown.first().map_or(1, |line| rows_of(line, columns));
        if first > usize::from(rows) {
            // Its beginning is out of reach. As long as its end is there, it comes back with the room for it.
            return Ok(());
        }
        let left = self.above.saturating_sub(more_rows(&self.shown, columns));
        self.above = left.min(usize::from(rows).saturating_sub(1));
        self.shown.clear();
        self.out
            .write_all(format!("{BEGIN}{CLEAR_BELOW}{END}").as_bytes())?;
        self.out.flush()
    }

    /// The terminal was somebody else's meanwhile and the cursor is at the beginning of a fresh line.
    pub fn forget(&mut self) {
        self.shown.clear();
        self.above = 0;
    }

    /// Rewrites only the lines that changed.
    fn retouch(&self, lines: &[Line<'_>], bytes: &mut String) {
        bytes.push_str(KEEP_PLACE);
        bytes.push_str(NO_WRAP);
        let mut row = 0;
        for (index, (line, old)) in lines.iter().zip(&self.shown).enumerate() {
            if line == old {
                continue;
            }
            down(index - row, bytes);
            row = index;
            put(line, bytes);
        }
        bytes.push_str(WRAP);
        bytes.push_str(TO_PLACE);
    }
}

fn rebuild(finished: &[Line<'_>], lines: &[Line<'_>], bytes: &mut String) {
    bytes.push_str(CLEAR_BELOW);
    for line in finished {
        paint::line(line, bytes);
        bytes.push_str("\r\n");
    }
    // Room first, then the lines, from the last to the first. A window may shrink in the middle of this, and what is
    // above the cursor scrolls away then: it is empty, so nothing of the live area becomes history.
    bytes.push_str(&"\r\n".repeat(lines.len().saturating_sub(1)));
    bytes.push_str(NO_WRAP);
    for (index, line) in lines.iter().rev().enumerate() {
        if index > 0 {
            bytes.push_str(UP);
        }
        bytes.push_str(KEEP_PLACE);
        put(line, bytes);
        bytes.push_str(TO_PLACE);
    }
    bytes.push_str(WRAP);
}

/// Rows a line takes where so many columns are the most there are.
fn rows_of(line: &Line<'_>, columns: u16) -> usize {
    line.width().div_ceil(usize::from(columns).max(1)).max(1)
}

/// How many rows lines of one row take beyond that when they are broken.
fn more_rows(lines: &[Line<'_>], columns: u16) -> usize {
    lines.iter().map(|line| rows_of(line, columns) - 1).sum()
}

/// Moves the cursor down, as far as there are rows.
fn down(rows: usize, bytes: &mut String) {
    if rows > 0 {
        // Writing to a string cannot fail.
        let _ = write!(bytes, "\x1b[{rows}B");
    }
}

/// Puts a line into the row of the cursor.
fn put(line: &Line<'_>, bytes: &mut String) {
    bytes.push('\r');
    // Clearing first: at the last column it would take the last character away.
    bytes.push_str(TO_END_OF_LINE);
    paint::line(line, bytes);
}

/// A line with the cursor on the character in this column, or behind the last one.
fn with_cursor(line: &Line<'_>, column: usize) -> Line<'static> {
    let mut spans = Vec::new();
    let mut at = 0;
    let mut placed = false;
    for span in &line.spans {
        let style = line.style.patch(span.style);
        for character in span.content.graphemes(true) {
            let here = !placed && at + character.width() > column;
            placed |= here;
            at += character.width();
            let style = match here {
                true => style.add_modifier(Modifier::REVERSED),
                false => style,
            };
            match spans.last_mut() {
                Some(Span {
                    content,
                    style: last,
                }) if *last == style && !here => {
                    content.to_mut().push_str(character);
                }
                _ => spans.push(Span::styled(character.to_owned(), style)),
            }
        }
    }
    if !placed {
        let gap = column.saturating_sub(at);
        spans.push(Span::raw(" ".repeat(gap)));
        spans.push(Span::styled(
            " ",
            Style::new().add_modifier(Modifier::REVERSED),
        ));
    }
    Line::from(spans)
}
