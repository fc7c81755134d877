//! Lines of cells, kept while they are near what is seen.

use std::borrow::Cow;
use std::collections::HashMap;
use std::rc::Rc;

use ratatui::text::{Line, Span};

use crate::text::{cut, spans_width, width};
use crate::theme::Theme;

/// Lines that are kept laid out. When there are more, all but the next ones are made again.
const MOST_LINES: usize = 20_000;

/// Cells that are laid out for the width at hand.
#[derive(Debug, Default)]
pub(super) struct Laid {
    cells: HashMap<usize, Rc<[Line<'static>]>>,
    lines: usize,
}

impl Laid {
    pub(super) fn get(&self, number: usize) -> Option<Rc<[Line<'static>]>> {
        self.cells.get(&number).cloned()
    }

    pub(super) fn put(&mut self, number: usize, lines: &Rc<[Line<'static>]>) {
        if self.lines > MOST_LINES {
            self.clear();
        }
        self.lines += lines.len() + 1;
        self.cells.insert(number, Rc::clone(lines));
    }

    pub(super) fn forget(&mut self, number: usize) {
        if let Some(lines) = self.cells.remove(&number) {
            self.lines -= lines.len() + 1;
        }
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.lines
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

/// What stands behind the last cell and still changes, in parts. A long part is borrowed: it is there at every
/// picture, and only a screenful of it is seen.
#[derive(Debug, Default)]
pub(crate) struct Tail<'a>(pub(crate) Vec<Cow<'a, [Line<'static>]>>);

impl Tail<'_> {
    pub(super) fn len(&self) -> usize {
        self.0.iter().map(|part| part.len()).sum()
    }

    pub(super) fn get(&self, mut row: usize) -> Option<&Line<'static>> {
        for part in &self.0 {
            match row.checked_sub(part.len()) {
                Some(rest) => row = rest,
                None => return part.get(row),
            }
        }
        None
    }
}

/// What is seen of a transcript.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    /// As many lines as there are rows, or fewer.
    pub(crate) lines: Vec<Line<'static>>,
    /// Whether there is more below.
    pub(crate) more: bool,
}

/// Puts a time behind the first line, or above it when there is no room.
pub(crate) fn stamped(lines: &mut Vec<Line<'static>>, time: &str, columns: usize, theme: &Theme) {
    let time = crate::text::clean_line(time);
    match lines.first_mut() {
        Some(first) if spans_width(&first.spans) + 2 + width(&time) <= columns => {
            first
                .spans
                .push(Span::styled(format!("  {time}"), theme.faint));
        }
        Some(_) => {
            let above = Line::from(vec![Span::styled(cut(&time, columns), theme.faint)]);
            lines.insert(0, above);
        }
        None => {}
    }
}
