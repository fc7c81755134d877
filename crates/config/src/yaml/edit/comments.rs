//! The comments of a text, and which entry each of them explains.

use std::ops::Range;

use super::super::parse::{Kind, Tree};
use super::EditError;
use super::editor::Editor;
use super::layout::Layout;
use crate::value::KeyPath;

/// A comment that was taken out with the entry it explains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Note {
    pub(crate) path: KeyPath,
    pub(crate) place: NotePlace,
    /// From the `#` to the end of the line.
    pub(crate) text: String,
}

/// Where a comment stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotePlace {
    /// On a line of its own directly above the entry.
    Above,
    /// Behind the entry, on its line.
    Beside,
}

/// Where every comment is, without the end of its line.
pub(super) fn ranges(layout: &Layout<'_>, root: &Tree) -> Vec<Range<usize>> {
    let mut scalars = Vec::new();
    collect_scalars(layout, root, &mut scalars);
    scalars.sort_by_key(|range| range.start);
    let mut scalars = scalars.into_iter().peekable();
    let mut found: Vec<Range<usize>> = Vec::new();
    for (at, _) in layout.text.match_indices('#') {
        while scalars.next_if(|scalar| scalar.end <= at).is_some() {}
        let in_scalar = scalars.peek().is_some_and(|scalar| scalar.contains(&at));
        let in_comment = found.last().is_some_and(|comment| comment.contains(&at));
        let before = &layout.text[..at];
        let begins = before.is_empty() || before.ends_with([' ', '\t', '\n', '\r', '\u{feff}']);
        if begins && !in_scalar && !in_comment {
            let line = &layout.text[at..layout.line_end(at)];
            found.push(at..at + line.trim_end().len());
        }
    }
    found
}

fn collect_scalars(layout: &Layout<'_>, tree: &Tree, found: &mut Vec<Range<usize>>) {
    match &tree.kind {
        Kind::Scalar { .. } => {
            let end = layout.content_end(tree);
            if tree.range.start < end {
                found.push(tree.range.start..end);
            }
        }
        Kind::Alias(_) => {}
        Kind::List { items, .. } => {
            for item in items {
                collect_scalars(layout, item, found);
            }
        }
        Kind::Map { entries, .. } => {
            for (key, value) in entries {
                collect_scalars(layout, key, found);
                collect_scalars(layout, value, found);
            }
        }
    }
}

/// An entry in block style and where its key or dash is.
struct Entry {
    path: KeyPath,
    start: usize,
}

fn collect_entries(layout: &Layout<'_>, tree: &Tree, path: &KeyPath, found: &mut Vec<Entry>) {
    let mut push = |name: &str, start, child| {
        let path = path.child(name);
        found.push(Entry {
            path: path.clone(),
            start,
        });
        collect_entries(layout, child, &path, found);
    };
    match &tree.kind {
        Kind::Map {
            entries,
            flow: false,
        } => {
            for (key, value) in entries {
                push(key.key_text(), key.range.start, value);
            }
        }
        Kind::List { items, flow: false } => {
            let spans = layout.dashed_spans(tree, items);
            for (index, (item, span)) in items.iter().zip(spans).enumerate() {
                push(&index.to_string(), span.start, item);
            }
        }
        Kind::Map { .. } | Kind::List { .. } | Kind::Scalar { .. } | Kind::Alias(_) => {}
    }
}

/// A comment with the entry it explains, if that can be told.
struct Comment {
    range: Range<usize>,
    explains: Option<(KeyPath, NotePlace)>,
}

fn explained(layout: &Layout<'_>, root: &Tree) -> Vec<Comment> {
    let mut entries = Vec::new();
    collect_entries(layout, root, &KeyPath::root(), &mut entries);
    let on_line = |start: usize, end: usize| {
        entries
            .iter()
            .filter(move |entry| entry.start >= start && entry.start < end)
    };
    let mut found: Vec<Comment> = Vec::new();
    for range in ranges(layout, root).into_iter().rev() {
        let (start, end) = (layout.line_start(range.start), layout.line_end(range.start));
        let is_alone = layout.text[start..range.start]
            .trim_matches(['\u{feff}', ' ', '\t'])
            .is_empty();
        let explains = if is_alone {
            let column = layout.column_of(range.start);
            // The first entry of the next line, or what the comment on that line explains.
            let below = on_line(end, layout.line_end(end))
                .next()
                .filter(|entry| layout.column_of(entry.start) == column)
                .map(|entry| entry.path.clone());
            let next = found.last().filter(|next| {
                layout.line_start(next.range.start) == end
                    && layout.column_of(next.range.start) == column
            });
            let path = match (below, next.and_then(|next| next.explains.as_ref())) {
                (Some(path), _) => Some(path),
                (None, Some((path, NotePlace::Above))) => Some(path.clone()),
                (None, _) => None,
            };
            path.map(|path| (path, NotePlace::Above))
        } else {
            on_line(start, end)
                .next_back()
                .map(|entry| (entry.path.clone(), NotePlace::Beside))
        };
        found.push(Comment { range, explains });
    }
    found.reverse();
    found
}

impl Editor<'_> {
    /// Takes an entry out together with the comments that `moves` says go elsewhere. The other comments
    /// inside it stay where it was. `None` when the entry does not stand on lines of its own.
    pub(super) fn pull(
        &self,
        root: &Tree,
        moves: &dyn Fn(&KeyPath) -> bool,
    ) -> Option<(String, Vec<Note>)> {
        let (key, value) = self.block_entry(root, self.path)?;
        let layout = &self.layout;
        let mut start = layout.line_start(key.range.start);
        if layout.text[start..].starts_with('\u{feff}') {
            start += '\u{feff}'.len_utf8();
        }
        let end = layout.entry_end(key, value);
        let end = layout.last_line_end(key.range.start, end, value);
        let indent = " ".repeat(layout.column(key));
        let mut notes = Vec::new();
        let mut left = String::new();
        for comment in explained(layout, root).into_iter().rev() {
            let inside = comment.range.start >= start && comment.range.start < end;
            let text = layout.text[comment.range.clone()].to_owned();
            match comment.explains {
                Some((path, place)) if (inside || path == *self.path) && moves(&path) => {
                    start = start.min(layout.line_start(comment.range.start));
                    notes.push(Note { path, place, text });
                }
                Some(_) | None if inside => {
                    left = format!("{indent}{text}{}{left}", layout.newline);
                }
                Some(_) | None => {}
            }
        }
        notes.reverse();
        Some((self.splice(start..end, &left), notes))
    }

    /// Puts a comment at an entry, above it when there is no room beside it.
    pub(super) fn annotate(
        &self,
        root: &Tree,
        place: NotePlace,
        comment: &str,
    ) -> Result<String, EditError> {
        let layout = &self.layout;
        // An entry inside brackets has no line; the entry around it does.
        let (key, value) = (1..=self.path.len())
            .rev()
            .find_map(|length| self.block_entry(root, &self.path.prefix(length)))
            .ok_or_else(|| self.unclear())?;
        let start = layout.line_start(key.range.start);
        let end = layout.line_end(key.range.start);
        let line = layout.text[start..end].trim_end();
        let taken = ranges(layout, root)
            .iter()
            .any(|comment| comment.start >= start && comment.start < end);
        let goes_on = matches!(value.kind, Kind::Scalar { block: false, .. })
            && layout.entry_end(key, value) > end;
        if place == NotePlace::Beside && !taken && !goes_on {
            let at = start + line.len();
            return Ok(self.splice(at..at, &format!(" {comment}")));
        }
        let at = key.range.start;
        let indent = " ".repeat(layout.column(key));
        Ok(self.splice(at..at, &format!("{comment}{}{indent}", layout.newline)))
    }

    /// The entry at a path when it is the first thing on its line.
    fn block_entry<'t>(&self, root: &'t Tree, path: &KeyPath) -> Option<(&'t Tree, &'t Tree)> {
        let mut place = super::editor::Place::root(root);
        for segment in path.segments() {
            place = self.step(place, segment)?;
        }
        let key = place.key.filter(|_| !place.in_flow)?;
        let alone = self.layout.line_before(key).trim().is_empty();
        alone.then_some((key, place.tree))
    }
}
