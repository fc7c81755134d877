//! Sending what waits, one after the other, by one process at a time.

use std::time::Duration;

use hermes_store::MemoryDelivery;
use serde::{Deserialize, Serialize};

use super::super::error::ProviderError;
use super::super::provider::{Delivery, Errand, Scene};
use super::External;
use super::trouble::Task;

/// The wait after the first failure; each further one doubles it.
const FIRST_WAIT: Duration = Duration::from_secs(2);
const LONGEST_WAIT: Duration = Duration::from_secs(120);
/// How soon to look again when another process is sending.
const ELSEWHERE: Duration = Duration::from_millis(500);
/// Attempts after which the others are sent although the service turns something down.
const MOST_ATTEMPTS: u32 = 3;
/// How much may be turned down in one round: more of it is not about what is sent.
const MOST_ASIDE: usize = 10;
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

/// Something that was tried, and how that went.
struct Tried {
    row: MemoryDelivery,
    /// Nothing when only a newer version knows what it is.
    errand: Option<Errand>,
    outcome: Result<(), ProviderError>,
}

/// Something that is turned down again and again: for what it is, or because everything is.
struct Aside {
    id: i64,
    errand: Errand,
    why: String,
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
        let mut aside: Vec<Aside> = Vec::new();
        loop {
            if !self.is_due().await {
                return Round::Empty;
            }
            // Taken before the look: a wish that comes while nothing is found is about what came after it.
            let flush = std::mem::take(&mut self.state().flush);
            let store = &self.inner.options.store;
            let behind = aside.last().map_or(0, |last| last.id);
            let begun = store.begin_memory_delivery(self.name(), behind).await;
            let all_sent = matches!(begun, Ok(None)) && aside.is_empty();
            self.state().flush |= flush && !all_sent;
            let row = match begun {
                Ok(Some(row)) => row,
                Ok(None) if all_sent => return Round::Empty,
                Ok(None) => return Round::Failed,
                Err(error) => {
                    tracing::warn!(%error, "what waits for {} cannot be read", self.name());
                    return Round::Failed;
                }
            };
            let tried = tokio::select! {
                biased;
                () = self.inner.stop.cancelled() => return Round::Failed,
                tried = self.tried(row) => tried,
            };
            if !self.settled(tried, &mut aside).await {
                return Round::Failed;
            }
        }
    }

    async fn tried(&self, row: MemoryDelivery) -> Tried {
        let (errand, outcome) = match serde_json::from_str::<Parcel>(&row.body) {
            Ok(parcel) => {
                let delivery = Delivery {
                    token: parcel.token,
                    doubtful: row.begun,
                    scene: parcel.scene,
                    errand: parcel.errand,
                };
                let outcome = self.hand_over(&delivery).await;
                (Some(delivery.errand), outcome)
            }
            Err(error) => {
                tracing::warn!(%error, "what a newer version wrote is left out");
                (None, Ok(()))
            }
        };
        Tried {
            row,
            errand,
            outcome,
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
    async fn settled(&self, tried: Tried, aside: &mut Vec<Aside>) -> bool {
        let store = &self.inner.options.store;
        let Tried {
            row,
            errand,
            outcome,
        } = tried;
        let (written, goes_on) = match &outcome {
            Ok(()) => (store.end_memory_delivery(row.id).await, true),
            Err(error) if error.leaves_doubt() => {
                (store.doubt_memory_delivery(row.id).await, false)
            }
            Err(error) => {
                let often = row.attempts + 1 >= MOST_ATTEMPTS && aside.len() < MOST_ASIDE;
                let goes_on = !error.is_passing() && often;
                (store.put_memory_delivery_back(row.id).await, goes_on)
            }
        };
        if let Err(error) = &written {
            tracing::warn!(%error, "how sending to {} went is not on disk", self.name());
        }
        match (&outcome, errand) {
            (Ok(()), Some(errand)) => self.give_up(aside, &errand).await,
            (Err(error), Some(errand)) if goes_on => aside.push(Aside {
                id: row.id,
                errand,
                why: error.to_string(),
            }),
            (Ok(()) | Err(_), _) => {}
        }
        // As long as something is turned down, all is not well.
        if outcome.is_err() || aside.is_empty() {
            self.judged(outcome, Task::Deliver);
        }
        goes_on && written.is_ok()
    }

    /// Gives up what was turned down although the service takes its like. Anything else waits: it may be the address or
    /// the service, which a person can mend.
    async fn give_up(&self, aside: &mut Vec<Aside>, taken: &Errand) {
        let bad: Vec<Aside> = aside
            .extract_if(.., |one| alike(&one.errand, taken))
            .collect();
        for Aside { id, why, .. } in bad {
            tracing::warn!(%why, "{} never took something; it is given up", self.name());
            if let Err(error) = self.inner.options.store.end_memory_delivery(id).await {
                tracing::warn!(%error, "what {} never took is still on disk", self.name());
            }
            self.state().trouble.gave_up(why);
        }
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

/// Whether a service that takes one of them has no reason to turn the other one down but what it says.
fn alike(one: &Errand, other: &Errand) -> bool {
    match (one, other) {
        (Errand::Written { target, .. }, Errand::Written { target: of, .. })
        | (Errand::Removed { target, .. }, Errand::Removed { target: of, .. }) => target == of,
        (Errand::Turn { .. }, Errand::Turn { .. })
        | (Errand::TakenBack { .. }, Errand::TakenBack { .. })
        | (Errand::Ended, Errand::Ended) => true,
        (
            Errand::Turn { .. }
            | Errand::Written { .. }
            | Errand::Removed { .. }
            | Errand::TakenBack { .. }
            | Errand::Ended,
            _,
        ) => false,
    }
}
