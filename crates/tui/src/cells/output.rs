//! What tools print.

use std::collections::VecDeque;

use crate::text::{Cleaner, cut};

/// Lines that are kept.
pub(super) const MOST_LINES: usize = 200;
/// A longer line is cut.
const LONGEST_LINE: usize = 4_000;

/// The last lines a tool printed, made safe as they come.
#[derive(Debug, Clone, Default)]
pub struct Output {
    lines: VecDeque<String>,
    open: String,
    cleaner: Cleaner,
    dropped: usize,
}

impl PartialEq for Output {
    fn eq(&self, other: &Self) -> bool {
        (&self.lines, &self.open, self.dropped) == (&other.lines, &other.open, other.dropped)
    }
}

impl Eq for Output {}

impl Output {
    /// Takes the next piece, cut at any place.
    pub fn push(&mut self, chunk: &str) {
        for piece in chunk.split_inclusive('\n') {
            self.cleaner.push(piece, &mut self.open);
            while let Some(end) = self.open.find('\n') {
                let mut line: String = self.open.drain(..=end).collect();
                line.pop();
                self.keep(line);
            }
            if self.open.len() > LONGEST_LINE {
                self.open = cut(&self.open, LONGEST_LINE / 2);
            }
        }
    }

    fn keep(&mut self, line: String) {
        self.lines.push_back(cut(&line, LONGEST_LINE));
        if self.lines.len() > MOST_LINES {
            self.lines.pop_front();
            self.dropped += 1;
        }
    }

    /// The last lines with something in them, the one under way included.
    pub(super) fn last(&self, count: usize) -> (Vec<&str>, usize) {
        let all = self
            .lines
            .iter()
            .map(String::as_str)
            .chain([self.open.as_str()])
            .filter(|line| !line.trim().is_empty());
        let all: Vec<&str> = all.collect();
        let hidden = all.len().saturating_sub(count);
        (
            all.into_iter().skip(hidden).collect(),
            hidden + self.dropped,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neither_lines_nor_their_number_grow_without_end() {
        let mut output = Output::default();
        for _ in 0..1_000 {
            output.push(&"x".repeat(100));
        }
        assert!(output.open.len() <= LONGEST_LINE + 100);
        for _ in 0..1_000 {
            output.push("line\n");
        }
        assert_eq!((output.lines.len(), output.dropped), (MOST_LINES, 800));
    }
}
