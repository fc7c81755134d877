//! Taking one entry out of a text.

use std::ops::Range;

use super::super::parse::{Kind, Tree, is_merge};
use super::EditError;
use super::comments;
use super::editor::{Editor, Place};
use crate::value::Value;

/// What becomes of the blank lines behind an entry.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum BlankLines {
    Stay,
    /// Behind a `|+` above the entry they would become part of its text.
    Go,
}

impl Editor<'_> {
    /// The text without the entry. Of an entry that stands twice, the later one is taken out.
    pub(super) fn remove(&self, root: &Tree, blank: BlankLines) -> Result<String, EditError> {
        let (parent, last) = self.path.split_last().ok_or_else(|| self.unclear())?;
        let mut place = Place::root(root);
        for (depth, segment) in parent.segments().enumerate() {
            place = self
                .step(place, segment)
                .ok_or_else(|| self.out_of_reach(place, depth))?;
        }
        match &place.tree.kind {
            Kind::Map { entries, .. } => {
                let index = entries
                    .iter()
                    .rposition(|(key, _)| key.key_text() == last)
                    .ok_or_else(|| self.out_of_reach(place, parent.len()))?;
                let spans: Vec<_> = entries
                    .iter()
                    .map(|(key, value)| key.range.start..self.layout.entry_end(key, value))
                    .collect();
                let value = entries.get(index).map(|(_, value)| value);
                self.remove_entry(root, place.tree, &spans, (index, value), blank)
            }
            Kind::List { items, flow } => {
                let index = last.parse::<usize>().map_err(|_| self.unclear())?;
                let spans = if *flow {
                    items.iter().map(|item| item.range.clone()).collect()
                } else {
                    self.layout.dashed_spans(place.tree, items)
                };
                match spans.as_slice() {
                    [only] if !*flow => self.empty_list(place, only),
                    _ => self.remove_entry(
                        root,
                        place.tree,
                        &spans,
                        (index, items.get(index)),
                        blank,
                    ),
                }
            }
            Kind::Scalar { .. } | Kind::Alias(_) => Err(self.out_of_reach(place, parent.len())),
        }
    }

    /// Why a path that has a value has no entry of its own in the text.
    fn out_of_reach(&self, place: Place<'_>, depth: usize) -> EditError {
        match &place.tree.kind {
            Kind::Alias(_) => EditError::Alias {
                path: self.path.prefix(depth),
            },
            Kind::Map { entries, .. } if entries.iter().any(|(key, _)| is_merge(key)) => {
                EditError::Merged {
                    path: self.path.clone(),
                }
            }
            Kind::Map { .. } | Kind::List { .. } | Kind::Scalar { .. } => self.unclear(),
        }
    }

    /// A list that loses its only item becomes `[]` on the line of its key; what else stands there stays.
    fn empty_list(&self, list: Place<'_>, item: &Range<usize>) -> Result<String, EditError> {
        let Some(key) = list.key else {
            return self.replace_value(list, &Value::List(Vec::new()));
        };
        let colon = self.after_colon(key)?;
        let text = self.layout.text;
        let start = self.layout.line_start(item.start);
        let end = self.layout.line_end(item.end);
        let (Some(head), Some(between)) = (text.get(..colon), text.get(colon..start)) else {
            return self.replace_value(list, &Value::List(Vec::new()));
        };
        let tail = &text[end..];
        Ok(format!("{head} []{between}{tail}"))
    }

    fn remove_entry(
        &self,
        root: &Tree,
        parent: &Tree,
        spans: &[Range<usize>],
        (index, value): (usize, Option<&Tree>),
        blank: BlankLines,
    ) -> Result<String, EditError> {
        let value = value.ok_or_else(|| self.unclear())?;
        let span = spans.get(index).cloned().ok_or_else(|| self.unclear())?;
        let next = spans.get(index + 1);
        let previous = index.checked_sub(1).and_then(|index| spans.get(index));
        if !parent.is_block() {
            let range = match (previous, next) {
                (_, Some(next)) => span.start..next.start,
                (Some(previous), None) => previous.end..span.end,
                (None, None) => parent.range.start + 1..parent.range.end - 1,
            };
            let kept = self.comments_within(root, &range, self.layout.column_of(span.start));
            return Ok(self.splice(range, &kept));
        }
        let line_start = self.layout.line_start(span.start);
        let before = self.layout.text[line_start..span.start].trim_start_matches('\u{feff}');
        if before.trim().is_empty() {
            let start = span.start - before.len();
            let mut end = self.layout.last_line_end(span.start, span.end, value);
            if blank == BlankLines::Go {
                end = self.layout.behind_blank_lines(end);
            }
            return Ok(self.splice(start..end, ""));
        }
        // The first key of a map inside a list item shares its line with the dash.
        match next {
            Some(next) => {
                let behind = self.layout.line_end(span.end).min(next.start);
                let kept = self.comments_within(
                    root,
                    &(behind..next.start),
                    self.layout.column_of(span.start),
                );
                Ok(self.splice(span.start..next.start, &kept))
            }
            None => Ok(self.splice(span, "{}")),
        }
    }

    /// The comments of a stretch that is taken out, as they can stand in its place.
    fn comments_within(&self, root: &Tree, range: &Range<usize>, column: usize) -> String {
        let text = self.layout.text;
        let newline = self.layout.newline;
        let indent = " ".repeat(column);
        let found: Vec<_> = comments::ranges(&self.layout, root)
            .into_iter()
            .filter(|comment| comment.start >= range.start && comment.end <= range.end)
            .map(|comment| &text[comment])
            .collect();
        if found.is_empty() {
            return String::new();
        }
        let space = if text[..range.start].ends_with([' ', '\n']) {
            ""
        } else {
            " "
        };
        let joined = found.join(&format!("{newline}{indent}"));
        // A comment hides the rest of its line.
        let end = if text[range.end..].starts_with(['\n', '\r']) {
            String::new()
        } else {
            format!("{newline}{indent}")
        };
        format!("{space}{joined}{end}")
    }
}
