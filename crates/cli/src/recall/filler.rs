//! Vectors made behind conversations: after a turn, a few messages at a time, and never before the first answer.

use std::sync::Arc;

use hermes_core::{Embedder, Random};
use hermes_store::Store;
use hermes_tools::fill_embeddings;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Whoever makes vectors, by a name nobody else has.
pub(crate) fn holder(random: &dyn Random) -> String {
    format!("{:016x}", random.next_u64())
}

/// Makes vectors whenever there is something new. Without a model it does nothing.
pub(crate) struct Filler {
    poked: Arc<Notify>,
    stop: CancellationToken,
    tasks: TaskTracker,
}

impl Filler {
    /// Waits for the first poke. Must be made inside a runtime.
    pub(crate) fn new(store: &Store, embedder: Option<Arc<dyn Embedder>>, holder: String) -> Self {
        let filler = Self {
            poked: Arc::default(),
            stop: CancellationToken::new(),
            tasks: TaskTracker::new(),
        };
        if let Some(embedder) = embedder {
            let work = run(
                store.clone(),
                embedder,
                holder,
                filler.poked.clone(),
                filler.stop.clone(),
            );
            filler.tasks.spawn(work);
        }
        filler.tasks.close();
        filler
    }

    /// Says that something was said.
    pub(crate) fn poke(&self) {
        self.poked.notify_one();
    }

    /// Ends it behind the message under way; what was made is kept.
    pub(crate) async fn close(&self) {
        self.stop.cancel();
        self.tasks.wait().await;
    }
}

async fn run(
    store: Store,
    embedder: Arc<dyn Embedder>,
    holder: String,
    poked: Arc<Notify>,
    stop: CancellationToken,
) {
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            () = poked.notified() => {}
        }
        match fill_embeddings(&store, &*embedder, &holder, &stop, |_| {}).await {
            Ok(filled) => tracing::debug!(filled.made, filled.elsewhere, "vectors of messages"),
            // A model that cannot be used now cannot be used a moment later; searches say so too.
            Err(error) => {
                tracing::warn!("vectors of messages are not made: {error}");
                return;
            }
        }
    }
}
