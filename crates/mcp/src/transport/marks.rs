//! What is known about the traffic of one connection.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rmcp::model::{ClientJsonRpcMessage, NumberOrString, RequestId};

/// Written by the transport, read by calls and by the sign of life.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    /// The highest number of a request that was handed to the wire, plus one. Numbers only grow.
    sent_below: AtomicU64,
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

    /// Whether a request may have been written. `false` is certain.
    pub(crate) fn may_be_sent(&self, id: &RequestId) -> bool {
        number(id).is_none_or(|number| number < self.sent_below.load(Ordering::Relaxed))
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
