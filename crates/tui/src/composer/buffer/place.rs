//! Where the text and its cursor stand on the screen.

use std::ops::Range;

use super::Buffer;
use crate::text::rows::{columns, glyph, wrap};
use unicode_segmentation::UnicodeSegmentation;

/// A text in rows, and its cursor among them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed {
    /// The rows as byte ranges.
    pub rows: Vec<Range<usize>>,
    /// The row the cursor is in.
    pub row: usize,
    /// The column it is in.
    pub column: usize,
}

impl Buffer {
    /// The text in rows of a width. One column of each is left free, so that the cursor has a place
    /// behind a full one.
    pub fn placed(&self, width: usize) -> Placed {
        let width = width.saturating_sub(1).max(1);
        let rows = wrap(&self.text, width);
        // A cursor between two rows of a line belongs to the second.
        let row = rows
            .iter()
            .rposition(|row| row.start <= self.cursor)
            .unwrap_or(0);
        let start = rows.get(row).map_or(0, |row| row.start);
        let column = narrow(self.text.get(start..self.cursor).unwrap_or_default(), width);
        Placed { rows, row, column }
    }

    /// One row up; at the first row it says no.
    pub fn up(&mut self, width: usize) -> bool {
        let placed = self.placed(width);
        match placed.row.checked_sub(1) {
            Some(row) => self.go_to_row(&placed, row, width),
            None => false,
        }
    }

    /// One row down; at the last row it says no.
    pub fn down(&mut self, width: usize) -> bool {
        let placed = self.placed(width);
        self.go_to_row(&placed, placed.row + 1, width)
    }

    /// To a row and a column, or the nearest there is.
    pub fn point(&mut self, row: usize, column: usize, width: usize) {
        let placed = self.placed(width);
        self.goal = Some(column);
        self.go_to_row(&placed, row.min(placed.rows.len().saturating_sub(1)), width);
        self.goal = None;
    }

    fn go_to_row(&mut self, placed: &Placed, row: usize, width: usize) -> bool {
        let Some(range) = placed.rows.get(row).cloned() else {
            return false;
        };
        let goal = self.goal.unwrap_or(placed.column);
        let wrapped_on = placed
            .rows
            .get(row + 1)
            .is_some_and(|next| next.start == range.end);
        let mut reached = range.start;
        let mut column = 0;
        let line = self.text.get(range.clone()).unwrap_or_default();
        for (at, grapheme) in line.grapheme_indices(true) {
            let end = range.start + at + grapheme.len();
            column += glyph(grapheme, width.saturating_sub(1).max(1)).1;
            // The end of a wrapped row is the start of the next one.
            if column > goal || (wrapped_on && end == range.end) {
                break;
            }
            reached = end;
        }
        self.moved(reached);
        self.goal = Some(goal);
        true
    }
}

fn narrow(text: &str, width: usize) -> usize {
    match width {
        0..4 => text
            .graphemes(true)
            .map(|grapheme| glyph(grapheme, width).1)
            .sum(),
        _ => columns(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holding(text: &str) -> Buffer {
        let mut buffer = Buffer::default();
        buffer.set_text(text);
        buffer
    }

    // CL-17
    #[test]
    fn up_and_down_move_in_wrapped_text_and_say_when_they_would_leave_it() {
        let mut buffer = holding("one two three\nfour");
        assert!(!buffer.down(9));
        assert!(buffer.up(9));
        assert_eq!(buffer.before(), "one two thre");
        assert!(buffer.up(9));
        assert_eq!(buffer.before(), "one ");
        assert!(!buffer.up(9));
        assert!(buffer.down(9));
        assert!(buffer.down(9));
        assert_eq!(buffer.after(), "");
    }

    #[test]
    fn the_column_is_kept_over_shorter_lines() {
        let mut buffer = holding("abcdef\nx\nabcdef");
        buffer.up(20);
        assert_eq!(buffer.before(), "abcdef\nx");
        buffer.up(20);
        assert_eq!(buffer.before(), "abcdef");
        buffer.left();
        buffer.down(20);
        buffer.down(20);
        assert_eq!(buffer.after(), "f");
    }

    #[test]
    fn a_cursor_at_a_wrap_stands_in_the_next_row() {
        let mut buffer = holding("abcdef");
        for _ in 0..3 {
            buffer.left();
        }
        let placed = buffer.placed(4);
        assert_eq!((placed.row, placed.column), (1, 0));
        assert_eq!(placed.rows, [0..3, 3..6]);
    }
}
