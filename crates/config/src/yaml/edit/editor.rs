//! Which bytes an edit replaces, and with what.

use std::ops::Range;

use super::super::emit::{self, Context};
use super::super::parse::{Kind, Tree};
use super::EditError;
use super::layout::Layout;
use crate::value::{KeyPath, Map, Value};

/// One edit of one path in one text.
pub(super) struct Editor<'a> {
    pub(super) layout: Layout<'a>,
    pub(super) path: &'a KeyPath,
}

/// Where the walk along a path has arrived.
#[derive(Clone, Copy)]
pub(super) struct Place<'t> {
    pub(super) tree: &'t Tree,
    /// The key of the entry, `None` for the document and for list items.
    pub(super) key: Option<&'t Tree>,
    /// Behind the dash of an item of a block list.
    dash: Option<usize>,
    pub(super) in_flow: bool,
}

impl<'t> Place<'t> {
    pub(super) fn root(tree: &'t Tree) -> Self {
        Self {
            tree,
            key: None,
            dash: None,
            in_flow: false,
        }
    }

    fn context(&self) -> Context {
        if self.in_flow {
            Context::Flow
        } else {
            Context::Block
        }
    }
}

impl<'a> Editor<'a> {
    pub(super) fn new(text: &'a str, path: &'a KeyPath, root: &Tree) -> Self {
        Self {
            layout: Layout::new(text, root),
            path,
        }
    }

    pub(super) fn set(&self, root: &Tree, value: &Value) -> Result<String, EditError> {
        if root.is_empty() {
            return Ok(self.append(&self.nested(0, value, 0)));
        }
        let mut place = Place::root(root);
        for (depth, segment) in self.path.segments().enumerate() {
            match &place.tree.kind {
                Kind::Map { entries, flow } => {
                    place.in_flow |= *flow;
                    match find(entries, segment) {
                        Some((name, child)) => (place.key, place.tree) = (Some(name), child),
                        None if place.in_flow => {
                            return self.insert_in_flow(place, entries, depth, value);
                        }
                        None => return self.insert_in_block(entries, depth, value),
                    }
                }
                Kind::List { items, flow } => {
                    let next = segment.parse() == Ok(items.len());
                    if next && depth + 1 == self.path.len() {
                        place.in_flow |= *flow;
                        return self.push(place, items, value);
                    }
                    place = self.item(place, items, *flow, segment).ok_or_else(|| {
                        EditError::NoSuchItem {
                            path: self.path.clone(),
                        }
                    })?;
                }
                Kind::Scalar { .. } if is_null(place.tree) => {
                    let inner = self.wrapped_below(depth, value);
                    return self.replace_value(place, &inner);
                }
                Kind::Scalar { .. } => {
                    return Err(EditError::InsideScalar {
                        path: self.path.prefix(depth),
                    });
                }
                Kind::Alias(_) => {
                    return Err(EditError::Alias {
                        path: self.path.prefix(depth),
                    });
                }
            }
        }
        self.replace_value(place, value)
    }

    /// Puts a new value where an old one stands.
    pub(super) fn replace_value(
        &self,
        place: Place<'_>,
        value: &Value,
    ) -> Result<String, EditError> {
        let old = place.tree;
        let Some(key) = place.key else {
            return self.replace_item(place, value);
        };
        let colon = self.after_colon(key)?;
        let end = self.layout.entry_end(key, old);
        let before = if old.is_empty() {
            ""
        } else {
            &self.layout.text[colon..old.range.start.max(colon)]
        };
        let on_key_line = !before.contains('\n') && !is_block_scalar(old);
        if place.in_flow || (on_key_line && !is_container(value)) {
            // An anchor or a tag before the value belongs to the old one.
            let start = if before.trim().is_empty() && !old.is_empty() {
                old.range.start
            } else {
                colon
            };
            let space = if start == colon { " " } else { "" };
            let text = emit::inline(value, place.context());
            return Ok(self.splice(start..end, &format!("{space}{text}")));
        }
        let line_end = self.layout.line_end(colon);
        let (first_line, rest) = if on_key_line {
            (
                self.layout.text[end..self.layout.line_end(end)].to_owned(),
                end,
            )
        } else {
            (comment_of(&self.layout.text[colon..line_end]), end)
        };
        let tail = self.layout.line_end(rest);
        let mut new = String::new();
        if is_container(value) {
            new.push_str(first_line.trim_end());
            new.push_str(self.layout.newline);
            new.push_str(&emit::below(
                value,
                self.layout.column(key),
                self.layout.step,
                self.layout.newline,
            ));
        } else {
            new.push_str(&format!(" {}", emit::inline(value, Context::Block)));
            new.push_str(first_line.trim_end());
            new.push_str(self.layout.newline);
        }
        Ok(self.splice_lines(colon..tail, new))
    }

    /// Replaces a list item, or the document itself, which has no key to hold on to.
    fn replace_item(&self, place: Place<'_>, value: &Value) -> Result<String, EditError> {
        let old = place.tree;
        let new = emit::inline(value, place.context());
        match (old.is_empty(), place.dash) {
            (true, Some(dash)) => Ok(self.splice(dash..dash, &format!(" {new}"))),
            (false, Some(dash)) if is_block_scalar(old) => {
                let head = &self.layout.text[dash..self.layout.line_end(dash)];
                let range = dash..self.layout.content_end(old);
                Ok(self.splice(range, &format!(" {new}{}", comment_of(head))))
            }
            (false, _) => {
                let range = old.range.start..self.layout.content_end(old);
                Ok(self.splice(range, &new))
            }
            (true, None) => Err(self.unclear()),
        }
    }

    fn insert_in_block(
        &self,
        entries: &[(Tree, Tree)],
        depth: usize,
        value: &Value,
    ) -> Result<String, EditError> {
        let Some((first, _)) = entries.first() else {
            return Err(self.unclear());
        };
        let lines = self.nested(depth, value, self.layout.column(first));
        let end = entries
            .iter()
            .map(|(key, value)| self.layout.entry_end(key, value))
            .max()
            .unwrap_or(self.layout.text.len());
        Ok(self.insert_lines(end, &lines))
    }

    /// Puts lines below the one on which something ends.
    fn insert_lines(&self, end: usize, lines: &str) -> String {
        let at = self.layout.line_end(end);
        let glue = if self.layout.text[..at].ends_with('\n') {
            ""
        } else {
            self.layout.newline
        };
        self.splice(at..at, &format!("{glue}{lines}"))
    }

    /// Puts an item behind the last one of a list.
    fn push(&self, list: Place<'_>, items: &[Tree], value: &Value) -> Result<String, EditError> {
        if list.in_flow {
            let (at, comma) = match items.last() {
                Some(last) => (last.range.end, ", "),
                None => (list.tree.range.start + 1, ""),
            };
            let item = emit::inline(value, Context::Flow);
            return Ok(self.splice(at..at, &format!("{comma}{item}")));
        }
        let spans = self.layout.dashed_spans(list.tree, items);
        let Some(last) = spans.last() else {
            return Err(self.unclear());
        };
        let column = self.layout.column_of(last.start);
        let item = Value::List(vec![value.clone().into()]);
        let lines = emit::below(&item, column, self.layout.step, self.layout.newline);
        Ok(self.insert_lines(last.end, &lines))
    }

    fn insert_in_flow(
        &self,
        place: Place<'_>,
        entries: &[(Tree, Tree)],
        depth: usize,
        value: &Value,
    ) -> Result<String, EditError> {
        // An empty `{}` on a line of its own key reads better as a block.
        if let (true, Some(key)) = (entries.is_empty(), place.key)
            && self.layout.line_before(key).trim().is_empty()
        {
            let inner = self.wrapped_below(depth, value);
            let outside = Place {
                in_flow: false,
                ..place
            };
            return self.replace_value(outside, &inner);
        }
        let (key, inner) = self.wrapped(depth, value);
        let entry = format!(
            "{}: {}",
            emit::quote(&key, Context::Flow),
            emit::inline(&inner, Context::Flow)
        );
        let (at, comma) = match entries.last() {
            Some((key, value)) => (value.range.end.max(key.range.end), ", "),
            None => (place.tree.range.start + 1, ""),
        };
        Ok(self.splice(at..at, &format!("{comma}{entry}")))
    }

    pub(super) fn step<'t>(&self, place: Place<'t>, segment: &str) -> Option<Place<'t>> {
        match &place.tree.kind {
            Kind::Map { entries, flow } => find(entries, segment).map(|(key, tree)| Place {
                tree,
                key: Some(key),
                dash: None,
                in_flow: place.in_flow || *flow,
            }),
            Kind::List { items, flow } => self.item(place, items, *flow, segment),
            Kind::Scalar { .. } | Kind::Alias(_) => None,
        }
    }

    fn item<'t>(
        &self,
        list: Place<'t>,
        items: &'t [Tree],
        flow: bool,
        segment: &str,
    ) -> Option<Place<'t>> {
        let index = segment.parse::<usize>().ok()?;
        let spans = if flow {
            Vec::new()
        } else {
            self.layout.dashed_spans(list.tree, items)
        };
        Some(Place {
            tree: items.get(index)?,
            key: None,
            dash: spans.get(index).map(|span| span.start + 1),
            in_flow: list.in_flow || flow,
        })
    }

    /// The rest of the path from `depth` as block lines ending in `value`.
    fn nested(&self, depth: usize, value: &Value, indent: usize) -> String {
        let (key, inner) = self.wrapped(depth, value);
        emit::entry(&key, &inner, indent, self.layout.step, self.layout.newline)
    }

    /// The key at `depth` and its value, the deeper segments wrapped around it as maps.
    fn wrapped(&self, depth: usize, value: &Value) -> (String, Value) {
        let key = self.path.segments().nth(depth).unwrap_or_default();
        (key.to_owned(), self.wrapped_below(depth + 1, value))
    }

    fn wrapped_below(&self, depth: usize, value: &Value) -> Value {
        let below: Vec<_> = self.path.segments().skip(depth).collect();
        below.iter().rev().fold(value.clone(), |inner, segment| {
            let mut map = Map::new();
            map.insert(*segment, inner.into());
            Value::Map(map)
        })
    }

    fn append(&self, lines: &str) -> String {
        let glue = if self.layout.text.is_empty() || self.layout.text.ends_with('\n') {
            ""
        } else {
            self.layout.newline
        };
        format!("{}{glue}{lines}", self.layout.text)
    }

    pub(super) fn splice(&self, range: Range<usize>, with: &str) -> String {
        let mut text = self.layout.text.to_owned();
        // A stretch that makes no sense changes nothing, which the comparison afterwards notices.
        if range.start <= range.end {
            text.replace_range(range, with);
        }
        text
    }

    /// As `splice`, for whole lines: the last line of a file that does not end in a newline keeps that.
    fn splice_lines(&self, range: Range<usize>, mut with: String) -> String {
        if range.end == self.layout.text.len() && !self.layout.text.ends_with('\n') {
            with.truncate(with.trim_end_matches(['\r', '\n']).len());
        }
        self.splice(range, &with)
    }

    pub(super) fn after_colon(&self, key: &Tree) -> Result<usize, EditError> {
        self.layout
            .after_colon(key)
            .ok_or_else(|| EditError::LongNotation {
                path: self.path.clone(),
                line: key.line,
            })
    }

    pub(super) fn unclear(&self) -> EditError {
        EditError::Unclear {
            path: self.path.clone(),
        }
    }
}

fn find<'t>(entries: &'t [(Tree, Tree)], segment: &str) -> Option<&'t (Tree, Tree)> {
    entries
        .iter()
        .rev()
        .find(|(key, _)| key.key_text() == segment)
}

fn is_null(tree: &Tree) -> bool {
    tree.is_empty()
        || matches!(&tree.kind, Kind::Scalar { text, plain: true, tagged: None, .. }
            if matches!(text.as_str(), "null" | "~" | "Null" | "NULL"))
}

fn is_block_scalar(tree: &Tree) -> bool {
    matches!(tree.kind, Kind::Scalar { block: true, .. })
}

fn is_container(value: &Value) -> bool {
    match value {
        Value::Map(map) => !map.is_empty(),
        Value::List(items) => !items.is_empty(),
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Text(_) => false,
    }
}

/// The comment on a line that otherwise only opens a block, with the space before it.
fn comment_of(line: &str) -> String {
    line.find(" #")
        .map(|at| line[at..].trim_end().to_owned())
        .unwrap_or_default()
}
