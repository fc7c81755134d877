//! What is known about the traffic of one connection.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use rmcp::model::{ClientJsonRpcMessage, NumberOrString, RequestId};

/// Written by the transport, read by calls and by the sign of life.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    /// The highest number of a request that was handed to the wire, plus one. Numbers only grow.
    sent_below: AtomicU64,
    /// Requests the server turned away because it does not know the session. Whoever asked may hear of the
    /// end of the session before he hears of that.
    turned_away: Mutex<BTreeSet<u64>>,
    heard: AtomicBool,
    session_id: AtomicBool,
}

impl Marks {
    /// A message is about to be written.
    pub(crate) fn sending(&self, message: &ClientJsonRpcMessage) {
        if let ClientJsonRpcMessage::Request(request) = message
            && let Some(number) = number(&request.id)
        {
            self.sent_below
                .fetch_max(number.saturating_add(1), Ordering::Relaxed);
        }
    }

    /// The server did not take this message.
    pub(crate) fn turned_away(&self, message: &ClientJsonRpcMessage) {
        if let ClientJsonRpcMessage::Request(request) = message
            && let Some(number) = number(&request.id)
        {
            self.turned_away
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .insert(number);
        }
    }

    /// Whether the server may have got a request. `false` is certain.
    pub(crate) fn may_be_sent(&self, id: &RequestId) -> bool {
        number(id).is_none_or(|number| {
            number < self.sent_below.load(Ordering::Relaxed)
                && !self
                    .turned_away
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .contains(&number)
        })
    }

    /// Something came from the server.
    pub(crate) fn hear(&self) {
        self.heard.store(true, Ordering::Relaxed);
    }

    /// Whether something came since this was last asked.
    pub(crate) fn was_heard(&self) -> bool {
        self.heard.swap(false, Ordering::Relaxed)
    }

    /// The server gave us a session id, which all requests carry from now on.
    pub(crate) fn got_session_id(&self) {
        self.session_id.store(true, Ordering::Relaxed);
    }

    /// Whether requests carry a session id.
    pub(crate) fn has_session_id(&self) -> bool {
        self.session_id.load(Ordering::Relaxed)
    }
}

fn number(id: &RequestId) -> Option<u64> {
    match id {
        NumberOrString::Number(number) => u64::try_from(*number).ok(),
        NumberOrString::String(_) => None,
    }
}
