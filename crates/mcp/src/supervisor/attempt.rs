//! The work of a supervisor that takes time: ending one session, then making the next.

use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::Shared;
use crate::session::{Patience, Session};
use crate::transport::{Connection, Effort};
use crate::{Catalog, Failure, discover};

/// Shortest time that is left for the list of tools, however long the handshake took.
const LEAST_FOR_TOOLS: Duration = Duration::from_millis(500);
/// How often it is looked whether an old session is still used.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// How much longer an old session stays than a call may take: one that is at its own end says so itself.
const GRACE: Duration = Duration::from_secs(1);

/// What has to be over first.
pub(super) struct Before {
    /// At the start, the look at what is remembered; answers whether anything is.
    pub(super) recall: Option<JoinHandle<bool>>,
    /// Earlier work.
    pub(super) work: Option<JoinHandle<Done>>,
    /// A session.
    pub(super) old: Option<Old>,
    /// Fires when the server is to end.
    pub(super) shutdown: CancellationToken,
}

/// A session that is to end.
pub(super) struct Old {
    pub(super) connection: Connection,
    /// Gone when no call uses it any more.
    pub(super) users: Weak<Session>,
}

/// What comes then.
#[derive(Debug, Clone, Copy)]
pub(super) enum Plan {
    /// Nothing.
    Close,
    /// A new session.
    Connect {
        /// The wait before it is tried.
        after: Duration,
    },
}

/// How it ended.
pub(super) enum Done {
    Closed,
    Connected(Box<Fresh>),
    Failed(Failure),
}

/// A session that is ready for calls.
pub(super) struct Fresh {
    pub(super) connection: Connection,
    pub(super) catalog: Catalog,
}

/// Ends what was, waits and connects.
pub(super) async fn run(
    shared: Arc<Shared>,
    before: Before,
    plan: Plan,
    hurry: Arc<Notify>,
    stop: CancellationToken,
) -> Done {
    if let Some(work) = before.work
        && let Ok(Done::Connected(fresh)) = work.await
    {
        fresh.connection.close(shared.farewell()).await;
    }
    if let Some(old) = before.old {
        close(&shared, old, plan, before.shutdown).await;
    }
    let Plan::Connect { after } = plan else {
        return Done::Closed;
    };
    let wait = async {
        let remembered = match before.recall {
            Some(recall) => recall.await.unwrap_or(false),
            None => false,
        };
        let after = match remembered {
            true => shared.policy.head_start,
            false => after,
        };
        tokio::time::sleep(after).await;
    };
    tokio::select! {
        biased;
        () = stop.cancelled() => return Done::Closed,
        () = hurry.notified() => {}
        () = wait => {}
    }
    match connect(&shared, &stop).await {
        Ok(fresh) => Done::Connected(Box::new(fresh)),
        Err(_) if stop.is_cancelled() => Done::Closed,
        Err(failure) => Done::Failed(failure),
    }
}

/// A program must be gone before there is another, and before we are. Everything else stays until the calls
/// that use it have ended, and says goodbye while the next session is there already.
async fn close(shared: &Arc<Shared>, old: Old, plan: Plan, shutdown: CancellationToken) {
    let Old { connection, users } = old;
    if connection.has_program() || matches!(plan, Plan::Close) {
        return connection.close(shared.farewell()).await;
    }
    let (shared, limit) = (Arc::clone(shared), shared.policy.call_timeout + GRACE);
    let tasks = shared.tasks.clone();
    tasks.spawn(async move {
        let unused = async {
            while users.strong_count() > 0 {
                tokio::time::sleep(LOOK_EVERY).await;
            }
        };
        tokio::select! {
            () = shutdown.cancelled() => {}
            // Whoever still waits then is dropped with the session.
            _ = tokio::time::timeout(limit, unused) => {}
        }
        connection.close(shared.farewell()).await;
    });
}

/// One attempt, and once more with another token if the first was refused. Some servers refuse the
/// handshake, others only what follows it.
async fn connect(shared: &Shared, stop: &CancellationToken) -> Result<Fresh, Failure> {
    let failure = match attempt(shared, stop).await {
        Err(failure @ Failure::Auth { .. }) => failure,
        other => return other,
    };
    let decision = shared.route.recover(&failure);
    match tokio::time::timeout(shared.policy.auth_decision, decision).await {
        Ok(recovery) if recovery.is_possible() => attempt(shared, stop).await,
        Ok(crate::Recovery::Later { why }) => Err(Failure::Interrupted {
            sent: false,
            text: why,
        }),
        Ok(_) | Err(_) => Err(failure),
    }
}

/// The handshake and the tools.
async fn attempt(shared: &Shared, stop: &CancellationToken) -> Result<Fresh, Failure> {
    shared.route.clear(stop).await?;
    let limit = shared.policy.connect_timeout;
    let effort = Effort {
        limit,
        until: Instant::now() + limit,
        stop: stop.clone(),
        tasks: shared.tasks.clone(),
    };
    let connection = shared.route.open(shared.ears.clone(), &effort).await?;
    let left = effort.until.saturating_duration_since(Instant::now());
    let patience = Patience {
        limit: left.max(LEAST_FOR_TOOLS),
        cancel: stop.clone(),
        asking: None,
        progress: None,
    };
    match catalog(shared, &connection, &patience).await {
        Ok(catalog) => Ok(Fresh {
            connection,
            catalog,
        }),
        Err(failure) => {
            connection.close(shared.farewell()).await;
            Err(failure)
        }
    }
}

/// What the server offers. It is asked for tools only when it announced some.
async fn catalog(
    shared: &Shared,
    connection: &Connection,
    patience: &Patience,
) -> Result<Catalog, Failure> {
    let capabilities = connection.info.as_ref().map(|info| &info.capabilities);
    let mut catalog = Catalog::announced(capabilities);
    if capabilities.is_some_and(|found| found.tools.is_some()) {
        let session = Session::of(connection, 0, shared);
        let (server, policy) = (&shared.server, &shared.policy);
        discover::tools(&session, server, &mut catalog, patience, policy).await?;
    }
    Ok(catalog)
}

impl Session {
    /// A way to use a connection.
    pub(super) fn of(connection: &Connection, generation: u64, shared: &Shared) -> Self {
        Self {
            generation,
            peer: connection.peer.clone(),
            marks: Arc::clone(&connection.marks),
            piped: shared.route.is_piped(),
            progress: Arc::clone(&shared.ears.progress),
            tasks: shared.tasks.clone(),
        }
    }
}
