//! How many new sessions failing calls may cause.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::Instant;

use super::Cause;
use crate::RecoveryPolicy;

/// Texts that are remembered at once; the oldest is forgotten for another.
const MOST_TEXTS: usize = 16;

/// A few in a window of time, and none against a text that the last one did not help against. Without it a
/// server that takes every session and fails every call would be connected for ever, each time with a
/// breaker that knows of nothing.
#[derive(Debug)]
pub(super) struct Ration {
    most: usize,
    window: Duration,
    memory: Duration,
    taken: VecDeque<Instant>,
    useless: VecDeque<(String, Instant)>,
}

impl Ration {
    pub(super) fn new(policy: &RecoveryPolicy) -> Self {
        Self {
            most: policy.call_reconnects,
            window: policy.call_reconnect_window,
            memory: policy.same_text_memory,
            taken: VecDeque::new(),
            useless: VecDeque::new(),
        }
    }

    /// Whether a call may cause a new session now; counts it.
    pub(super) fn take(&mut self, cause: &Cause, now: Instant) -> bool {
        self.useless
            .retain(|(_, since)| now.duration_since(*since) < self.memory);
        self.taken
            .retain(|since| now.duration_since(*since) < self.window);
        let in_vain = match cause {
            Cause::Said(text) => self.useless.iter().any(|(known, _)| known == text),
            Cause::Token => false,
        };
        if in_vain || self.taken.len() >= self.most {
            return false;
        }
        self.taken.push_back(now);
        true
    }

    /// Remembers that a new session does not help against a text.
    pub(super) fn forbid(&mut self, text: String, now: Instant) {
        self.useless.retain(|(known, _)| *known != text);
        if self.useless.len() == MOST_TEXTS {
            self.useless.pop_front();
        }
        self.useless.push_back((text, now));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> Cause {
        Cause::Said(text.to_owned())
    }

    #[test]
    fn three_a_minute_and_no_more() {
        let mut ration = Ration::new(&RecoveryPolicy::default());
        let now = Instant::now();
        for _ in 0..3 {
            assert!(ration.take(&said("a"), now));
        }
        assert!(!ration.take(&said("b"), now));
        assert!(!ration.take(&Cause::Token, now + Duration::from_secs(59)));
        assert!(ration.take(&said("b"), now + Duration::from_secs(60)));
    }

    #[test]
    fn what_did_not_help_is_not_tried_for_a_minute() {
        let mut ration = Ration::new(&RecoveryPolicy::default());
        let now = Instant::now();
        ration.forbid("session expired".to_owned(), now);
        assert!(!ration.take(&said("session expired"), now));
        assert!(ration.take(&said("unknown session"), now));
        assert!(ration.take(&said("session expired"), now + Duration::from_secs(60)));
    }
}
