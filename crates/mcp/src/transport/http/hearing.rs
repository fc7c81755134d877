//! Whether the stream is open on which a server asks in the middle of a call.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rmcp::model::{ClientJsonRpcMessage, JsonRpcMessage};
use tokio::sync::watch;
use tokio::time::Instant;

/// How long after the handshake calls are held back for it; some servers open it only when they speak.
const LIMIT: Duration = Duration::from_millis(250);

/// The stream of one session. A question asked before it is open is lost with many servers, and the call that
/// it belongs to then waits for nothing until its time is over.
pub(super) struct Hearing {
    open: watch::Sender<bool>,
    until: OnceLock<Instant>,
    late: Late,
}

/// That the stream of a server was not open in time when it was last waited for: the next sessions do not wait, until
/// one of them has it in time again. Clones are the same.
#[derive(Clone, Default)]
pub(super) struct Late(Arc<AtomicBool>);

impl Hearing {
    /// Of a new session of a server.
    pub(super) fn new(late: Late) -> Self {
        Self {
            open: watch::Sender::new(false),
            until: OnceLock::new(),
            late,
        }
    }

    /// Called before each message of a session, the first of which says that there will be a stream. A call
    /// waits until a question would be heard, or the limit has passed.
    pub(super) async fn before(&self, message: &ClientJsonRpcMessage) {
        let until = *self.until.get_or_init(|| Instant::now() + LIMIT);
        let JsonRpcMessage::Request(request) = message else {
            return;
        };
        if request.request.method() == "tools/call" && !self.late.0.load(Ordering::Relaxed) {
            let mut open = self.open.subscribe();
            // A call is better made late than not at all.
            let opened = tokio::time::timeout_at(until, open.wait_for(|open| *open)).await;
            if opened.is_err() {
                self.late.0.store(true, Ordering::Relaxed);
            }
        }
    }

    /// The stream is open, or the server has none.
    pub(super) fn settle(&self) {
        if self.until.get().is_none_or(|until| Instant::now() < *until) {
            self.late.0.store(false, Ordering::Relaxed);
        }
        self.open.send_replace(true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> ClientJsonRpcMessage {
        serde_json::from_str(text).unwrap()
    }

    // MCP-75
    #[tokio::test(start_paused = true)]
    async fn calls_wait_for_the_stream_but_not_for_long() {
        let call = message(
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{}}}"#,
        );
        let list = message(r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#);
        let began = Instant::now();
        let late = Late::default();
        let hearing = Hearing::new(late.clone());
        hearing.before(&list).await;
        assert_eq!(began.elapsed(), Duration::ZERO);
        let later = async {
            tokio::time::sleep(LIMIT / 5).await;
            hearing.settle();
        };
        tokio::join!(hearing.before(&call), later);
        assert_eq!(began.elapsed(), LIMIT / 5);

        let (began, silent) = (Instant::now(), Hearing::new(late.clone()));
        silent.before(&list).await;
        silent.before(&call).await;
        assert_eq!(began.elapsed(), LIMIT);
        silent.before(&call).await;
        assert_eq!(began.elapsed(), LIMIT, "only once for a session");

        // Nor in the next ones, until the stream is there in time again.
        let (began, next) = (Instant::now(), Hearing::new(late.clone()));
        next.before(&call).await;
        assert_eq!(began.elapsed(), Duration::ZERO);
        next.settle();
        let after = Hearing::new(late);
        after.before(&call).await;
        assert_eq!(began.elapsed(), LIMIT);
    }
}
