//! Results that are being written while the next request is already on its way.
//!
//! A tool has done what it did before its result is a row, so waiting for the disk before the next request
//! protects nothing: a crash in between leaves a call without a result either way, which the next turn closes
//! as one whose outcome is unknown. What the model makes of a result is another matter: nothing of an answer
//! is used, shown or kept before the results it rests on are durable.

use std::sync::Arc;

use hermes_core::{Event, Message, MessageId};
use hermes_store::{Pending, StoreError};
use tokio_util::sync::CancellationToken;

use super::{Entry, Turn};
use crate::lane::Lane;

/// Results on their way to the disk.
pub(crate) struct Unsettled {
    rows: Pending<Vec<MessageId>>,
    results: Vec<Arc<Message>>,
    /// What is said once they are there.
    events: Vec<Event>,
}

impl Unsettled {
    pub(super) fn messages(&self) -> &[Arc<Message>] {
        &self.results
    }

    /// Waits until they are rows and says so.
    pub(super) async fn settle(
        self,
        say: &Lane<Event>,
        cancel: &CancellationToken,
    ) -> Result<Vec<Entry>, StoreError> {
        let rows = self.rows.await?;
        for event in self.events {
            say.send_until(event, cancel).await;
        }
        let entries = rows.into_iter().zip(self.results);
        Ok(entries
            .map(|(row, result)| Entry::new(row, result))
            .collect())
    }
}

impl Turn<'_> {
    /// Begins to write results, each with what is said about it. Those before them are settled first.
    pub(super) async fn keep_results(
        &mut self,
        results: Vec<(Message, Event)>,
    ) -> Result<(), StoreError> {
        self.settle().await?;
        let (results, events): (Vec<Message>, Vec<Event>) = results
            .into_iter()
            .map(|(result, event)| (self.masked(result), event))
            .unzip();
        let records = results.iter().map(Into::into).collect();
        let store = &self.around.services.store;
        self.unsettled = Some(Unsettled {
            rows: store.append(&self.around.spec.id, records),
            results: results.into_iter().map(Arc::new).collect(),
            events,
        });
        Ok(())
    }

    /// Whether anything said so far may not be durable yet.
    pub(super) fn is_unsettled(&self) -> bool {
        self.unsettled.is_some() || self.described.is_some()
    }

    /// Waits until everything said so far is durable.
    pub(super) async fn settle(&mut self) -> Result<(), StoreError> {
        if let Some(described) = self.described.take() {
            described.await?;
        }
        if let Some(unsettled) = self.unsettled.take() {
            let around = &self.around;
            let entries = unsettled.settle(around.events, &around.cancel).await?;
            self.history.extend(entries);
        }
        Ok(())
    }
}
