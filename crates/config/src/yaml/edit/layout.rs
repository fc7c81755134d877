//! Where the parts of a file begin and end.

use std::ops::Range;

use super::super::parse::{Kind, Tree};

/// The text of a file and its habits.
pub(super) struct Layout<'a> {
    pub(super) text: &'a str,
    pub(super) newline: &'static str,
    /// How far this file indents a section below its key.
    pub(super) step: usize,
}

impl<'a> Layout<'a> {
    pub(super) fn new(text: &'a str, root: &Tree) -> Self {
        let mut layout = Self {
            text,
            newline: if text.contains("\r\n") { "\r\n" } else { "\n" },
            step: 2,
        };
        layout.step = layout.usual_step(root).unwrap_or(2);
        layout
    }

    /// The end of the line a position is on, behind its newline.
    pub(super) fn line_end(&self, at: usize) -> usize {
        self.text[at..]
            .find('\n')
            .map_or(self.text.len(), |offset| at + offset + 1)
    }

    /// The start of the line a position is on.
    pub(super) fn line_start(&self, at: usize) -> usize {
        self.text[..at].rfind('\n').map_or(0, |newline| newline + 1)
    }

    /// How many characters stand before a position on its line.
    pub(super) fn column_of(&self, at: usize) -> usize {
        let before = &self.text[self.line_start(at)..at];
        before.trim_start_matches('\u{feff}').chars().count()
    }

    /// The position behind the colon of a key; `None` for the `? key` notation.
    pub(super) fn after_colon(&self, key: &Tree) -> Option<usize> {
        let rest = &self.text[key.range.end..];
        let gap = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        rest[gap..]
            .starts_with(':')
            .then_some(key.range.end + gap + 1)
    }

    /// Where the written part of an entry ends.
    pub(super) fn entry_end(&self, key: &Tree, value: &Tree) -> usize {
        let colon = self.after_colon(key).unwrap_or(key.range.end);
        if value.is_empty() {
            // The parser places what is not written behind the comment.
            colon
        } else {
            self.content_end(value).max(colon)
        }
    }

    /// The end of the last line of an entry that begins at `start` and whose written part ends at `end`.
    ///
    /// The comments at the end of a section are part of it. Left behind, they could become text of a block
    /// scalar above them.
    pub(super) fn last_line_end(&self, start: usize, end: usize, value: &Tree) -> usize {
        let column = self.column_of(start);
        let mut at = self.line_end(end);
        let mut last = at;
        if !value.is_block() {
            return last;
        }
        while at < self.text.len() {
            let line = &self.text[at..self.line_end(at)];
            let code = line.trim_start_matches(' ');
            let is_deeper_comment = code.starts_with('#') && line.len() - code.len() > column;
            if !is_deeper_comment && !code.trim().is_empty() {
                break;
            }
            at += line.len();
            if is_deeper_comment {
                last = at;
            }
        }
        last
    }

    /// The start of the first line at or behind `at` that is not blank.
    pub(super) fn behind_blank_lines(&self, at: usize) -> usize {
        self.text[at..]
            .split_inclusive('\n')
            .take_while(|line| line.trim().is_empty())
            .fold(at, |end, line| end + line.len())
    }

    /// Where the written part of a value ends, without the blank lines behind a block scalar.
    pub(super) fn content_end(&self, tree: &Tree) -> usize {
        match &tree.kind {
            Kind::Map {
                entries,
                flow: false,
            } => entries
                .iter()
                .map(|(key, value)| self.entry_end(key, value))
                .max()
                .unwrap_or(tree.range.end),
            Kind::List { items, flow: false } => self
                .dashed_spans(tree, items)
                .last()
                .map_or(tree.range.end, |span| span.end),
            Kind::Scalar {
                block: true, text, ..
            } => {
                let mut written = &self.text[tree.range.clone()];
                // The parser stops behind the indentation of the line after the value.
                if tree.range.end < self.text.len()
                    && let Some(newline) = written.rfind('\n')
                {
                    written = &written[..=newline];
                }
                // `|+` keeps its blank lines: they are part of the value.
                let kept = text.ends_with("\n\n") || text.trim_matches('\n').is_empty();
                let kept = kept && !text.is_empty();
                if !kept && written.trim().is_empty() {
                    // Without any content the value ends with the line of its `|`.
                    return self.text[..tree.range.start].trim_end().len();
                }
                let trimmed = if kept {
                    let line = written.strip_suffix('\n').unwrap_or(written);
                    line.strip_suffix('\r').unwrap_or(line)
                } else {
                    written.trim_end()
                };
                tree.range.start + trimmed.len()
            }
            Kind::Scalar { .. } | Kind::Alias(_) | Kind::Map { .. } | Kind::List { .. } => {
                tree.range.end
            }
        }
    }

    /// The indentation of a node that is the first on its line.
    pub(super) fn column(&self, tree: &Tree) -> usize {
        self.column_of(tree.range.start)
    }

    /// The text before a node on its own line.
    pub(super) fn line_before(&self, tree: &Tree) -> &str {
        let start = self.line_start(tree.range.start);
        self.text[start..tree.range.start].trim_start_matches('\u{feff}')
    }

    /// Each item of a block list from its dash to its end.
    pub(super) fn dashed_spans(&self, list: &Tree, items: &[Tree]) -> Vec<Range<usize>> {
        let mut from = list.range.start;
        let mut spans = Vec::with_capacity(items.len());
        for item in items {
            // Between two items there are only blank lines and comments.
            let mut dash = from;
            for line in self.text[from..].split_inclusive('\n') {
                let code = line.trim_start_matches([' ', '\t']);
                if code.starts_with('-') {
                    dash += line.len() - code.len();
                    break;
                }
                dash += line.len();
            }
            let end = if item.is_empty() {
                dash + 1
            } else {
                self.content_end(item).max(dash + 1)
            };
            let end = end.min(self.text.len());
            spans.push(dash.min(end)..end);
            from = self.line_end(end);
        }
        spans
    }

    /// The indentation of the first section below a key of this file.
    fn usual_step(&self, root: &Tree) -> Option<usize> {
        let Kind::Map {
            entries,
            flow: false,
        } = &root.kind
        else {
            return None;
        };
        entries.iter().find_map(|(key, value)| match &value.kind {
            Kind::Map {
                entries: inner,
                flow: false,
            } => {
                let (first, _) = inner.first()?;
                self.column(first)
                    .checked_sub(self.column(key))
                    .filter(|step| *step > 0)
            }
            Kind::Map { .. } | Kind::List { .. } | Kind::Scalar { .. } | Kind::Alias(_) => None,
        })
    }
}
