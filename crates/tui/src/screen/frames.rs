//! When to draw: at once for what a person did, and not too often for everything else.

use std::time::{Duration, Instant};

/// Pictures of what happens by itself are at least this far apart: thirty a second.
const BETWEEN: Duration = Duration::from_millis(33);

/// Why something is to be drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// A key, a paste or a new size of the window: somebody waits for it.
    Person,
    /// Anything else.
    World,
}

/// Decides when the next picture is drawn.
#[derive(Debug, Default)]
pub struct Frames {
    last: Option<Instant>,
    due: Option<Instant>,
}

impl Frames {
    /// Something changed.
    pub fn changed(&mut self, cause: Cause, now: Instant) {
        let at = match (cause, self.last) {
            (Cause::World, Some(last)) => now.max(last + BETWEEN),
            (Cause::World, None) | (Cause::Person, _) => now,
        };
        self.due = Some(self.due.map_or(at, |due| due.min(at)));
    }

    /// When the next picture is due; none while nothing changes.
    pub fn due(&self) -> Option<Instant> {
        self.due
    }

    /// A picture was drawn.
    pub fn drawn(&mut self, now: Instant) {
        self.last = Some(now);
        self.due = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_drawn_thirty_times_a_second_and_a_key_at_once() {
        let start = Instant::now();
        let mut frames = Frames::default();
        let mut drawn = 0;
        for millisecond in 0..1000 {
            let now = start + Duration::from_millis(millisecond);
            frames.changed(Cause::World, now);
            if frames.due().is_some_and(|due| due <= now) {
                frames.drawn(now);
                drawn += 1;
            }
        }
        assert!((28..=31).contains(&drawn), "{drawn}");
        let now = start + Duration::from_millis(1001);
        frames.drawn(now);
        frames.changed(Cause::World, now);
        assert!(frames.due() > Some(now));
        frames.changed(Cause::Person, now);
        assert_eq!(frames.due(), Some(now));
    }

    #[test]
    fn nothing_is_drawn_when_nothing_changes() {
        let now = Instant::now();
        let mut frames = Frames::default();
        frames.changed(Cause::World, now);
        frames.drawn(now);
        assert_eq!(frames.due(), None);
    }
}
