//! What tools print.

use std::collections::VecDeque;

use crate::text::{Cleaner, cut};

/// Lines that are kept.
pub(super) const MOST_LINES: usize = 200;
/// A longer line is cut.
const LONGEST_LINE: usize = 4_000;

/// Bytes that are kept of a call that is over.
const MOST_KEPT: usize = 64 * 1024;

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

    /// Nothing is printed any more: keeps the end of what there is.
    pub(crate) fn settle(&mut self) {
        let mut bytes = self.bytes();
        while bytes > MOST_KEPT {
            let Some(line) = self.lines.pop_front() else {
                break;
            };
            bytes -= line.len();
            self.dropped += 1;
        }
        self.lines.shrink_to_fit();
        self.open.shrink_to_fit();
    }

    /// How much it holds.
    pub(crate) fn bytes(&self) -> usize {
        self.lines.iter().map(String::len).sum::<usize>() + self.open.len()
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
    fn what_is_over_keeps_its_end() {
        let mut output = Output::default();
        for number in 0..200 {
            output.push(&format!("{number} {}\n", "x".repeat(1_000)));
        }
        output.settle();
        assert!(output.bytes() <= MOST_KEPT);
        let (last, hidden) = output.last(1);
        assert!(last[0].starts_with("199 "));
        assert_eq!(hidden, 199);
    }

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
