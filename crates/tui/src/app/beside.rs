//! What the program says while an answer is being written.
//!
//! An answer goes to the terminal's history as it comes, so whatever is shown meanwhile would stand in the middle of a
//! paragraph. It waits for the end of that, though not for long: somebody may have asked for it.

use std::time::Duration;

use super::{App, Mode};
use crate::cells::{Cell, Level, Notice};

/// How long it waits.
const PATIENCE: Duration = Duration::from_secs(2);
/// How much of it waits.
const MOST_WAITING: usize = 64;

/// What waits, and since when.
#[derive(Default)]
pub(super) struct Beside {
    cells: Vec<Cell>,
    since: Duration,
}

impl App {
    /// Shows something that is no part of the answer under way.
    pub(super) fn show_beside(&mut self, cell: Cell) {
        let writing = self.turn.as_ref().is_some_and(|turn| turn.answer.is_some());
        // In full screen the answer stays below everything until it is complete.
        if self.settings.mode == Mode::Full || !writing {
            return self.show(cell);
        }
        if self.beside.cells.is_empty() {
            self.beside.since = self.now;
        }
        self.beside.cells.push(cell);
        if self.beside.cells.len() >= MOST_WAITING {
            self.end_text();
        }
    }

    /// Tells something that is no part of the answer under way.
    pub(super) fn notice(&mut self, level: Level, text: impl Into<String>) {
        let text = text.into();
        self.show_beside(Cell::Notice(Notice { level, text }));
    }

    /// Whether something waits for the end of the paragraph.
    pub(super) fn is_held_up(&self) -> bool {
        !self.beside.cells.is_empty()
    }

    /// Ends the paragraph for what has waited long enough.
    pub(super) fn lose_patience(&mut self, now: Duration) {
        if self.is_held_up() && now.saturating_sub(self.beside.since) >= PATIENCE {
            self.end_text();
        }
    }

    /// The paragraph is complete.
    pub(super) fn show_waiting(&mut self) {
        for cell in std::mem::take(&mut self.beside.cells) {
            self.show(cell);
        }
    }
}
