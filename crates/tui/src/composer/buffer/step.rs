//! Moving by graphemes, words and lines.

use unicode_segmentation::{GraphemeCursor, UnicodeSegmentation};

use super::Buffer;

impl Buffer {
    /// One grapheme back.
    pub fn left(&mut self) {
        self.moved(self.previous_offset());
    }

    /// One grapheme on.
    pub fn right(&mut self) {
        self.moved(self.next_offset());
    }

    /// To the start of the word.
    pub fn word_left(&mut self) {
        self.moved(self.word_left_offset());
    }

    /// Behind the word.
    pub fn word_right(&mut self) {
        self.moved(self.word_right_offset());
    }

    /// To the start of the line.
    pub fn line_start(&mut self) {
        self.moved(self.line_start_offset());
    }

    /// To the end of the line.
    pub fn line_end(&mut self) {
        self.moved(self.line_end_offset());
    }

    /// To the start of the text.
    pub fn to_start(&mut self) {
        self.moved(0);
    }

    /// To the end of the text.
    pub fn to_end(&mut self) {
        self.moved(self.text.len());
    }

    pub(super) fn previous_offset(&self) -> usize {
        let mut place = GraphemeCursor::new(self.cursor, self.text.len(), true);
        place
            .prev_boundary(&self.text, 0)
            .ok()
            .flatten()
            .unwrap_or(0)
    }

    pub(super) fn next_offset(&self) -> usize {
        let mut place = GraphemeCursor::new(self.cursor, self.text.len(), true);
        place
            .next_boundary(&self.text, 0)
            .ok()
            .flatten()
            .unwrap_or(self.text.len())
    }

    pub(super) fn line_start_offset(&self) -> usize {
        self.before().rfind('\n').map_or(0, |at| at + 1)
    }

    pub(super) fn line_end_offset(&self) -> usize {
        self.after()
            .find('\n')
            .map_or(self.text.len(), |at| self.cursor + at)
    }

    pub(super) fn word_left_offset(&self) -> usize {
        self.back_over(|grapheme| !is_word(grapheme), is_word)
    }

    pub(super) fn space_left_offset(&self) -> usize {
        self.back_over(is_space, |grapheme| !is_space(grapheme))
    }

    /// Back over what is `skipped`, then over what is `taken`.
    fn back_over(&self, skipped: impl Fn(&str) -> bool, taken: impl Fn(&str) -> bool) -> usize {
        let before = self.before();
        let mut skipping = true;
        for (at, grapheme) in before.grapheme_indices(true).rev() {
            skipping = skipping && skipped(grapheme);
            if !skipping && !taken(grapheme) {
                return at + grapheme.len();
            }
        }
        0
    }

    pub(super) fn word_right_offset(&self) -> usize {
        let mut skipping = true;
        for (at, grapheme) in self.after().grapheme_indices(true) {
            skipping = skipping && !is_word(grapheme);
            if !skipping && !is_word(grapheme) {
                return self.cursor + at;
            }
        }
        self.text.len()
    }
}

fn is_word(grapheme: &str) -> bool {
    grapheme
        .chars()
        .next()
        .is_some_and(|first| first.is_alphanumeric() || first == '_')
}

fn is_space(grapheme: &str) -> bool {
    grapheme.chars().next().is_some_and(char::is_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_over_graphemes_words_and_lines() {
        let mut buffer = Buffer::default();
        buffer.set_text("né 👩‍👩‍👧 two\nthree_four, five");
        buffer.word_left();
        assert_eq!(buffer.after(), "five");
        buffer.word_left();
        assert_eq!(buffer.after(), "three_four, five");
        buffer.left();
        buffer.line_start();
        assert_eq!(buffer.cursor(), 0);
        buffer.word_right();
        assert_eq!(buffer.before(), "né");
        buffer.right();
        buffer.right();
        assert_eq!(buffer.before(), "né 👩‍👩‍👧");
        buffer.line_end();
        assert!(buffer.after().starts_with('\n'));
        buffer.to_end();
        assert_eq!(buffer.after(), "");
    }
}
