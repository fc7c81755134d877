//! What was cut, to be put back.

use std::collections::VecDeque;

use super::undo::Kind;
use super::{Buffer, Chain};

const MOST_KILLS: usize = 32;

/// The last texts that were cut, newest first.
#[derive(Debug, Clone, Default)]
pub(super) struct Kills {
    ring: VecDeque<String>,
}

/// Where a cut text stood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Before,
    After,
}

impl Buffer {
    /// Cuts up to the end of the line, or the newline when already there.
    pub fn kill_to_line_end(&mut self) {
        let end = match self.line_end_offset() {
            end if end == self.cursor => self.next_offset(),
            end => end,
        };
        self.kill(end, Side::After);
    }

    /// Cuts back to the start of the line, or the newline when already there.
    pub fn kill_to_line_start(&mut self) {
        let start = match self.line_start_offset() {
            start if start == self.cursor => self.previous_offset(),
            start => start,
        };
        self.kill(start, Side::Before);
    }

    /// Cuts the word in front of the cursor.
    pub fn kill_word_left(&mut self) {
        self.kill(self.word_left_offset(), Side::Before);
    }

    /// Cuts back to the space in front of the cursor.
    pub fn kill_to_space(&mut self) {
        self.kill(self.space_left_offset(), Side::Before);
    }

    /// Cuts the word behind the cursor.
    pub fn kill_word_right(&mut self) {
        self.kill(self.word_right_offset(), Side::After);
    }

    fn kill(&mut self, to: usize, side: Side) {
        let range = self.cursor.min(to)..self.cursor.max(to);
        let cut = self.text.get(range.clone()).unwrap_or_default().to_owned();
        if cut.is_empty() {
            return;
        }
        let goes_on = self.chain == Chain::Kill;
        self.edit(range, "", Kind::Other);
        match (self.kills.ring.front_mut().filter(|_| goes_on), side) {
            (Some(newest), Side::Before) => newest.insert_str(0, &cut),
            (Some(newest), Side::After) => newest.push_str(&cut),
            (None, _) => self.kills.ring.push_front(cut),
        }
        self.kills.ring.truncate(MOST_KILLS);
        self.chain = Chain::Kill;
    }

    /// Puts back what was cut last.
    pub fn yank(&mut self) {
        let Some(newest) = self.kills.ring.front().cloned() else {
            return;
        };
        let start = self.cursor;
        self.edit(start..start, &newest, Kind::Other);
        self.chain = Chain::Yank(start..start + newest.len());
    }

    /// Right after putting back: puts what was cut before that in its place.
    pub fn yank_older(&mut self) {
        let Chain::Yank(range) = self.chain.clone() else {
            return;
        };
        self.kills.ring.rotate_left(1);
        let Some(older) = self.kills.ring.front().cloned() else {
            return;
        };
        let start = range.start;
        self.edit(range, &older, Kind::Other);
        self.chain = Chain::Yank(start..start + older.len());
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

    #[test]
    fn kills_in_a_row_are_put_back_together() {
        let mut buffer = holding("one two three");
        buffer.kill_to_space();
        buffer.kill_to_space();
        assert_eq!(buffer.text(), "one ");
        buffer.yank();
        assert_eq!(buffer.text(), "one two three");
    }

    #[test]
    fn older_kills_are_reached_by_asking_again() {
        let mut buffer = holding("one two");
        buffer.kill_word_left();
        buffer.left();
        buffer.kill_to_line_start();
        assert_eq!(buffer.text(), " ");
        buffer.yank();
        assert_eq!(buffer.text(), "one ");
        buffer.yank_older();
        assert_eq!(buffer.text(), "two ");
        buffer.yank_older();
        assert_eq!(buffer.text(), "one ");
    }

    #[test]
    fn lines_are_cut_to_their_ends_and_then_joined() {
        let mut buffer = holding("ab\ncd");
        buffer.to_start();
        buffer.kill_to_line_end();
        assert_eq!(buffer.text(), "\ncd");
        buffer.kill_to_line_end();
        assert_eq!(buffer.text(), "cd");
        buffer.to_end();
        buffer.kill_to_line_start();
        assert_eq!(buffer.text(), "");
        buffer.yank();
        assert_eq!(buffer.text(), "cd");
    }

    #[test]
    fn a_word_is_cut_up_to_punctuation() {
        let mut buffer = holding("src/main.rs");
        buffer.kill_word_left();
        assert_eq!(buffer.text(), "src/main.");
        buffer.to_start();
        buffer.kill_word_right();
        assert_eq!(buffer.text(), "/main.");
    }
}
