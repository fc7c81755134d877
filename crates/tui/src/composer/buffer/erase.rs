//! Taking away and exchanging single graphemes.

use super::Buffer;
use super::undo::Kind;

impl Buffer {
    /// Takes the grapheme in front of the cursor away.
    pub fn backspace(&mut self) {
        self.edit(self.previous_offset()..self.cursor, "", Kind::Erasing);
    }

    /// Takes the grapheme behind the cursor away.
    pub fn delete(&mut self) {
        self.edit(self.cursor..self.next_offset(), "", Kind::Erasing);
    }

    /// Exchanges the two graphemes around the cursor, or the last two at the end of a line.
    pub fn transpose(&mut self) {
        let cursor = self.cursor;
        if cursor == self.line_end_offset() && cursor > self.line_start_offset() {
            self.cursor = self.previous_offset();
        }
        let (start, middle, end) = (self.previous_offset(), self.cursor, self.next_offset());
        self.cursor = cursor;
        let first = self.text.get(start..middle).unwrap_or_default();
        let second = self.text.get(middle..end).unwrap_or_default();
        if first.is_empty() || second.is_empty() || first == "\n" || second == "\n" {
            return;
        }
        let exchanged = format!("{second}{first}");
        self.edit(start..end, &exchanged, Kind::Other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_whole_graphemes_away() {
        let mut buffer = Buffer::default();
        buffer.set_text("ae\u{301}👩‍👩‍👧");
        buffer.backspace();
        assert_eq!(buffer.text(), "ae\u{301}");
        buffer.backspace();
        assert_eq!(buffer.text(), "a");
        buffer.to_start();
        buffer.delete();
        assert!(buffer.is_empty());
        buffer.backspace();
        buffer.delete();
        assert!(buffer.is_empty());
    }

    #[test]
    fn exchanges_neighbours() {
        let mut buffer = Buffer::default();
        buffer.set_text("abc");
        buffer.transpose();
        assert_eq!(buffer.text(), "acb");
        buffer.to_start();
        buffer.transpose();
        assert_eq!(buffer.text(), "acb");
        buffer.right();
        buffer.transpose();
        assert_eq!((buffer.text(), buffer.cursor()), ("cab", 2));
    }
}
