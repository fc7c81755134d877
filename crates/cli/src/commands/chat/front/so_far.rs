//! What the turn under way has told, for a screen that comes back to it.

use std::time::Instant;

use hermes_core::Event;
use hermes_tui::app::UnderWay;

/// Bytes that are kept; the oldest give way.
const MOST_BYTES: usize = 512 * 1024;
/// Events that are kept.
const MOST_EVENTS: usize = 4_096;

/// A turn under way.
#[derive(Debug)]
pub(super) struct SoFar {
    /// What the user said, where that began it.
    asked: Option<String>,
    since: Instant,
    events: Vec<Event>,
    bytes: usize,
}

impl SoFar {
    pub(super) fn new(asked: Option<String>) -> Self {
        Self {
            asked,
            since: Instant::now(),
            events: Vec::new(),
            bytes: 0,
        }
    }

    /// Takes in what the session says. Questions are not part of it: they stay where they were asked.
    pub(super) fn hear(&mut self, event: &Event) {
        if matches!(
            event,
            Event::Ask(_) | Event::Answered { .. } | Event::TurnFinished { .. }
        ) {
            return;
        }
        self.bytes += weight(event);
        if !self
            .events
            .last_mut()
            .is_some_and(|last| joined(last, event))
        {
            self.events.push(event.clone());
        }
        while self.events.len() > 1 && (self.bytes > MOST_BYTES || self.events.len() > MOST_EVENTS)
        {
            let oldest = self.events.remove(0);
            self.bytes = self.bytes.saturating_sub(weight(&oldest));
        }
        if self.bytes > MOST_BYTES
            && let Some(only) = self.events.last_mut()
        {
            shorten(only);
            self.bytes = weight(only);
        }
    }

    pub(super) fn told(&self) -> UnderWay {
        UnderWay {
            asked: self.asked.clone(),
            events: self.events.clone(),
            since: self.since.elapsed(),
        }
    }
}

fn weight(event: &Event) -> usize {
    match event {
        Event::TextDelta { text } | Event::ReasoningDelta { text } | Event::Notice { text } => {
            text.len()
        }
        Event::ToolOutput { chunk, .. } => chunk.len(),
        Event::ToolFinished { summary, .. } => summary.len(),
        Event::FileChanged { diff, .. } => diff.len(),
        Event::ToolStarted { arguments, .. } => arguments.to_string().len(),
        _ => 0,
    }
}

/// Adds what goes on to what came last, where that is one text.
fn joined(last: &mut Event, next: &Event) -> bool {
    match (last, next) {
        (Event::TextDelta { text }, Event::TextDelta { text: more })
        | (Event::ReasoningDelta { text }, Event::ReasoningDelta { text: more }) => {
            text.push_str(more);
            true
        }
        (
            Event::ToolOutput { call, chunk },
            Event::ToolOutput {
                call: same,
                chunk: more,
            },
        ) if call == same => {
            chunk.push_str(more);
            true
        }
        _ => false,
    }
}

/// Keeps the end of a text that is too long by itself.
fn shorten(event: &mut Event) {
    let (Event::TextDelta { text }
    | Event::ReasoningDelta { text }
    | Event::ToolOutput { chunk: text, .. }) = event
    else {
        return;
    };
    let from = text.ceil_char_boundary(text.len().saturating_sub(MOST_BYTES / 2));
    *text = text.split_off(from);
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_core::CallId;

    fn says(text: &str) -> Event {
        Event::TextDelta {
            text: text.to_owned(),
        }
    }

    fn prints(chunk: String) -> Event {
        let call = CallId("1".to_owned());
        Event::ToolOutput { call, chunk }
    }

    #[test]
    fn pieces_join_and_a_long_turn_keeps_its_end() {
        let mut so_far = SoFar::new(Some("count".to_owned()));
        so_far.hear(&says("one "));
        so_far.hear(&says("two"));
        assert_eq!(so_far.told().events, [says("one two")]);
        for number in 0..100_000 {
            so_far.hear(&prints(format!("line {number}\n")));
        }
        let told = so_far.told();
        assert_eq!(told.asked.as_deref(), Some("count"));
        let [Event::ToolOutput { chunk, .. }] = told.events.as_slice() else {
            panic!("{} events", told.events.len());
        };
        assert!(chunk.len() <= MOST_BYTES && chunk.ends_with("line 99999\n"));
        for _ in 0..10_000 {
            so_far.hear(&says("x"));
            so_far.hear(&prints("y".to_owned()));
        }
        assert!(so_far.events.len() <= MOST_EVENTS);
    }
}
