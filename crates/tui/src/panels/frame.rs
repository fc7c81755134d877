//! What panels have in common: a title with a rule, and the room there is.

use std::time::Duration;

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::View;
use crate::Theme;
use crate::text::rows::{block, columns, cut};

/// Room to draw in, and how.
#[derive(Clone, Copy)]
pub(super) struct Frame<'t> {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) left: Option<Duration>,
    pub(super) theme: &'t Theme,
}

impl<'t> Frame<'t> {
    pub(super) fn new(width: u16, height: u16, left: Option<Duration>, theme: &'t Theme) -> Self {
        Self {
            width: usize::from(width).max(1),
            height: usize::from(height).max(1),
            left,
            theme,
        }
    }

    /// The first row: a rule with the title in it, and the time that is left.
    pub(super) fn title(&self, title: &str) -> Line<'static> {
        let left = self
            .left
            .map_or(String::new(), |left| format!(" {} ", in_words(left)));
        let room = self.width.saturating_sub(columns(&left) + 6);
        let title = format!(" {} ", cut(title, room));
        let fill = self
            .width
            .saturating_sub(columns(&title) + columns(&left) + 4);
        if room == 0 {
            return Line::styled("─".repeat(self.width), self.theme.rule);
        }
        let urgent = self
            .left
            .is_some_and(|left| left <= Duration::from_secs(10));
        let clock = if urgent {
            self.theme.warn
        } else {
            self.theme.faint
        };
        Line::from(vec![
            Span::styled("──", self.theme.rule),
            Span::styled(title, self.theme.label),
            Span::styled("─".repeat(fill), self.theme.rule),
            Span::styled(left, clock),
            Span::styled("──", self.theme.rule),
        ])
    }

    /// A text in rows of one style.
    pub(super) fn text(&self, text: &str, limit: usize, style: Style) -> Vec<Line<'static>> {
        let rows = block(text, self.width, limit);
        rows.into_iter()
            .map(|row| Line::styled(row, style))
            .collect()
    }

    /// A row of hints.
    pub(super) fn hint(&self, text: &str) -> Line<'static> {
        Line::styled(cut(text, self.width), self.theme.faint)
    }

    /// The lines as a view, with nothing beyond the room.
    pub(super) fn view(
        &self,
        mut lines: Vec<Line<'static>>,
        cursor: Option<(usize, usize)>,
    ) -> View {
        lines.truncate(self.height);
        let inside = cursor.filter(|(_, y)| *y < lines.len());
        let cursor = inside.and_then(|(x, y)| {
            Some((
                u16::try_from(x.min(self.width - 1)).ok()?,
                u16::try_from(y).ok()?,
            ))
        });
        View { lines, cursor }
    }
}

/// A time that is left, rounded up so that it never says that none is.
fn in_words(left: Duration) -> String {
    let seconds = left.as_secs() + u64::from(left.subsec_nanos() > 0);
    match seconds {
        0..120 => format!("{seconds} s"),
        _ => format!("{} min", seconds.div_ceil(60)),
    }
}

/// Lists that are longer than their room: the first entry shown so that the selected one is.
pub(super) fn first_shown(selected: usize, room: usize) -> usize {
    (selected + 1).saturating_sub(room.max(1))
}
