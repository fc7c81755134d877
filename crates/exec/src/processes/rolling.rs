//! The newest output of a process.

/// Most characters kept.
const MOST_CHARS: usize = 200_000;
/// Longest word that is left out whole when its beginning is forgotten.
const LONGEST_WORD: usize = 4_096;

/// Text that forgets its beginning.
#[derive(Debug, Default)]
pub(super) struct Rolling {
    text: String,
    chars: usize,
    forgotten: bool,
}

/// A part of the lines there are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Lines {
    pub(super) text: String,
    pub(super) total: usize,
    pub(super) first: usize,
    pub(super) count: usize,
}

impl Rolling {
    pub(super) fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.chars += text.chars().count();
        // Half as much again may gather, so that forgetting is rare.
        if self.chars > MOST_CHARS + MOST_CHARS / 2 {
            let end = self.after_word(self.boundary(MOST_CHARS));
            self.text.drain(..end);
            self.chars = self.text.chars().count();
            self.forgotten = true;
        }
    }

    /// Whether the beginning is gone.
    pub(super) fn has_forgotten(&self) -> bool {
        self.forgotten
    }

    /// The last so many characters, without a word that begins before them.
    pub(super) fn words(&self, chars: usize) -> &str {
        let start = self.boundary(chars);
        let start = if start == 0 {
            0
        } else {
            self.after_word(start)
        };
        self.text.split_at(start).1
    }

    /// Where the word at a place ends, so that half a key is never all that is left of it. A word that does not
    /// end soon is none.
    fn after_word(&self, start: usize) -> usize {
        let rest = self.text.split_at(start).1;
        let mut ends = rest.char_indices().take(LONGEST_WORD);
        let end = ends.find(|(_, character)| character.is_whitespace());
        end.map_or(start, |(place, _)| start + place)
    }

    /// Where the last so many characters begin.
    fn boundary(&self, chars: usize) -> usize {
        match chars.checked_sub(1) {
            None => self.text.len(),
            Some(back) => self
                .text
                .char_indices()
                .rev()
                .nth(back)
                .map_or(0, |(place, _)| place),
        }
    }

    /// Everything that is kept.
    pub(super) fn kept(&self) -> &str {
        self.words(MOST_CHARS)
    }
}

impl Lines {
    /// `limit` lines of a text from `offset` on; the last ones when it is 0.
    pub(super) fn of(kept: &str, offset: usize, limit: usize) -> Self {
        let total = kept.lines().count();
        let first = match offset {
            0 => total.saturating_sub(limit),
            offset => offset.min(total),
        };
        let lines: Vec<&str> = kept.lines().skip(first).take(limit).collect();
        Self {
            text: lines.join("\n"),
            total,
            first,
            count: lines.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_newest_characters() {
        let mut rolling = Rolling::default();
        for number in 0..100_000 {
            rolling.push(&format!("ä{number}\n"));
        }
        assert!(rolling.has_forgotten());
        assert!(rolling.text.chars().count() <= MOST_CHARS * 3 / 2);
        assert_eq!(rolling.words(8), "\nä99999\n");
        assert_eq!(rolling.words(10), "\nä99999\n");
        assert!(rolling.kept().chars().count() > MOST_CHARS - 10);
    }

    // EX-14
    #[test]
    fn lines_are_paged() {
        let mut rolling = Rolling::default();
        rolling.push("a\nb\nc\nd\n");
        let page = |offset, limit| {
            let lines = Lines::of(rolling.kept(), offset, limit);
            (lines.text, lines.total, lines.first)
        };
        assert_eq!(page(0, 2), ("c\nd".to_owned(), 4, 2));
        assert_eq!(page(1, 2), ("b\nc".to_owned(), 4, 1));
        assert_eq!(page(9, 2), (String::new(), 4, 4));
    }
}
