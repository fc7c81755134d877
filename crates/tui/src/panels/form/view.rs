//! How a form looks.

use hermes_core::FieldKind;
use ratatui::text::{Line, Span};

use super::super::View;
use super::super::frame::{Frame, first_shown};
use super::{Entry, Form, State};
use crate::text::rows::{columns, cut, fit};

/// What keys do, and the same in short where that is too long.
const KEYS: &str = "Tab and Shift+Tab move, space and arrows choose, Enter decides, Esc cancels.";
const FEWEST_KEYS: &str = "Tab moves, Enter decides, Esc cancels.";

impl Form {
    pub(in crate::panels) fn view(&self, frame: Frame) -> View {
        let mut lines = vec![frame.title(&self.title)];
        // Two that end it, a row for what is said about a field and one for the keys.
        let needed = self.entries.len() + 4;
        let for_text = frame.height.saturating_sub(1 + needed).clamp(1, 4);
        if frame.height > 4 {
            lines.extend(frame.text(&self.text, for_text, frame.theme.text));
        }
        let said = self.said(frame);
        let keys = [KEYS, FEWEST_KEYS]
            .into_iter()
            .find(|keys| columns(keys) <= frame.width);
        let keys = keys.unwrap_or(FEWEST_KEYS);
        // The keys give way to what is said about a field where there is no row for both.
        let both = lines.len() + self.entries.len() + 4 <= frame.height;
        let keys = (both || said.is_none()).then(|| frame.hint(keys));
        let end: Vec<Line<'static>> = said.into_iter().chain(keys).collect();
        let room = frame.height.saturating_sub(lines.len() + end.len()).max(1);
        let labels = self.entries.iter().map(|entry| columns(&entry.label()));
        let label = labels.max().unwrap_or(0).min(frame.width / 2);
        let first = first_shown(self.at, room);
        let mut cursor = None;
        for (index, entry) in self.entries.iter().enumerate().skip(first).take(room) {
            let (line, column) = entry.row(index == self.at, label, frame);
            cursor = cursor.or(column.map(|column| (column, lines.len())));
            lines.push(line);
        }
        for (index, label) in [
            (self.entries.len(), "Send"),
            (self.entries.len() + 1, "Decline"),
        ] {
            if !(first..first + room).contains(&index) {
                continue;
            }
            let (mark, style) = match self.at == index {
                true => ("›", frame.theme.selected),
                false => (" ", frame.theme.accent),
            };
            let label = format!("{mark} {label}");
            lines.push(Line::styled(cut(&label, frame.width), style));
        }
        lines.truncate(frame.height.saturating_sub(end.len()).max(1));
        lines.extend(end);
        frame.view(lines, cursor)
    }

    /// What there is to say about the field being written.
    fn said(&self, frame: Frame) -> Option<Line<'static>> {
        let entry = self.entries.get(self.at)?;
        let (text, style) = match &entry.complaint {
            Some(complaint) => (
                format!("{} {complaint}", entry.field.label),
                frame.theme.bad,
            ),
            None => (entry.about(), frame.theme.text),
        };
        (!text.is_empty()).then(|| Line::styled(cut(&text, frame.width), style))
    }
}

impl Entry {
    /// What there is to know about the field, and what it takes where that is a list.
    fn about(&self) -> String {
        let several = matches!(self.field.kind, FieldKind::Several { .. });
        let labels = self.field.options().iter().filter(|_| several);
        let labels: Vec<&str> = labels.map(|option| option.label.as_str()).collect();
        match (labels.is_empty(), self.field.about.is_empty()) {
            (true, _) => self.field.about.clone(),
            (false, true) => format!("Some of: {}", labels.join(", ")),
            (false, false) => format!("{} Some of: {}", self.field.about, labels.join(", ")),
        }
    }

    fn label(&self) -> String {
        let star = if self.field.required { "*" } else { "" };
        format!("{}{star}", self.field.label)
    }

    /// The row, and the cursor's column where something is written.
    fn row(&self, current: bool, label: usize, frame: Frame) -> (Line<'static>, Option<usize>) {
        let mark = if current { "› " } else { "  " };
        let sign = if self.complaint.is_some() { "!" } else { " " };
        let head = cut(
            &format!("{mark}{} {sign} ", fit(&self.label(), label)),
            frame.width,
        );
        let start = columns(&head);
        let room = frame.width.saturating_sub(start);
        let style = if self.complaint.is_some() {
            frame.theme.bad
        } else {
            frame.theme.label
        };
        let mut spans = vec![Span::styled(head, style)];
        let mut column = None;
        match &self.state {
            State::Text(writing) if current && room > 1 => {
                let inner = Frame {
                    width: room,
                    ..frame
                };
                let (mut rows, (x, _)) = writing.rows("", 1, inner);
                spans.extend(rows.pop().map(|line| line.spans).unwrap_or_default());
                column = Some(start + x);
            }
            State::Text(writing) => {
                spans.push(Span::styled(cut(writing.text(), room), frame.theme.text))
            }
            State::Bool(value) => {
                let sign = match value {
                    Some(true) => "[x] yes",
                    Some(false) => "[ ] no",
                    None => "[ ]",
                };
                spans.push(Span::styled(cut(sign, room), frame.theme.text));
            }
            State::Choice(at) => {
                let chosen = at.and_then(|at| self.field.options().get(at));
                let chosen = chosen.map_or("choose", |option| &option.label);
                spans.push(Span::styled(
                    cut(&format!("‹ {chosen} ›"), room),
                    frame.theme.text,
                ));
            }
        }
        (Line::from(spans), column)
    }
}
