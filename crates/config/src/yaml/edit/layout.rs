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
                let written = &self.text[tree.range.clone()];
                // `|+` keeps its blank lines: they are part of the value.
                let kept = text.ends_with("\n\n") || text == "\n";
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
        self.line_before(tree).chars().count()
    }

    /// The text before a node on its own line.
    pub(super) fn line_before(&self, tree: &Tree) -> &str {
        let start = self.text[..tree.range.start]
            .rfind('\n')
            .map_or(0, |at| at + 1);
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
