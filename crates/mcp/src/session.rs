//! One session with a server, as calls use it: requests with a limit that a question to a person pauses.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{ClientRequest, PingRequest, RequestId};
use rmcp::service::{Peer, PeerRequestOptions, RequestHandle};
use rmcp::{RoleClient, ServiceError};
use serde_json::Value as Json;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::Failure;
use crate::failure::Edge;
use crate::requests::{Following, Progress};
use crate::task;
use crate::transport::Marks;

/// How long telling a server that nobody waits any more may take.
const GOODBYE: Duration = Duration::from_secs(5);

/// A session. Whoever holds one besides its owner is using it.
pub(crate) struct Session {
    pub(crate) generation: u64,
    pub(crate) peer: Peer<RoleClient>,
    pub(crate) marks: Arc<Marks>,
    pub(crate) piped: bool,
    pub(crate) progress: Arc<Progress>,
    pub(crate) tasks: TaskTracker,
}

/// How long an answer is waited for.
#[derive(Clone)]
pub(crate) struct Patience {
    pub(crate) limit: Duration,
    pub(crate) cancel: CancellationToken,
    /// How many questions to people are open; the limit stands still meanwhile.
    pub(crate) asking: Option<watch::Receiver<usize>>,
    /// Hears how far the server says it is.
    pub(crate) progress: Option<watch::Sender<String>>,
}

impl Patience {
    /// Plain waiting.
    pub(crate) fn of(limit: Duration) -> Self {
        Self {
            limit,
            cancel: CancellationToken::new(),
            asking: None,
            progress: None,
        }
    }

    /// Ends when the time is over.
    pub(crate) async fn over(&self) {
        let Some(mut asking) = self.asking.clone() else {
            return tokio::time::sleep(self.limit).await;
        };
        let mut left = self.limit;
        loop {
            if *asking.borrow_and_update() > 0 {
                if asking.changed().await.is_err() {
                    return;
                }
                continue;
            }
            let begun = Instant::now();
            tokio::select! {
                () = tokio::time::sleep(left) => return,
                changed = asking.changed() => {
                    left = left.saturating_sub(begun.elapsed());
                    if changed.is_err() {
                        return tokio::time::sleep(left).await;
                    }
                }
            }
        }
    }
}

impl Session {
    /// Sends a request and waits for its result, as the server sent it.
    pub(crate) async fn ask(
        &self,
        request: ClientRequest,
        patience: &Patience,
    ) -> Result<Json, Failure> {
        let answered = self.ask_following(request, patience).await;
        answered.map(|(answer, _)| answer)
    }

    /// As `ask`, for requests about which the server may have something to say after its answer.
    pub(crate) async fn ask_following(
        &self,
        request: ClientRequest,
        patience: &Patience,
    ) -> Result<(Json, Following), Failure> {
        if patience.cancel.is_cancelled() {
            return Err(Failure::Cancelled);
        }
        let begun = self
            .peer
            .send_cancellable_request(request, PeerRequestOptions::no_options())
            .await;
        let mut handle = match begun {
            Ok(handle) => handle,
            Err(error) => return Err(self.failure(&error, None)),
        };
        let following = self
            .progress
            .follow(handle.progress_token.clone(), patience.progress.clone());
        let answer = tokio::select! {
            biased;
            () = patience.cancel.cancelled() => Err(Failure::Cancelled),
            answer = &mut handle.rx => match answer {
                Ok(Ok(result)) => {
                    self.marks.hear();
                    let answer = serde_json::to_value(result);
                    let answer = answer.map_err(|error| Failure::Protocol {
                        text: error.to_string(),
                    })?;
                    return Ok((answer, following));
                }
                Ok(Err(error)) => return Err(self.failure(&error, Some(&handle.id))),
                Err(_) => {
                    return Err(self.failure(&ServiceError::TransportClosed, Some(&handle.id)));
                }
            },
            () = patience.over() => Err(Failure::Timeout {
                after: patience.limit,
                said: following.last(),
            }),
        };
        self.abandon(handle);
        answer
    }

    /// Asks for a sign of life.
    pub(crate) async fn ping(&self, limit: Duration) -> Result<(), Failure> {
        let request = ClientRequest::PingRequest(PingRequest::default());
        self.ask(request, &Patience::of(limit)).await.map(|_| ())
    }

    /// Tells the server that nobody waits for this answer any more.
    fn abandon(&self, handle: RequestHandle<RoleClient>) {
        self.tasks.spawn(async move {
            let told = handle.cancel(Some("nobody waits for the answer".to_owned()));
            if !matches!(tokio::time::timeout(GOODBYE, told).await, Ok(Ok(()))) {
                tracing::debug!("a server could not be told that a call was given up");
            }
        });
    }

    /// Tells the server that nobody wants to know what comes of a task.
    pub(crate) fn give_up(&self, task: &str) {
        let peer = self.peer.clone();
        let request = task::about(task, "cancel");
        self.tasks.spawn(async move {
            let told = async {
                let options = PeerRequestOptions::no_options();
                let handle = peer.send_cancellable_request(request, options).await?;
                handle.await_response().await
            };
            match tokio::time::timeout(GOODBYE, told).await {
                Ok(Ok(_)) => {}
                // A task that has ended cannot be given up.
                Ok(Err(error)) => tracing::debug!(%error, "a task was not given up"),
                Err(_) => tracing::debug!("a server did not say whether it gave a task up"),
            }
        });
    }

    fn failure(&self, error: &ServiceError, id: Option<&RequestId>) -> Failure {
        let edge = Edge {
            piped: self.piped,
            session_id: self.marks.has_session_id(),
            sent: id.is_some_and(|id| self.marks.may_be_sent(id)),
            known: true,
        };
        Failure::from_service(error, edge)
    }
}
