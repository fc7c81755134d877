//! Commands that are being carried out.
//!
//! Most take no time. One that does says so, and can be stopped.

use std::collections::VecDeque;
use std::time::Duration;

use ratatui::text::Line;

use super::{App, Effect};
use crate::cells::Level;
use crate::spinner::Activity;
use crate::text::clean_line;

/// A command that takes longer than this is worth a line.
const A_WHILE: Duration = Duration::from_millis(300);
/// How many are remembered; more than that at once is nobody's doing.
const MOST: usize = 64;

/// What is being carried out, and since when.
#[derive(Default)]
pub(super) struct Carrying(VecDeque<(String, Duration)>);

impl Carrying {
    fn began(&mut self, line: &str, now: Duration) {
        if self.0.len() < MOST {
            self.0.push_back((line.to_owned(), now));
        }
    }

    pub(super) fn ended(&mut self, line: &str) {
        if let Some(place) = self.0.iter().position(|(one, _)| one == line) {
            self.0.remove(place);
        }
    }

    /// The one that has taken longest, when that is a while, and how long.
    fn longest(&self, now: Duration) -> Option<(&str, Duration)> {
        let (line, since) = self.0.front()?;
        let elapsed = now.saturating_sub(*since);
        (elapsed >= A_WHILE).then_some((line.as_str(), elapsed))
    }
}

impl App {
    /// Remembers what is to be carried out.
    pub(super) fn watch_commands(&mut self, effects: &[Effect], now: Duration) {
        for effect in effects {
            if let Effect::Command(line) = effect {
                self.carrying.began(line, now);
            }
        }
    }

    /// Whether commands are being carried out.
    pub(super) fn is_carrying_out(&self) -> bool {
        !self.carrying.0.is_empty()
    }

    /// Whether one has taken a while.
    pub(super) fn takes_a_while(&self) -> bool {
        self.carrying.longest(self.now).is_some()
    }

    /// Stops what is being carried out.
    pub(super) fn drop_commands(&mut self, effects: &mut Vec<Effect>) {
        let dropped = std::mem::take(&mut self.carrying.0);
        if dropped.is_empty() {
            return;
        }
        effects.push(Effect::DropCommands);
        for (line, _) in dropped {
            self.notice(Level::Info, format!("stopped: {}", clean_line(&line)));
        }
    }

    /// The line that moves while one takes its time.
    pub(super) fn carrying_line(&self, now: Duration, width: usize) -> Option<Line<'static>> {
        let (line, elapsed) = self.carrying.longest(now)?;
        let activity = Activity::Tool {
            name: String::new(),
            label: clean_line(line),
        };
        let indicator = self.settings.indicator;
        Some(activity.line_with(indicator, self.ticks, elapsed, width, &self.theme))
    }
}
