//! Who is waiting for a server at the moment, so that its questions reach the right person.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::time::Duration;

use hermes_core::{Asker, SessionId};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, watch};
use tokio_util::sync::CancellationToken;

use crate::breaker::CallNumber;

/// How long a question may be ahead of the answer that names its task: the two are read side by side.
const AHEAD: Duration = Duration::from_secs(2);

/// Most questions of a server that wait for a person at a time.
const MOST_OPEN: usize = 4;

/// Who calls.
#[derive(Clone)]
pub struct Caller {
    /// The conversation.
    pub session: SessionId,
    /// Puts a server's questions to the person of that conversation.
    pub asker: Arc<dyn Asker>,
    /// Stops the call.
    pub cancel: CancellationToken,
    /// Hears how far the server says it is, when somebody looks.
    pub progress: Option<watch::Sender<String>>,
}

/// A call, and the task that the server carries it out as.
struct Running {
    caller: Caller,
    task: Option<String>,
}

/// The calls that run on one server, and how many questions are open because of them.
pub(crate) struct Callers {
    running: Mutex<(u64, BTreeMap<u64, Running>)>,
    asking: watch::Sender<usize>,
    /// Told when the task of a call becomes known.
    task_known: Notify,
    places: Arc<Semaphore>,
    /// Said once that a server asks more than anybody answers.
    crowded: Once,
}

impl Default for Callers {
    fn default() -> Self {
        Self {
            running: Mutex::default(),
            asking: watch::Sender::new(0),
            task_known: Notify::new(),
            places: Arc::new(Semaphore::new(MOST_OPEN)),
            crowded: Once::new(),
        }
    }
}

impl Callers {
    /// Notes a call until the guard is dropped.
    pub(crate) fn enter(self: &Arc<Self>, caller: Caller) -> Entered {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.0 += 1;
        let number = running.0;
        running.1.insert(number, Running { caller, task: None });
        Entered {
            callers: Arc::clone(self),
            number,
        }
    }

    /// A place among the open questions until it is dropped; none when too many are open.
    pub(super) fn place(&self, server: &str) -> Option<OwnedSemaphorePermit> {
        let place = Arc::clone(&self.places).try_acquire_owned().ok();
        if place.is_none() {
            self.crowded.call_once(|| {
                tracing::warn!(
                    server,
                    "asks more than {MOST_OPEN} questions at once; the others are cancelled"
                );
            });
        }
        place
    }

    /// Who a question is for. One that belongs to a task is for whoever waits for that task and for nobody
    /// else; of any other the protocol does not say, and it is for the call that began last.
    pub(super) async fn behind(&self, task: Option<&str>) -> Option<Caller> {
        let found = async {
            loop {
                let mut known = std::pin::pin!(self.task_known.notified());
                known.as_mut().enable();
                if let Some(caller) = self.find(task) {
                    return Some(caller);
                }
                if !self.is_any_task_unknown() {
                    return None;
                }
                known.await;
            }
        };
        tokio::time::timeout(AHEAD, found).await.ok().flatten()
    }

    fn find(&self, task: Option<&str>) -> Option<Caller> {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let mut calls = running.1.values().rev();
        let found = match task {
            Some(_) => calls.find(|call| call.task.as_deref() == task),
            None => calls.next(),
        };
        found.map(|call| call.caller.clone())
    }

    /// Whether a call runs whose task may become known yet.
    fn is_any_task_unknown(&self) -> bool {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.1.values().any(|call| call.task.is_none())
    }

    /// Changes with the number of open questions.
    pub(crate) fn asking(&self) -> watch::Receiver<usize> {
        self.asking.subscribe()
    }

    /// Notes an open question until the guard is dropped.
    pub(super) fn ask(self: &Arc<Self>) -> Asking {
        self.asking.send_modify(|open| *open += 1);
        Asking(Arc::clone(self))
    }
}

/// A call that runs.
pub(crate) struct Entered {
    callers: Arc<Callers>,
    number: u64,
}

impl Entered {
    /// Notes the task that the server carries it out as.
    pub(crate) fn works_on(&self, task: &str) {
        let running = &self.callers.running;
        let mut running = running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(call) = running.1.get_mut(&self.number) {
            call.task = Some(task.to_owned());
        }
        self.callers.task_known.notify_waiters();
    }

    /// Tells it from the other calls of the server.
    pub(crate) fn number(&self) -> CallNumber {
        CallNumber(self.number)
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        let running = &self.callers.running;
        let mut running = running.lock().unwrap_or_else(PoisonError::into_inner);
        running.1.remove(&self.number);
    }
}

/// A question that is open.
pub(super) struct Asking(Arc<Callers>);

impl Drop for Asking {
    fn drop(&mut self) {
        self.0
            .asking
            .send_modify(|open| *open = open.saturating_sub(1));
    }
}
