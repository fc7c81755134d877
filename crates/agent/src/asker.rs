//! Questions to the person behind a session, as events out and operations in, and on a board where other processes
//! see and answer them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_core::future::BoxFuture;
use hermes_core::{Answer, AnsweredBy, Asker, Event, Question, QuestionId, QuestionKind, Reply};
use hermes_store::{DecisionOutcome, NewPermission, Store, StoreError};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::lane::Lane;

/// How often a question is looked at that another process may answer.
const LOOK: Duration = Duration::from_millis(200);

/// Puts questions to whoever listens to a session.
pub(crate) struct SessionAsker {
    events: Lane<Event>,
    /// Where others see what waits for a yes; none where nobody can be asked at all.
    board: Option<Store>,
    next: AtomicU64,
    open: Mutex<HashMap<QuestionId, oneshot::Sender<Reply>>>,
}

impl SessionAsker {
    pub(crate) fn new(events: Lane<Event>, board: Option<Store>) -> Arc<Self> {
        Arc::new(Self {
            events,
            board,
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

    /// Shows the question and waits for whoever answers first.
    async fn put(&self, question: Question, board: &Store, posted: &mut Posted) -> Option<Reply> {
        let id = question.id;
        let asked = permission(&question);
        let (sender, receiver) = oneshot::channel();
        self.waiting().insert(id, sender);
        self.events.send(Event::Ask(question)).await;
        let elsewhere = async {
            if let Some(asked) = asked {
                match answered_elsewhere(board, asked, posted).await {
                    Ok(answered) => return answered,
                    Err(error) => {
                        tracing::warn!("other programs cannot answer a question: {error}");
                    }
                }
            }
            std::future::pending().await
        };
        let (outcome, by) = tokio::select! {
            reply = receiver => return reply.ok(),
            answered = elsewhere => answered,
        };
        self.waiting().remove(&id);
        let (answer, word) = match outcome {
            DecisionOutcome::Once => (Answer::AllowOnce, "allowed"),
            DecisionOutcome::Session => (Answer::AllowSession, "allowed for this session"),
            DecisionOutcome::Always => (Answer::AllowAlways, "allowed from now on"),
            DecisionOutcome::Refused => (Answer::no(), "refused"),
        };
        let how = format!("{word} by {by}");
        let told = Event::Answered { question: id, how };
        self.events.send(told).await;
        let by = AnsweredBy::Person(by);
        Some(Reply { answer, by })
    }
}

impl Asker for SessionAsker {
    fn ask(&self, mut question: Question, cancel: CancellationToken) -> BoxFuture<'_, Reply> {
        Box::pin(async move {
            let nobody = Reply {
                answer: Answer::no(),
                by: AnsweredBy::Runtime,
            };
            let Some(board) = &self.board else {
                return nobody;
            };
            let id = QuestionId(self.next.fetch_add(1, Ordering::Relaxed));
            question.id = id;
            let deadline = question.deadline;
            let mut posted = Posted::default();
            let reply = tokio::select! {
                biased;
                () = cancel.cancelled() => None,
                reply = tokio::time::timeout(deadline, self.put(question, board, &mut posted)) => {
                    reply.ok().flatten()
                }
            };
            self.waiting().remove(&id);
            let reply = reply.unwrap_or(nobody);
            posted.outcome = outcome(&reply.answer);
            reply
        })
    }
}

/// A question on the board, taken down when nobody waits for it any more, however that came.
struct Posted {
    at: Option<(Store, i64)>,
    outcome: DecisionOutcome,
}

impl Default for Posted {
    fn default() -> Self {
        Self {
            at: None,
            outcome: DecisionOutcome::Refused,
        }
    }
}

impl Drop for Posted {
    fn drop(&mut self) {
        if let Some((board, id)) = self.at.take() {
            // It is written whether or not somebody waits for that; what is not ends with its time.
            drop(board.end_permission(id, self.outcome));
        }
    }
}

/// What is put on the board: only what needs nothing but a yes or a no.
fn permission(question: &Question) -> Option<NewPermission> {
    match &question.kind {
        QuestionKind::Approval {
            action,
            reasons,
            reach,
            ..
        } => Some(NewPermission {
            session: question.session.clone(),
            action: action.clone(),
            reasons: reasons.clone(),
            reach: *reach,
            life: question.deadline,
        }),
        QuestionKind::Clarify { .. } | QuestionKind::Secret { .. } | QuestionKind::Form(_) => None,
    }
}

/// Puts a question on the board and waits for another process to answer it.
async fn answered_elsewhere(
    board: &Store,
    asked: NewPermission,
    posted: &mut Posted,
) -> Result<(DecisionOutcome, String), StoreError> {
    let id = board.ask_permission(asked).await?;
    posted.at = Some((board.clone(), id));
    loop {
        tokio::time::sleep(LOOK).await;
        let answer = board.permission(id).await?.and_then(|row| row.answer);
        if let Some(answer) = answer {
            return Ok(answer);
        }
    }
}

fn outcome(answer: &Answer) -> DecisionOutcome {
    match answer {
        Answer::AllowOnce | Answer::Instead(_) => DecisionOutcome::Once,
        Answer::AllowSession => DecisionOutcome::Session,
        Answer::AllowAlways => DecisionOutcome::Always,
        Answer::Deny { .. } | Answer::Text(_) | Answer::Filled(_) | Answer::Dismiss => {
            DecisionOutcome::Refused
        }
    }
}
