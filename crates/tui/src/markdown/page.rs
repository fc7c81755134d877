//! Puts blocks below each other, inside of lists and quotations.

use ratatui::text::{Line, Span};

use crate::text::{Prefix, spans_width, trim_end, wrap_with};

/// A list entry or a quotation around what is put out.
struct Around {
    first: Span<'static>,
    rest: Span<'static>,
    /// No line of it was put out.
    fresh: bool,
}

/// Lines, and what stands around the next ones.
pub(super) struct Page {
    columns: usize,
    lines: Vec<Line<'static>>,
    around: Vec<Around>,
    /// An empty line stands before the next block.
    gap: bool,
}

impl Page {
    pub(super) fn new(columns: usize) -> Self {
        Self {
            columns,
            lines: Vec::new(),
            around: Vec::new(),
            gap: false,
        }
    }

    pub(super) fn into_lines(self) -> Vec<Line<'static>> {
        self.lines
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    pub(super) fn is_outermost(&self) -> bool {
        self.around.is_empty()
    }

    /// Whether the innermost entry or quotation has no line yet.
    pub(super) fn is_fresh(&self) -> bool {
        self.around.last().is_some_and(|around| around.fresh)
    }

    /// Columns for the text of a line.
    pub(super) fn room(&self) -> usize {
        self.columns
            .saturating_sub(spans_width(&self.prefix().rest))
            .max(1)
    }

    /// Begins an entry or a quotation, with what stands before its first line and before the others.
    pub(super) fn enter(&mut self, first: Span<'static>, rest: Span<'static>) {
        self.around.push(Around {
            first,
            rest,
            fresh: true,
        });
    }

    /// Ends it.
    pub(super) fn leave(&mut self) {
        self.around.pop();
    }

    /// The next block stands apart from the one before.
    pub(super) fn part(&mut self) {
        self.gap = true;
    }

    /// The next block follows at once.
    pub(super) fn join(&mut self) {
        self.gap = false;
    }

    /// Puts out the lines of a block.
    pub(super) fn put(&mut self, lines: &[Line<'static>]) {
        if std::mem::take(&mut self.gap) && !self.lines.is_empty() {
            let shown = self.around.iter().filter(|around| !around.fresh);
            let mut spans: Vec<Span<'static>> = shown.map(|around| around.rest.clone()).collect();
            trim_end(&mut spans);
            self.lines.push(Line::from(spans));
        }
        for line in lines {
            let prefix = self.prefix();
            self.lines.extend(wrap_with(line, self.columns, &prefix));
            for around in &mut self.around {
                around.fresh = false;
            }
        }
    }

    fn prefix(&self) -> Prefix {
        // However deep it is nested, half of the width stays for the text.
        let mut from = self.around.len();
        let mut taken = 0;
        for around in self.around.iter().rev() {
            taken += spans_width(std::slice::from_ref(&around.rest));
            if taken > self.columns / 2 {
                break;
            }
            from -= 1;
        }
        let shown = self.around.iter().skip(from);
        let first = shown.clone().map(|around| {
            if around.fresh {
                &around.first
            } else {
                &around.rest
            }
        });
        Prefix {
            first: first.cloned().collect(),
            rest: shown.map(|around| around.rest.clone()).collect(),
        }
    }
}
