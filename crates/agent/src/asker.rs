//! Questions to the person behind a session, as events out and operations in, and on a board where other processes
//! see and answer them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_core::future::BoxFuture;
use hermes_core::{
    Answer, AnsweredBy, Asker, Decider, Event, Question, QuestionId, QuestionKind, Random, Reply,
};
use hermes_store::{DecisionOutcome, NewPermission, PERMISSION_LIFE, Store, StoreError};
use tokio::sync::oneshot;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::lane::Lane;

/// How often a question is looked at that another process may answer.
const LOOK: Duration = Duration::from_millis(200);

/// Where other processes see and answer what waits for a yes.
pub(crate) struct Board {
    pub(crate) store: Store,
    /// Makes numbers of questions.
    pub(crate) random: Arc<dyn Random>,
}

impl Board {
    /// What is put on it: only what needs nothing but a yes or a no, and not from the person alone.
    fn permission(&self, question: &Question) -> Option<NewPermission> {
        match &question.kind {
            QuestionKind::Approval {
                action,
                reasons,
                reach,
                decider: Decider::Anyone,
                ..
            } => Some(NewPermission {
                id: (self.random.next_u64() >> 1).cast_signed(),
                session: question.session.clone(),
                action: action.clone(),
                reasons: reasons.clone(),
                reach: *reach,
                life: question.deadline,
            }),
            QuestionKind::Approval {
                decider: Decider::Person,
                ..
            }
            | QuestionKind::Clarify { .. }
            | QuestionKind::Secret { .. }
            | QuestionKind::Form(_) => None,
        }
    }
}

/// Puts questions to whoever listens to a session.
pub(crate) struct SessionAsker {
    events: Lane<Event>,
    /// None where nobody can be asked at all.
    board: Option<Board>,
    next: AtomicU64,
    open: Mutex<HashMap<QuestionId, oneshot::Sender<Reply>>>,
}

impl SessionAsker {
    pub(crate) fn new(events: Lane<Event>, board: Option<Board>) -> Arc<Self> {
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

    /// Shows the question and waits for whoever answers first; the person when both did.
    async fn put(&self, question: Question, board: &Board, posted: &mut Posted) -> Option<Reply> {
        let id = question.id;
        let asked = board.permission(&question);
        let (sender, mut receiver) = oneshot::channel();
        self.waiting().insert(id, sender);
        self.events.send(Event::Ask(question)).await;
        let elsewhere = async {
            match asked {
                Some(asked) => answered_elsewhere(&board.store, asked, posted).await,
                None => std::future::pending().await,
            }
        };
        let (outcome, by) = tokio::select! {
            biased;
            reply = &mut receiver => return reply.ok(),
            answered = elsewhere => answered,
        };
        self.waiting().remove(&id);
        if let Ok(reply) = receiver.try_recv() {
            return Some(reply);
        }
        let (answer, word) = match outcome {
            DecisionOutcome::Once => (Answer::AllowOnce, "allowed"),
            DecisionOutcome::Session => (Answer::AllowSession, "allowed for this session"),
            DecisionOutcome::Always => (Answer::AllowAlways, "allowed from now on"),
            DecisionOutcome::Refused => (Answer::no(), "refused"),
        };
        let how = format!("{word} by {by}");
        let told = Event::Answered { question: id, how };
        self.events.send(told).await;
        let by = AnsweredBy::Program(by);
        Some(Reply { answer, by })
    }
}

impl Asker for SessionAsker {
    fn ask(&self, mut question: Question, cancel: CancellationToken) -> BoxFuture<'_, Reply> {
        Box::pin(async move {
            let nobody = |by| Reply {
                answer: Answer::no(),
                by,
            };
            let Some(board) = &self.board else {
                return nobody(AnsweredBy::Runtime);
            };
            let id = QuestionId(self.next.fetch_add(1, Ordering::Relaxed));
            question.id = id;
            let deadline = question.deadline;
            let mut posted = Posted::default();
            let reply = tokio::select! {
                biased;
                () = cancel.cancelled() => Err(AnsweredBy::Stopped),
                reply = tokio::time::timeout(deadline, self.put(question, board, &mut posted)) => {
                    reply.ok().flatten().ok_or(AnsweredBy::Runtime)
                }
            };
            self.waiting().remove(&id);
            posted.outcome = reply.as_ref().ok().map(|reply| outcome(&reply.answer));
            reply.unwrap_or_else(nobody)
        })
    }
}

/// A question on the board, taken down when nobody waits for it any more, however that came. What is written and
/// taken down is done in the order it was asked for, so one that nobody has read yet is taken down too.
#[derive(Default)]
struct Posted {
    at: Option<(Store, i64)>,
    /// What was answered, once somebody did.
    outcome: Option<DecisionOutcome>,
}

impl Drop for Posted {
    fn drop(&mut self) {
        if let Some((board, id)) = self.at.take() {
            // It is written whether or not somebody waits for that; what is not ends with its time.
            drop(board.end_permission(id, self.outcome));
        }
    }
}

/// Puts a question on the board and waits for another process to answer it. A board that cannot be reached is tried
/// again for as long as the question is open.
async fn answered_elsewhere(
    board: &Store,
    mut asked: NewPermission,
    posted: &mut Posted,
) -> (DecisionOutcome, String) {
    let (id, life, begun) = (asked.id, asked.life, Instant::now());
    let mut trouble = Trouble::default();
    posted.at = Some((board.clone(), id));
    while let Err(error) = board.ask_permission(asked.clone()).await {
        trouble.note(&error);
        tokio::time::sleep(LOOK).await;
        asked.life = life.saturating_sub(begun.elapsed());
    }
    let mut said = Instant::now();
    loop {
        tokio::time::sleep(LOOK).await;
        if said.elapsed() >= PERMISSION_LIFE / 3 {
            match board.wait_for_permission(id).await {
                Ok(()) => said = Instant::now(),
                Err(error) => trouble.note(&error),
            }
        }
        match board.permission(id).await {
            Ok(row) => {
                if let Some(answer) = row.and_then(|row| row.answer) {
                    return answer;
                }
            }
            Err(error) => trouble.note(&error),
        }
    }
}

/// Whether it was said already that the board cannot be reached; once a question is enough.
#[derive(Default)]
struct Trouble {
    is_told: bool,
}

impl Trouble {
    fn note(&mut self, error: &StoreError) {
        if !std::mem::replace(&mut self.is_told, true) {
            tracing::warn!("other programs cannot answer a question now: {error}");
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
