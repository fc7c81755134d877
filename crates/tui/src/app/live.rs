//! What the live area shows.

use std::time::Duration;

use ratatui::text::{Line, Span};

use super::App;
use crate::screen::Live;
use crate::status::{self, StatusLine};
use crate::text::{clean_line, cut};

/// Rows the live area leaves to what is above it.
const LEFT_ABOVE: usize = 1;

impl App {
    /// The live area at this time, in no more than the rows there are.
    pub fn live(&self, now: Duration) -> Live {
        let (columns, rows) = self.size;
        let width = self.columns();
        let room = usize::from(rows).saturating_sub(LEFT_ABOVE).max(1);
        let status = self.status_line(now);
        let below = usize::from(status.is_some());
        // The part that is written in comes first; everything else gives way to it.
        let mut input = self.input_lines(columns, room.saturating_sub(below).max(1));
        let cut_off = input.lines.len().saturating_sub(room);
        input.lines.drain(..cut_off);
        let above = room.saturating_sub(below + input.lines.len());
        let mut lines = self.above(now, width);
        let start = lines.len().saturating_sub(above);
        lines.drain(..start);
        let first = u16::try_from(lines.len()).unwrap_or_default();
        let lost = u16::try_from(cut_off).unwrap_or_default();
        let cursor = input
            .cursor
            .map(|(column, row)| (first + row.saturating_sub(lost), column));
        lines.extend(input.lines);
        lines.extend(status.filter(|_| lines.len() < room.max(2)));
        Live { lines, cursor }
    }

    fn above(&self, now: Duration, width: usize) -> Vec<Line<'static>> {
        let mut lines = Vec::new();
        if let Some(turn) = &self.turn {
            lines.extend(turn.lines(now, width, self.reasoning_fold(), &self.theme));
            let elapsed = now.saturating_sub(turn.started);
            if turn.stream.is_none() || !turn.tools.is_empty() {
                let activity = turn.activity();
                lines.push(activity.line(self.ticks, elapsed, width, &self.theme));
            }
        }
        for (text, _) in &self.waiting {
            let waits = cut(&format!("⋯ {}", clean_line(text)), width);
            lines.push(Line::from(Span::styled(waits, self.theme.faint)));
        }
        lines
    }

    /// The panel in front, or the composer with its popup.
    fn input_lines(&self, columns: u16, room: usize) -> crate::composer::View {
        let height = u16::try_from(room).unwrap_or(u16::MAX);
        if let Some(view) = self.panels.view(columns, height, &self.theme) {
            return view;
        }
        let mut view = self.composer.view(columns, &self.theme);
        let popup = self.composer.popup(columns, &self.theme);
        let popup_rows = room.saturating_sub(view.lines.len() + 1).min(popup.len());
        view.lines.extend(popup.into_iter().take(popup_rows));
        if view.lines.len() < room {
            // Short of the edge: a full line would be broken by a terminal that becomes narrower.
            let length = usize::from(columns).saturating_sub(1).min(60);
            let rule = Line::from(Span::styled("─".repeat(length), self.theme.rule));
            view.lines.insert(0, rule);
            view.cursor = view.cursor.map(|(column, row)| (column, row + 1));
        }
        view
    }

    fn status_line(&self, now: Duration) -> Option<Line<'static>> {
        let mut status: StatusLine = self.status.clone()?;
        status.session = now;
        if let Some(turn) = &self.turn {
            let elapsed = now.saturating_sub(turn.started);
            status.turn = Some(status::Turn::Running(elapsed));
        }
        Some(status.line(self.columns().saturating_sub(1).max(1), &self.theme))
    }
}
