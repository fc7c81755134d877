//! Telling a caller that nothing comes, and when that will be taken for a dead connection.

use std::time::Duration;

use futures_core::Stream;
use futures_util::StreamExt as _;
use hermes_core::Patience;

use crate::caller::{CallEvent, CallSink};

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

    /// The next that comes; until then the sink hears now and then that nothing does. A server that shows
    /// signs of life past the limit is left alone.
    pub(crate) async fn next<T, S: CallSink>(
        &mut self,
        stream: &mut (impl Stream<Item = T> + Unpin),
        sink: &mut S,
    ) -> Option<T> {
        loop {
            if let Ok(next) = tokio::time::timeout(self.every, stream.next()).await {
                self.since = Duration::ZERO;
                self.limit = self.idle;
                return next;
            }
            self.since += self.every;
            if let Some(left) = self.limit.checked_sub(self.since) {
                let since = self.since;
                sink.event(CallEvent::Quiet { since, left }).await;
            }
        }
    }
}
