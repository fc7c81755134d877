//! What the mouse does, in full screen.

use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};

use super::{App, Effect, Mode, Mouse};

/// Rows that one step of the wheel moves.
const STEP: usize = 3;

impl App {
    pub(super) fn mouse(&mut self, event: MouseEvent, effects: &mut Vec<Effect>) {
        let (mode, mouse) = (self.settings.mode, self.settings.mouse);
        if mode == Mode::Inline || mouse == Mouse::Off {
            return;
        }
        let buttons = matches!(mouse, Mouse::Buttons | Mouse::All);
        match event.kind {
            MouseEventKind::ScrollUp => self.wheel(event, true),
            MouseEventKind::ScrollDown => self.wheel(event, false),
            MouseEventKind::Down(MouseButton::Left) if buttons => self.click(event, effects),
            MouseEventKind::Moved if mouse == Mouse::All && self.sidebar.is_focused() => {
                if let Some(entry) = self.entry_at(event) {
                    self.sidebar.point(entry);
                }
            }
            _ => {}
        }
    }

    fn wheel(&mut self, event: MouseEvent, back: bool) {
        if self.entry_at(event).is_some() {
            return self.sidebar.step(back);
        }
        if let Some(transcript) = self.transcript() {
            match back {
                true => transcript.scroll_back(STEP),
                false => transcript.scroll_on(STEP),
            }
        }
    }

    /// The entry of the list that the pointer is on.
    fn entry_at(&self, event: MouseEvent) -> Option<usize> {
        let (columns, rows) = self.hits.list.as_ref()?;
        let row = usize::from(event.row);
        if !columns.contains(&event.column) || row >= *rows {
            return None;
        }
        self.sidebar.entry_in(row, *rows)
    }

    fn click(&mut self, event: MouseEvent, effects: &mut Vec<Effect>) {
        let asked = !self.panels.is_empty();
        if let Some(entry) = self.entry_at(event).filter(|_| !asked) {
            let picked = self.sidebar.click(entry, self.size.0);
            return self.picked(picked, effects);
        }
        let Some(column) = event.column.checked_sub(self.hits.left) else {
            return;
        };
        if self.hits.transcript.contains(&event.row) {
            let row = usize::from(event.row);
            if let Some(transcript) = self.transcript()
                && let Some(cell) = transcript.cell_in(row)
            {
                transcript.toggle(cell);
            }
        } else if let Some(row) = self
            .hits
            .composer
            .and_then(|top| event.row.checked_sub(top))
        {
            let width = self.columns();
            self.composer
                .click(usize::from(column), usize::from(row), width);
        }
    }
}
