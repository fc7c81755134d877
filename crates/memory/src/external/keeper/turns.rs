//! Turns an external memory hears of, each once, and those it is to forget again.

use hermes_store::{StoreError, TakenBack};

use super::super::fence::scrubbed;
use super::super::provider::{Errand, Exchange, Scene};
use super::External;

/// Most characters of one side of a turn that are kept for the memory.
const MOST_SAID: usize = 100_000;
/// Most turns that are caught up on before a conversation is made shorter; the newest.
const MOST_CAUGHT_UP: usize = 200;

impl External {
    /// Takes a finished turn in, unless it was before. Durable when this returns; sent behind it.
    pub async fn said(&self, scene: Scene, exchange: Exchange) {
        if self.used_on(&scene.surface).is_none() {
            return;
        }
        let errand = Errand::Turn {
            user: short(&exchange.user),
            assistant: short(&exchange.assistant),
        };
        let session = scene.session.clone();
        let parcel = self.parcel(scene, errand);
        let Ok(body) = serde_json::to_string(&parcel) else {
            return;
        };
        let store = &self.inner.options.store;
        let told = store.tell_memory(self.name(), exchange.row, &parcel.token, body);
        match told.await.transpose() {
            None => return,
            Some(queued) => self.note_queued(queued),
        }
        self.state().spoke(&session);
        self.ring();
    }

    /// The beginning of a conversation is about to be replaced by a summary. Turns of it that were never told of,
    /// because they did not end well or this memory was not used then, are told of now; what was held back is sent,
    /// and a memory that waits for the end of a conversation makes memories of what it has.
    pub async fn shortens(&self, scene: Scene, going: Vec<Exchange>) {
        if self.used_on(&scene.surface).is_none() {
            return;
        }
        let older = going.len().saturating_sub(MOST_CAUGHT_UP);
        for exchange in going.into_iter().skip(older) {
            self.said(scene.clone(), exchange).await;
        }
        self.settle(scene).await;
    }

    /// The user took a turn back: what waits to be sent of it is not sent, and a memory that heard of it and can
    /// forget is asked to.
    pub async fn taken_back(&self, scene: Scene, exchange: Exchange) {
        let Some(provider) = self.used_on(&scene.surface) else {
            return;
        };
        drop(self.state().ahead.take(&scene.session));
        let errand = Errand::TakenBack {
            turn: String::new(),
            user: short(&exchange.user),
            assistant: short(&exchange.assistant),
        };
        let parcel = self.parcel(scene, errand);
        let forgets = provider.manner().forgets;
        let body = forgets.then(|| serde_json::to_value(&parcel).ok());
        let store = &self.inner.options.store;
        let taken = store.take_back_told(self.name(), exchange.row, body.flatten());
        match taken.await {
            Ok(TakenBack::Untold | TakenBack::Unsent) => {}
            Ok(TakenBack::Sent) if forgets => self.ring(),
            Ok(TakenBack::Sent) => {
                tracing::info!("{} keeps a turn that was taken back", self.name());
            }
            Err(error) => not_forgotten(self.name(), &error),
        }
    }
}

fn short(text: &str) -> String {
    scrubbed(text).chars().take(MOST_SAID).collect()
}

fn not_forgotten(name: &str, error: &StoreError) {
    tracing::warn!(%error, "{name} will not hear that a turn was taken back");
}
