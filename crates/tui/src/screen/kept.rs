//! The end of what was written to the terminal's history, to be written again.

use std::collections::VecDeque;

use ratatui::text::Line;

/// More is never kept.
const MOST: usize = 10_000;

/// The last lines of the history.
#[derive(Debug, Default)]
pub(super) struct Kept {
    lines: VecDeque<Line<'static>>,
    most: usize,
}

impl Kept {
    pub(super) fn new(most: usize) -> Self {
        Self {
            lines: VecDeque::new(),
            most: most.min(MOST),
        }
    }

    pub(super) fn push(&mut self, lines: &[Line<'static>]) {
        let fresh = lines.len().saturating_sub(self.most);
        self.lines.extend(lines.iter().skip(fresh).cloned());
        let old = self.lines.len().saturating_sub(self.most);
        self.lines.drain(..old);
    }

    pub(super) fn lines(&mut self) -> &[Line<'static>] {
        self.lines.make_contiguous()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_lines_are_kept() {
        let line = |number: usize| Line::from(number.to_string());
        let mut kept = Kept::new(3);
        kept.push(&[line(1), line(2)]);
        kept.push(&[line(3), line(4)]);
        assert_eq!(kept.lines(), [line(2), line(3), line(4)]);
        kept.push(&(5..20).map(line).collect::<Vec<_>>());
        assert_eq!(kept.lines(), [line(17), line(18), line(19)]);
        let mut none = Kept::new(0);
        none.push(&[line(1)]);
        assert!(none.lines().is_empty());
        assert_eq!(Kept::new(usize::MAX).most, MOST);
    }
}
