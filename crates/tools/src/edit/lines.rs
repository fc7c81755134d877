//! Where the lines of a text are.

use std::ops::Range;

/// The lines of a text, without their breaks.
pub(super) struct Lines<'t> {
    text: &'t str,
    spans: Vec<Range<usize>>,
}

impl<'t> Lines<'t> {
    /// Cuts a text into lines. A break at the end does not begin another one.
    pub(super) fn new(text: &'t str) -> Self {
        let mut spans = Vec::new();
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', text.as_bytes()) {
            spans.push(start..end);
            start = end + 1;
        }
        if start < text.len() {
            spans.push(start..text.len());
        }
        Self { text, spans }
    }

    pub(super) fn len(&self) -> usize {
        self.spans.len()
    }

    /// A line; nothing after the last one.
    pub(super) fn get(&self, index: usize) -> &'t str {
        self.spans
            .get(index)
            .and_then(|span| self.text.get(span.clone()))
            .unwrap_or_default()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &'t str> + '_ {
        (0..self.len()).map(|index| self.get(index))
    }

    /// The text of these lines, without the last one's break.
    pub(super) fn span(&self, lines: Range<usize>) -> Range<usize> {
        let start = self
            .spans
            .get(lines.start)
            .map_or(self.text.len(), |span| span.start);
        let end = lines
            .end
            .checked_sub(1)
            .and_then(|last| self.spans.get(last))
            .map_or(start, |span| span.end);
        start..end.max(start)
    }
}

/// The number of the line that holds a position, counted from 1.
pub(super) fn line_of(text: &str, at: usize) -> usize {
    let before = text.as_bytes().get(..at).unwrap_or(text.as_bytes());
    memchr::memchr_iter(b'\n', before).count() + 1
}

/// The blanks and tabs a line begins with.
pub(super) fn indent(line: &str) -> &str {
    let rest = line.trim_start_matches([' ', '\t']);
    line.get(..line.len() - rest.len()).unwrap_or_default()
}

/// Whether nothing but blanks is on a line.
pub(super) fn is_blank(line: &str) -> bool {
    trim(line).is_empty()
}

/// A line without blanks around it. Only those of ASCII: others may be half a character in a file of
/// unknown encoding.
pub(super) fn trim(line: &str) -> &str {
    line.trim_matches([' ', '\t', '\r'])
}
