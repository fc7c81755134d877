//! A few lines to write in, inside a panel.

use crossterm::event::KeyEvent;
use ratatui::text::{Line, Span};

use super::frame::{Frame, first_shown};
use crate::composer::apply;
use crate::composer::buffer::Buffer;
use crate::composer::keys::{Action, action};
use crate::text::rows::{columns, paint};

/// What is written in a panel may have this many bytes.
pub(super) const LONGEST: usize = 16 * 1024;

/// Wide enough for any line: keys come without the width of the panel.
const WHOLE_LINE: usize = 2 * LONGEST;

/// What a key led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Written {
    Changed,
    Sent,
    Left,
    /// The key has no meaning in a text.
    Other(Option<Action>),
}

/// A text and its cursor.
#[derive(Debug, Clone, Default)]
pub(super) struct Writing {
    buffer: Buffer,
}

impl Writing {
    pub(super) fn new(text: &str) -> Self {
        let mut buffer = Buffer::default();
        buffer.set_text(text);
        Self { buffer }
    }

    pub(super) fn text(&self) -> &str {
        self.buffer.text()
    }

    pub(super) fn insert(&mut self, text: &str) {
        if self.buffer.text().len() + text.len() <= LONGEST {
            self.buffer.insert(text);
        }
    }

    /// A line up; at the first it says no.
    pub(super) fn up(&mut self) -> bool {
        self.buffer.up(WHOLE_LINE)
    }

    /// A line down; at the last it says no.
    pub(super) fn down(&mut self) -> bool {
        self.buffer.down(WHOLE_LINE)
    }

    pub(super) fn key(&mut self, event: KeyEvent) -> Written {
        match action(event) {
            Some(Action::Insert(letter)) => self.insert(letter.encode_utf8(&mut [0; 4])),
            Some(Action::NewLine) => self.insert("\n"),
            Some(Action::Send) => return Written::Sent,
            Some(Action::Escape | Action::Interrupt | Action::Cancel) => return Written::Left,
            Some(other @ (Action::Up | Action::Down | Action::Complete)) => {
                return Written::Other(Some(other));
            }
            Some(other) => apply(&mut self.buffer, other),
            None => return Written::Other(None),
        }
        Written::Changed
    }

    /// Rows behind a label, at most so many, and the cursor in them.
    pub(super) fn rows(
        &self,
        label: &str,
        limit: usize,
        frame: Frame,
    ) -> (Vec<Line<'static>>, (usize, usize)) {
        let indent = if columns(label) * 2 < frame.width {
            columns(label)
        } else {
            0
        };
        let label = if indent > 0 { label } else { "" };
        let inner = frame.width - indent;
        let placed = self.buffer.placed(inner);
        let room = inner.saturating_sub(1).max(1);
        let first = first_shown(placed.row, limit);
        let shown = placed
            .rows
            .iter()
            .enumerate()
            .skip(first)
            .take(limit.max(1));
        let lines = shown.map(|(index, row)| {
            let head = if index == first {
                label.to_owned()
            } else {
                " ".repeat(indent)
            };
            let mut spans = vec![Span::styled(head, frame.theme.accent)];
            spans.extend(paint(self.buffer.text(), row.clone(), room, |_| {
                frame.theme.text
            }));
            Line::from(spans)
        });
        (
            lines.collect(),
            (indent + placed.column, placed.row - first),
        )
    }
}
