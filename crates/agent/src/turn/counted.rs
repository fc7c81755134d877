//! How long the next request is. We estimate by the number of characters, which may be far too high; what a provider
//! counted is right. Within a turn the estimates are scaled by it (`Scale`); before the first call of one, the ledger
//! knows what was counted last, in this program or in one before, and only what came since then is estimated.

use hermes_store::{CountedRequest, StoreError};

use super::{Scale, Turn};
use crate::compaction::ahead;

/// What is known of the last request that the model of this turn counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Counted {
    /// Nobody has looked yet.
    #[default]
    Unread,
    /// There is none, or a newer count is part of the scale.
    Nothing,
    /// This one.
    Last(CountedRequest),
}

impl Turn<'_> {
    /// Looks up what was counted last, once it matters: when the estimate comes near the limit.
    pub(super) async fn look_up_count(&mut self) -> Result<(), StoreError> {
        let near = (f64::from(self.limit()) * ahead::FROM) as u32;
        if self.counted != Counted::Unread || self.scale.apply(self.estimate()) <= near {
            return Ok(());
        }
        let spec = &self.around.spec;
        let store = &self.around.services.store;
        let last = store
            .last_counted(&spec.id, &spec.course.route().model)
            .await?;
        self.counted = last.map_or(Counted::Nothing, Counted::Last);
        Ok(())
    }

    /// Tokens of the next request, as well as we know. What was counted before a compaction or before messages were
    /// taken back is more than there is now; the lower number is then ours.
    pub(super) fn expected(&self) -> u32 {
        let estimate = self.estimate();
        let scaled = self.scale.apply(estimate);
        let Counted::Last(last) = self.counted else {
            return scaled;
        };
        let newer = self.history.iter().filter(|entry| entry.row > last.through);
        let since: u32 = newer.map(|entry| entry.tokens).sum();
        let least = f64::from(estimate.saturating_sub(since)) * Scale::LEAST;
        let counted = u32::try_from(last.tokens).unwrap_or(u32::MAX);
        scaled.min(counted.max(least as u32).saturating_add(since))
    }
}
