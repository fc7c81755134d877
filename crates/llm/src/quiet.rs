//! Telling a caller that nothing comes, and when that will be taken for a dead connection.

use std::time::Duration;

use hermes_core::Patience;

use crate::caller::CallEvent;

/// How long nothing has come.
pub(crate) struct Quiet {
    every: Duration,
    since: Duration,
    limit: Duration,
    idle: Duration,
}

impl Quiet {
    /// Counts for one attempt with these limits; tells every so often.
    pub(crate) fn new(patience: &Patience, every: Duration) -> Self {
        Self {
            every,
            since: Duration::ZERO,
            limit: patience.first_event,
            idle: patience.idle,
        }
    }

    /// How long to wait for something before telling.
    pub(crate) fn every(&self) -> Duration {
        self.every
    }

    /// Something came.
    pub(crate) fn broken(&mut self) {
        self.since = Duration::ZERO;
        self.limit = self.idle;
    }

    /// Nothing came for another while. A server that shows signs of life past the limit is left alone.
    pub(crate) fn went_on(&mut self) -> Option<CallEvent> {
        self.since += self.every;
        let left = self.limit.checked_sub(self.since)?;
        Some(CallEvent::Quiet {
            since: self.since,
            left,
        })
    }
}
