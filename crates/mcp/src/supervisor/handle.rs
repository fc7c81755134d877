//! What everybody but the supervisor holds of a server.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;

use super::{Begin, Cause, Command, Shared, Verdict};
use crate::breaker::CallNumber;
use crate::{SamplingCounts, Server, State, View};

/// A way to one server. Clones are the same way; the last one to go ends the server.
#[derive(Clone)]
pub struct Handle {
    pub(crate) shared: Arc<Shared>,
    commands: mpsc::Sender<Command>,
    view: watch::Receiver<View>,
    shutdown: CancellationToken,
}

impl Handle {
    pub(super) fn new(
        shared: Arc<Shared>,
        commands: mpsc::Sender<Command>,
        view: watch::Receiver<View>,
        shutdown: CancellationToken,
    ) -> Self {
        Self {
            shared,
            commands,
            view,
            shutdown,
        }
    }

    /// The server's name.
    pub fn name(&self) -> &str {
        self.shared.server.name()
    }

    /// The server as configured.
    pub fn server(&self) -> &Server {
        &self.shared.server
    }

    /// How things stand.
    pub fn view(&self) -> View {
        self.view.borrow().clone()
    }

    /// What the server's questions to models came to; nothing when it may not ask any.
    pub fn sampling(&self) -> Option<SamplingCounts> {
        let desk = self.shared.ears.sampling.as_ref();
        desk.map(|desk| desk.counts())
    }

    /// Tells whenever something changes.
    pub fn watch(&self) -> watch::Receiver<View> {
        self.view.clone()
    }

    /// Asks for a new session now, without waiting for a timer: a reload, a login.
    pub async fn reconnect(&self) {
        self.command(Command::Urge).await;
    }

    /// Somebody needs a session: one that is only waiting for its turn is made now.
    pub async fn wanted(&self) {
        self.command(Command::Wake).await;
    }

    /// Waits until the condition holds, or `limit` has passed. Answers how things stood then.
    pub async fn wait_for(&self, limit: Duration, condition: impl Fn(&View) -> bool) -> View {
        let mut view = self.view.clone();
        let met = tokio::time::timeout(limit, view.wait_for(|view| condition(view))).await;
        match met {
            Ok(Ok(view)) => view.clone(),
            Ok(Err(_)) | Err(_) => self.view(),
        }
    }

    /// Ends the server and waits until it has ended, at most as long as the policy says.
    pub async fn shutdown(&self) {
        self.shutdown.cancel();
        let limit = self.shared.policy.shutdown_one + Duration::from_secs(1);
        let last = self
            .wait_for(limit, |view| view.state == State::Stopped)
            .await;
        if last.state != State::Stopped {
            tracing::warn!(server = self.name(), "an MCP server did not end in time");
        }
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.shutdown.is_cancelled()
    }

    /// `false` when the supervisor has ended.
    pub(crate) async fn command(&self, command: Command) -> bool {
        self.commands.send(command).await.is_ok()
    }

    /// For guards that cannot wait. A full queue loses it; the breaker does not wait for a lost probe for ever.
    pub(crate) fn report_now(&self, call: CallNumber, verdict: Verdict) {
        let report = Command::Report {
            call,
            session: None,
            verdict,
        };
        if self.commands.try_send(report).is_err() {
            tracing::debug!(server = self.name(), "a report about a call was lost");
        }
    }

    pub(crate) async fn begin(&self, call: CallNumber) -> Option<Begin> {
        if self.is_stopping() {
            return None;
        }
        let (reply, answer) = oneshot::channel();
        self.command(Command::Begin(call, reply)).await;
        answer.await.ok()
    }

    /// Asks for a session newer than the failed one. `false` when there will be none.
    pub(crate) async fn replace(&self, failed: u64, cause: Cause) -> bool {
        if self.is_stopping() {
            return false;
        }
        let (reply, answer) = oneshot::channel();
        self.command(Command::Replace {
            failed,
            cause,
            reply,
        })
        .await;
        answer.await.unwrap_or(false)
    }
}
