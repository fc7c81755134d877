//! Questions to the person behind a session, as events out and operations in.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use futures_core::future::BoxFuture;
use hermes_core::{Answer, AnsweredBy, Asker, Event, Question, QuestionId, Reply};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::lane::Lane;

/// Puts questions to whoever listens to a session.
pub(crate) struct SessionAsker {
    events: Lane<Event>,
    /// Whether anybody can answer at all.
    attended: bool,
    next: AtomicU64,
    open: Mutex<HashMap<QuestionId, oneshot::Sender<Reply>>>,
}

impl SessionAsker {
    pub(crate) fn new(events: Lane<Event>, attended: bool) -> Arc<Self> {
        Arc::new(Self {
            events,
            attended,
            next: AtomicU64::new(1),
            open: Mutex::new(HashMap::new()),
        })
    }

    /// Takes an answer in; one to a question that is closed is ignored.
    pub(crate) fn answer(&self, question: QuestionId, answer: Answer) {
        let waiting = self.waiting().remove(&question);
        if let Some(waiting) = waiting {
            let by = AnsweredBy::Person("user".to_owned());
            let _ = waiting.send(Reply { answer, by });
        }
    }

    fn waiting(&self) -> std::sync::MutexGuard<'_, HashMap<QuestionId, oneshot::Sender<Reply>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Asker for SessionAsker {
    fn ask(&self, mut question: Question, cancel: CancellationToken) -> BoxFuture<'_, Reply> {
        Box::pin(async move {
            let nobody = Reply {
                answer: Answer::no(),
                by: AnsweredBy::Runtime,
            };
            if !self.attended {
                return nobody;
            }
            let id = QuestionId(self.next.fetch_add(1, Ordering::Relaxed));
            question.id = id;
            let deadline = question.deadline;
            let (sender, receiver) = oneshot::channel();
            self.waiting().insert(id, sender);
            let answered = async {
                self.events.send(Event::Ask(question)).await;
                receiver.await
            };
            let reply = tokio::select! {
                biased;
                () = cancel.cancelled() => None,
                reply = tokio::time::timeout(deadline, answered) => reply.ok().and_then(Result::ok),
            };
            self.waiting().remove(&id);
            reply.unwrap_or(nobody)
        })
    }
}
