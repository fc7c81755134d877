//! How far something is scrolled that is longer than its room.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crossterm::event::{KeyCode, KeyEvent};

use crate::composer::keys::{Action, action};

/// A place in rows of text. Only drawing knows how many there are and how many are seen, and it changes nothing else:
/// that is kept for the next key.
#[derive(Debug, Clone)]
pub(super) struct Scroll {
    top: usize,
    drawn: Arc<Drawn>,
}

#[derive(Debug)]
struct Drawn {
    /// Rows that were seen.
    seen: AtomicUsize,
    /// The lowest place there was.
    lowest: AtomicUsize,
}

impl Default for Scroll {
    fn default() -> Self {
        Self {
            top: 0,
            drawn: Arc::new(Drawn {
                seen: AtomicUsize::new(1),
                lowest: AtomicUsize::new(usize::MAX),
            }),
        }
    }
}

impl Scroll {
    /// Reads a key; says whether it is one that scrolls.
    pub(super) fn key(&mut self, event: KeyEvent) -> bool {
        let lowest = self.drawn.lowest.load(Ordering::Relaxed);
        let page = self.drawn.seen.load(Ordering::Relaxed).max(1);
        // What lies beyond the end is no way back.
        let top = self.top.min(lowest);
        let next = match (event.code, action(event)) {
            (KeyCode::PageUp, _) => top.saturating_sub(page),
            (KeyCode::PageDown, _) => top.saturating_add(page),
            (_, Some(Action::Up)) => top.saturating_sub(1),
            (_, Some(Action::Down)) => top.saturating_add(1),
            (_, Some(Action::LineStart | Action::TextStart)) => 0,
            (_, Some(Action::LineEnd | Action::TextEnd)) => lowest,
            _ => return false,
        };
        self.top = next.min(lowest);
        true
    }

    /// The first row to draw of so many, in so much room.
    pub(super) fn first(&self, rows: usize, room: usize) -> usize {
        let lowest = rows.saturating_sub(room);
        self.drawn.seen.store(room, Ordering::Relaxed);
        self.drawn.lowest.store(lowest, Ordering::Relaxed);
        self.top.min(lowest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crossterm::event::KeyModifiers;

    // CL-19, CL-21
    #[test]
    fn a_page_is_what_was_seen_and_the_end_is_where_it_stops() {
        let mut scroll = Scroll::default();
        let press = |scroll: &mut Scroll, code| {
            assert!(scroll.key(KeyEvent::new(code, KeyModifiers::NONE)));
            scroll.first(20, 6)
        };
        assert_eq!(scroll.first(20, 6), 0);
        assert_eq!(press(&mut scroll, KeyCode::PageDown), 6);
        assert_eq!(press(&mut scroll, KeyCode::PageDown), 12);
        for _ in 0..40 {
            press(&mut scroll, KeyCode::Down);
        }
        assert_eq!(press(&mut scroll, KeyCode::Up), 13);
        assert_eq!(press(&mut scroll, KeyCode::PageUp), 7);
        assert_eq!(press(&mut scroll, KeyCode::End), 14);
        assert_eq!(press(&mut scroll, KeyCode::Home), 0);
        assert!(!scroll.key(KeyEvent::new(KeyCode::Esc, KeyModifiers::NONE)));
    }
}
