//! Who is waiting for a server at the moment, so that its questions reach the right person.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use hermes_core::{Asker, SessionId};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::breaker::CallNumber;

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

/// The calls that run on one server, and how many questions are open because of them.
pub(crate) struct Callers {
    running: Mutex<(u64, BTreeMap<u64, Caller>)>,
    asking: watch::Sender<usize>,
}

impl Default for Callers {
    fn default() -> Self {
        Self {
            running: Mutex::default(),
            asking: watch::Sender::new(0),
        }
    }
}

impl Callers {
    /// Notes a call until the guard is dropped.
    pub(crate) fn enter(self: &Arc<Self>, caller: Caller) -> Entered {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.0 += 1;
        let number = running.0;
        running.1.insert(number, caller);
        Entered {
            callers: Arc::clone(self),
            number,
        }
    }

    /// The call that began last: the protocol does not say which call a question belongs to.
    pub(super) fn latest(&self) -> Option<Caller> {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.1.values().next_back().cloned()
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
