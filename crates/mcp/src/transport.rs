//! The ways to a server: a program's pipes, streamable HTTP and the older event streams.
//!
//! Every way ends in a [`Connection`]: a session that answered the handshake, and whatever has to be
//! ended with it. Errors keep their types up to here, so that `failure` can tell them apart.

mod child;
mod http;
mod last_words;
mod lines;
mod marks;
mod overlong;
mod reading;
mod sse;
mod stdio;
mod stream;
mod wire;

use std::sync::Arc;
use std::time::Duration;

use futures_core::future::BoxFuture;
use rmcp::model::ServerPeerInfo;
use rmcp::service::{
    ClientInitializeError, Peer, QuitReason, RunningService, RunningServiceCancellationToken,
};
use rmcp::{ClientCacheConfig, RoleClient};
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::requests::Ears;
use crate::{Failure, RecoveryPolicy, Refusal};
pub(crate) use child::Child;
pub(crate) use http::{HttpRoute, apply_trust};
pub(crate) use last_words::StderrLog;
pub(crate) use marks::Marks;
pub(crate) use reading::{EXECUTION, TASK, TASKS};
pub(crate) use stdio::StdioRoute;
pub(crate) use wire::WireError;

/// How long a session of ours may take to say goodbye before it is dropped.
const GOODBYE: Duration = Duration::from_secs(6);
/// How long looking at a program before it is started may take; whoever looks has shorter limits of his own.
const LONGEST_LOOK: Duration = Duration::from_secs(15);

/// How a server is reached; makes any number of connections, one after the other.
pub(crate) enum Route {
    Stdio(StdioRoute),
    Http(HttpRoute),
}

impl Route {
    /// Whether it may be gone at all. Looking takes its own time, which is not that of the attempt.
    pub(crate) async fn clear(&self, stop: &CancellationToken) -> Result<(), Failure> {
        match self {
            Self::Stdio(route) => tokio::select! {
                biased;
                () = stop.cancelled() => Err(Failure::Cancelled),
                cleared = tokio::time::timeout(LONGEST_LOOK, route.clear()) => {
                    cleared.unwrap_or_else(|_| Err(Failure::timeout(LONGEST_LOOK)))
                }
            },
            Self::Http(_) => Ok(()),
        }
    }

    /// Makes a connection. When it fails, nothing of it is left: a program has ended before this returns.
    pub(crate) async fn open(&self, ears: Ears, effort: &Effort) -> Result<Connection, Failure> {
        match self {
            Self::Stdio(route) => route.open(ears, effort).await,
            Self::Http(route) => effort.bound(route.open(ears, &effort.tasks)).await?,
        }
    }

    /// Whether another token may help against this failure. Bounded by the caller.
    pub(crate) async fn recover(&self, failure: &Failure) -> crate::Recovery {
        let no = || crate::Recovery::NeedsLogin {
            why: failure.to_string(),
        };
        let (
            Self::Http(route),
            Failure::Auth {
                token, challenge, ..
            },
        ) = (self, failure)
        else {
            return no();
        };
        match route.authority() {
            Some(authority) => {
                authority
                    .recover(Refusal {
                        token: token.as_ref(),
                        challenge: challenge.as_deref(),
                    })
                    .await
            }
            None => no(),
        }
    }

    /// Ends when somebody else changed what we show to the server; never, where there is nothing to show.
    pub(crate) fn credentials_changed(&self) -> BoxFuture<'_, ()> {
        match self {
            Self::Http(route) => match route.authority() {
                Some(authority) => authority.changed(),
                None => Box::pin(std::future::pending()),
            },
            Self::Stdio(_) => Box::pin(std::future::pending()),
        }
    }

    /// Whether requests go through a program's pipes.
    pub(crate) fn is_piped(&self) -> bool {
        matches!(self, Self::Stdio(_))
    }
}

/// What an attempt to connect may take, and who owns its tasks.
#[derive(Clone)]
pub(crate) struct Effort {
    /// How long all of it may take.
    pub(crate) limit: Duration,
    /// When that time is over.
    pub(crate) until: Instant,
    pub(crate) stop: CancellationToken,
    pub(crate) tasks: TaskTracker,
}

impl Effort {
    /// Gives up when the time is over or the attempt is stopped.
    pub(crate) async fn bound<T>(&self, work: impl Future<Output = T>) -> Result<T, Failure> {
        tokio::select! {
            biased;
            () = self.stop.cancelled() => Err(Failure::Cancelled),
            done = tokio::time::timeout_at(self.until, work) => {
                done.map_err(|_| Failure::timeout(self.limit))
            }
        }
    }
}

/// A session that answered the handshake.
pub(crate) struct Connection {
    pub(crate) peer: Peer<RoleClient>,
    pub(crate) info: Option<Arc<ServerPeerInfo>>,
    pub(crate) marks: Arc<Marks>,
    stop: RunningServiceCancellationToken,
    /// Says how the session ended, once it has.
    over: watch::Receiver<Option<String>>,
    child: Option<Child>,
}

impl Connection {
    /// Takes the session over and watches for its end.
    pub(crate) async fn watch(
        service: RunningService<RoleClient, Ears>,
        marks: Arc<Marks>,
        child: Option<Child>,
        tasks: &TaskTracker,
    ) -> Self {
        let peer = service.peer().clone();
        // What a server offers is remembered by its supervisor, which knows when that is over.
        peer.set_response_cache_config(ClientCacheConfig::disabled())
            .await;
        let info = service.peer().peer_info();
        let stop = service.cancellation_token();
        let (tell, over) = watch::channel(None);
        tasks.spawn(async move {
            let why = match service.waiting().await {
                Ok(QuitReason::Cancelled) => "closed by us",
                Ok(_) => "the connection was closed by the server",
                Err(_) => "the session broke",
            };
            tell.send_replace(Some(why.to_owned()));
        });
        Self {
            peer,
            info,
            marks,
            stop,
            over,
            child,
        }
    }

    /// Waits for the end of the session or of its program, and says what was seen.
    pub(crate) fn ended(&self) -> BoxFuture<'static, String> {
        let mut over = self.over.clone();
        let exited = self.child.as_ref().map(Child::exited);
        Box::pin(async move {
            let session = async {
                match over.wait_for(Option::is_some).await {
                    Ok(why) => why.clone().unwrap_or_default(),
                    Err(_) => "the session is gone".to_owned(),
                }
            };
            match exited {
                // The program's end explains the session's.
                Some(exited) => tokio::select! {
                    biased;
                    why = exited => why,
                    why = session => why,
                },
                None => session.await,
            }
        })
    }

    /// The id of the program.
    pub(crate) fn pid(&self) -> Option<u32> {
        self.child.as_ref().and_then(Child::pid)
    }

    /// Whether everything behind the session must be gone before there may be another.
    pub(crate) fn has_program(&self) -> bool {
        self.child.is_some()
    }

    /// Says goodbye and ends the program, if there is one. Returns when nothing of it is left.
    pub(crate) async fn close(self, farewell: Farewell) {
        let mut over = self.over;
        self.stop.cancel();
        // A session that does not end in time is dropped with its tasks.
        let ended = over.wait_for(Option::is_some);
        if tokio::time::timeout(farewell.session, ended).await.is_err() {
            tracing::debug!("a session did not end in time");
        }
        if let Some(child) = self.child {
            child.close(farewell).await;
        }
    }
}

/// How long the steps of an end may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Farewell {
    /// For the session to say goodbye.
    session: Duration,
    /// For a program to end after its input was closed.
    by_itself: Duration,
    /// For a program to end after it was asked to, and again after it was made to.
    asked: Duration,
    /// What becomes of a program that was asked in vain.
    insist: Insist,
}

/// Who makes a program end that does not go when it is asked to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Insist {
    /// We do, and wait for it: before it is gone no other may be started.
    Here,
    /// The warden, which outlives us and gives it more time than a person wants to wait for.
    Warden,
}

impl Farewell {
    /// While Hermes goes on.
    pub(crate) fn usual(policy: &RecoveryPolicy) -> Self {
        Self {
            session: GOODBYE,
            by_itself: policy.child_grace,
            asked: policy.child_grace,
            insist: Insist::Here,
        }
    }

    /// When it ends, and somebody waits for the prompt of their shell.
    pub(crate) fn brisk(policy: &RecoveryPolicy) -> Self {
        Self {
            session: policy.exit_grace,
            by_itself: policy.exit_grace.min(policy.child_grace),
            asked: policy.exit_grace.min(policy.child_grace),
            insist: Insist::Warden,
        }
    }
}

/// Runs a handshake and says what went wrong in our terms.
pub(crate) async fn handshake(
    serving: impl Future<Output = Result<RunningService<RoleClient, Ears>, ClientInitializeError>>,
) -> Result<RunningService<RoleClient, Ears>, Failure> {
    serving
        .await
        .map_err(|error| Failure::from_handshake(&error))
}
