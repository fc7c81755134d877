//! One process at a time shortens a conversation.

use std::pin::pin;
use std::time::Duration;

use hermes_core::{Random, SessionId};
use hermes_store::{Store, StoreError};

/// How long a process that died keeps others waiting.
const LIFE: Duration = Duration::from_secs(30);
/// How often somebody who needs it looks whether it is free.
const LOOK: Duration = Duration::from_millis(250);

/// The right to shorten one conversation.
pub(crate) struct Lease<'a> {
    store: &'a Store,
    name: String,
    holder: String,
}

impl<'a> Lease<'a> {
    /// Takes it; `None` while somebody else has it.
    pub(crate) async fn take(
        store: &'a Store,
        session: &SessionId,
        random: &dyn Random,
    ) -> Result<Option<Self>, StoreError> {
        let lease = Self {
            store,
            name: format!("compaction:{session}"),
            holder: format!("{:016x}{:016x}", random.next_u64(), random.next_u64()),
        };
        let taken = lease.renew().await?;
        Ok(taken.then_some(lease))
    }

    /// Takes it once it is free. `None` if somebody else has it for longer than one that died could.
    pub(crate) async fn wait(
        store: &'a Store,
        session: &SessionId,
        random: &dyn Random,
    ) -> Result<Option<Self>, StoreError> {
        let looks = LIFE.as_millis() / LOOK.as_millis() + 1;
        for _ in 0..looks {
            tokio::time::sleep(LOOK).await;
            if let Some(lease) = Self::take(store, session, random).await? {
                return Ok(Some(lease));
            }
        }
        Ok(None)
    }

    /// Waits for work and keeps the lease meanwhile.
    pub(crate) async fn hold<T>(&self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        loop {
            tokio::select! {
                biased;
                done = &mut work => return done,
                () = tokio::time::sleep(LIFE / 3) => {
                    // Whoever got it in between is found out when the rows are replaced.
                    if let Err(error) = self.renew().await {
                        tracing::debug!("a lease could not be renewed: {error}");
                    }
                }
            }
        }
    }

    /// Gives it back.
    pub(crate) async fn release(self) -> Result<(), StoreError> {
        self.store.release_lease(&self.name, &self.holder).await
    }

    async fn renew(&self) -> Result<bool, StoreError> {
        self.store.take_lease(&self.name, &self.holder, LIFE).await
    }
}
