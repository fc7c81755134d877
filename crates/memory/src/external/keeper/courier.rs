//! Sending what waits, one after the other, by one process at a time.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::super::error::ProviderError;
use super::super::provider::{Delivery, Errand, Scene};
use super::External;

/// The wait after the first failure; each further one doubles it.
const FIRST_WAIT: Duration = Duration::from_secs(2);
const LONGEST_WAIT: Duration = Duration::from_secs(120);
/// How soon to look again when another process is sending.
const ELSEWHERE: Duration = Duration::from_millis(500);
/// Attempts before something is given up that the service turns down.
const MOST_ATTEMPTS: u32 = 3;
/// How long one delivery may take.
const LIMIT: Duration = Duration::from_secs(120);

/// A row of the queue.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Parcel {
    pub(super) token: String,
    pub(super) scene: Scene,
    #[serde(flatten)]
    pub(super) errand: Errand,
}

/// How a round ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Round {
    /// There is nothing to send.
    Empty,
    /// Another process is at it.
    Elsewhere,
    /// It did not work; what waits stays.
    Failed,
}

impl External {
    /// Sends until the program ends.
    pub(super) async fn carry(self) {
        let mut wait = FIRST_WAIT;
        loop {
            let round = self.round().await;
            if self.inner.closing.is_cancelled() {
                return;
            }
            let pause = match round {
                Round::Empty => {
                    wait = FIRST_WAIT;
                    None
                }
                Round::Elsewhere => Some(ELSEWHERE),
                Round::Failed => {
                    let pause = wait;
                    wait = (wait * 2).min(LONGEST_WAIT);
                    Some(pause)
                }
            };
            tokio::select! {
                () = self.inner.closing.cancelled() => {}
                () = self.inner.bell.notified(), if pause.is_none() => {}
                () = tokio::time::sleep(pause.unwrap_or_default()), if pause.is_some() => {}
            }
        }
    }

    async fn round(&self) -> Round {
        let Ok(lock) = hermes_config::lock_file(&self.inner.options.lock, Duration::ZERO) else {
            return Round::Failed;
        };
        let Some(_held) = lock else {
            return Round::Elsewhere;
        };
        loop {
            if !self.is_due().await {
                return Round::Empty;
            }
            // Taken before the look: a wish that comes while nothing is found is about what came after it.
            let flush = std::mem::take(&mut self.state().flush);
            let begun = self.inner.options.store.begin_memory_delivery(self.name());
            let row = match begun.await {
                Ok(Some(row)) => {
                    self.state().flush |= flush;
                    row
                }
                Ok(None) => return Round::Empty,
                Err(error) => {
                    self.state().flush |= flush;
                    tracing::warn!(%error, "what waits for {} cannot be read", self.name());
                    return Round::Failed;
                }
            };
            let outcome = match serde_json::from_str::<Parcel>(&row.body) {
                Ok(parcel) => {
                    let delivery = Delivery {
                        token: parcel.token,
                        doubtful: row.begun,
                        scene: parcel.scene,
                        errand: parcel.errand,
                    };
                    tokio::select! {
                        biased;
                        () = self.inner.stop.cancelled() => return Round::Failed,
                        outcome = self.hand_over(&delivery) => outcome,
                    }
                }
                Err(error) => {
                    tracing::warn!(%error, "what a newer version wrote is left out");
                    Ok(())
                }
            };
            if !self.settled(row.id, row.attempts, outcome).await {
                return Round::Failed;
            }
        }
    }

    async fn hand_over(&self, delivery: &Delivery) -> Result<(), ProviderError> {
        let Ok(provider) = self.provider() else {
            return Err(ProviderError::Unknown {
                name: self.name().to_owned(),
            });
        };
        let handed = tokio::time::timeout(LIMIT, provider.deliver(delivery)).await;
        let slow = ProviderError::Slow {
            provider: self.known_name(),
        };
        handed.unwrap_or(Err(slow))
    }

    /// Writes down how it went; `false` when sending should rest.
    async fn settled(&self, id: i64, attempts: u32, outcome: Result<(), ProviderError>) -> bool {
        let store = &self.inner.options.store;
        let (written, goes_on) = match &outcome {
            Ok(()) => (store.end_memory_delivery(id).await, true),
            Err(error) if !error.is_passing() && attempts + 1 >= MOST_ATTEMPTS => {
                tracing::warn!(%error, "{} never took something; it is given up", self.name());
                (store.end_memory_delivery(id).await, true)
            }
            Err(error) if error.leaves_doubt() => (store.doubt_memory_delivery(id).await, false),
            Err(_) => (store.put_memory_delivery_back(id).await, false),
        };
        if let Err(error) = &written {
            tracing::warn!(%error, "how sending to {} went is not on disk", self.name());
        }
        self.judged(outcome, |state| &mut state.sending);
        goes_on && written.is_ok()
    }

    /// Whether enough waits, or there is no later.
    async fn is_due(&self) -> bool {
        let hold = match self.provider() {
            Ok(provider) => provider.manner().hold,
            Err(_) => return false,
        };
        if hold <= 1 || self.inner.closing.is_cancelled() || self.state().flush {
            return true;
        }
        let waiting = self.backlog().await.map_or(0, |backlog| backlog.waiting);
        // The rest of them goes along. Somebody may have wished for it meanwhile.
        let mut state = self.state();
        state.flush |= waiting >= hold;
        state.flush
    }
}
