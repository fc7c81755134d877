//! The time of one call, which stands still while a person is asked.

use std::sync::Arc;
use std::time::Duration;

use futures_core::future::BoxFuture;
use hermes_core::{Asker, Question, Reply, ToolContext};
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Counts the open questions of one call.
pub struct Stopwatch {
    open: watch::Receiver<usize>,
}

impl Stopwatch {
    /// The context of a call whose questions are counted. Those of the calls it makes itself are among them.
    pub fn around(context: &ToolContext) -> (Self, ToolContext) {
        let (open, count) = watch::channel(0);
        let asker = Arc::new(Counted {
            inner: Arc::clone(&context.asker),
            open,
        });
        let counted = ToolContext {
            asker,
            ..context.clone()
        };
        (Self { open: count }, counted)
    }

    /// Ends when the time is over.
    pub async fn over(mut self, limit: Duration) {
        let mut left = limit;
        loop {
            let asking = *self.open.borrow_and_update() > 0;
            let begun = Instant::now();
            let changed = tokio::select! {
                () = tokio::time::sleep(left), if !asking => return,
                changed = self.open.changed() => changed,
            };
            if !asking {
                left = left.saturating_sub(begun.elapsed());
            }
            if changed.is_err() {
                // Nobody is left who could ask.
                return tokio::time::sleep(left).await;
            }
        }
    }
}

/// Puts questions to the same person.
struct Counted {
    inner: Arc<dyn Asker>,
    open: watch::Sender<usize>,
}

impl Asker for Counted {
    fn ask(&self, question: Question, cancel: CancellationToken) -> BoxFuture<'_, Reply> {
        Box::pin(async move {
            self.open.send_modify(|open| *open += 1);
            let _open = Open(&self.open);
            self.inner.ask(question, cancel).await
        })
    }
}

/// A question that is open.
struct Open<'a>(&'a watch::Sender<usize>);

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|open| *open = open.saturating_sub(1));
    }
}
