//! A bounded queue between a session and those who speak to it.
//!
//! Unlike the usual channels it holds no buffer while it is empty: a gateway keeps thousands of
//! sessions open that have nothing to say.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// Something that can be queued, and perhaps joined to what was queued just before.
pub(crate) trait Item: Send {
    /// Joins `next` to `self`; gives it back when the two stay apart.
    fn join(&mut self, next: Self) -> Option<Self>
    where
        Self: Sized;
}

/// One end of a queue; both ends are the same.
pub(crate) struct Lane<T> {
    inner: Arc<Inner<T>>,
}

struct Inner<T> {
    queue: Mutex<Queue<T>>,
    filled: Notify,
    emptied: Notify,
    limit: usize,
}

struct Queue<T> {
    items: VecDeque<T>,
    closed: bool,
}

impl<T> Clone for Lane<T> {
    fn clone(&self) -> Self {
        Self {
            inner: self.inner.clone(),
        }
    }
}

impl<T: Item> Lane<T> {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            inner: Arc::new(Inner {
                queue: Mutex::new(Queue {
                    items: VecDeque::new(),
                    closed: false,
                }),
                filled: Notify::new(),
                emptied: Notify::new(),
                limit,
            }),
        }
    }

    /// Queues an item if there is room; gives it back when there is not.
    pub(crate) fn offer(&self, item: T) -> Result<(), T> {
        let mut queue = self.queue();
        if queue.closed {
            // Nobody will read it.
            return Ok(());
        }
        let item = match queue.items.back_mut() {
            Some(last) => match last.join(item) {
                Some(item) => item,
                None => return Ok(()),
            },
            None => item,
        };
        if queue.items.len() >= self.inner.limit {
            return Err(item);
        }
        queue.items.push_back(item);
        drop(queue);
        self.inner.filled.notify_one();
        Ok(())
    }

    /// Queues an item, waiting for room.
    pub(crate) async fn send(&self, mut item: T) {
        loop {
            let room = self.inner.emptied.notified();
            match self.offer(item) {
                Ok(()) => return,
                Err(back) => item = back,
            }
            room.await;
        }
    }

    /// Queues an item, waiting for room until the token fires; it is then left out.
    pub(crate) async fn send_until(&self, item: T, cancel: &CancellationToken) {
        tokio::select! {
            biased;
            () = self.send(item) => {}
            () = cancel.cancelled() => {}
        }
    }

    /// The next item; `None` once the lane is closed and empty.
    pub(crate) async fn next(&self) -> Option<T> {
        loop {
            let arrival = self.inner.filled.notified();
            {
                let mut queue = self.queue();
                if let Some(item) = queue.items.pop_front() {
                    if queue.items.is_empty() {
                        queue.items = VecDeque::new();
                    }
                    drop(queue);
                    self.inner.emptied.notify_one();
                    return Some(item);
                }
                if queue.closed {
                    // The next reader must see it too.
                    self.inner.filled.notify_one();
                    return None;
                }
            }
            arrival.await;
        }
    }

    /// Ends the lane: readers get what is queued, writers are ignored.
    pub(crate) fn close(&self) {
        self.queue().closed = true;
        self.inner.filled.notify_one();
        self.inner.emptied.notify_waiters();
    }

    fn queue(&self) -> MutexGuard<'_, Queue<T>> {
        self.inner
            .queue
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[derive(Debug, PartialEq)]
    enum Said {
        Text(String),
        Bell,
    }

    impl Item for Said {
        fn join(&mut self, next: Self) -> Option<Self> {
            match (self, next) {
                (Self::Text(text), Self::Text(more)) => {
                    text.push_str(&more);
                    None
                }
                (_, next) => Some(next),
            }
        }
    }

    fn text(words: &str) -> Said {
        Said::Text(words.to_owned())
    }

    #[tokio::test]
    async fn text_joins_and_everything_else_waits_for_room() {
        let lane = Lane::new(2);
        for piece in ["a", "b", "c"] {
            assert_eq!(lane.offer(text(piece)), Ok(()));
        }
        assert_eq!(lane.offer(Said::Bell), Ok(()));
        assert_eq!(lane.offer(Said::Bell), Err(Said::Bell), "full");
        let waiting = lane.send(Said::Bell);
        let reading = async {
            tokio::time::sleep(Duration::from_millis(10)).await;
            lane.next().await
        };
        let ((), first) = tokio::join!(waiting, reading);
        assert_eq!(first, Some(text("abc")));
        assert_eq!(lane.next().await, Some(Said::Bell));
        assert_eq!(lane.next().await, Some(Said::Bell));
        lane.close();
        assert_eq!(lane.next().await, None);
        lane.send(Said::Bell).await;
        assert_eq!(lane.next().await, None, "nobody reads a closed lane");
    }

    #[tokio::test]
    async fn a_reader_that_went_away_cannot_hold_up_a_stop() {
        let lane = Lane::new(1);
        lane.send(Said::Bell).await;
        let cancel = CancellationToken::new();
        let stopping = async {
            tokio::time::sleep(Duration::from_millis(10)).await;
            cancel.cancel();
        };
        let sending = lane.send_until(Said::Bell, &cancel);
        tokio::time::timeout(Duration::from_secs(5), async {
            tokio::join!(sending, stopping)
        })
        .await
        .unwrap();
    }
}
