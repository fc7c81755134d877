//! All servers: started side by side, changed one by one, ended together.

mod status;
mod surroundings;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::join_all;
use hermes_core::Tool;
use serde_json::Value as Json;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::consent::Consent;
use crate::memory::Recollection;
use crate::requests::{Callers, Ears, SamplingDesk};
use crate::server::Kind;
use crate::supervisor::{Shared, Supervisor};
use crate::tool::{McpTool, Offer};
use crate::transport::{HttpRoute, Route, StderrLog, StdioRoute};
use crate::{Caller, Handle, Namespace, Operation, Server, State, Trouble};
pub use status::{Change, Status, StatusWord, Unavailable};
pub use surroundings::{Borders, Gatekeeper, Surroundings};

/// All configured servers. Clones are the same fleet.
#[derive(Clone)]
pub struct Fleet(Arc<Inner>);

struct Inner {
    surroundings: Arc<Surroundings>,
    log: StderrLog,
    tasks: TaskTracker,
    members: Mutex<Members>,
    /// Fires when Hermes itself ends.
    exit: CancellationToken,
    /// Grows with every change of what the servers offer or do.
    changes: watch::Sender<u64>,
}

#[derive(Default)]
struct Members {
    by_name: BTreeMap<String, Member>,
    closed: bool,
}

/// A configured server.
#[derive(Clone)]
enum Member {
    /// Supervised.
    On(Handle),
    /// Switched off in the settings.
    Disabled(Server),
    /// Not used because its entry is dangerous, or makes no sense.
    Refused(Server, String),
}

impl Member {
    fn server(&self) -> &Server {
        match self {
            Self::On(handle) => handle.server(),
            Self::Disabled(server) | Self::Refused(server, _) => server,
        }
    }
}

/// What a change of the settings did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reload {
    /// New servers.
    pub added: Vec<String>,
    /// Servers that are gone.
    pub removed: Vec<String>,
    /// Servers that were connected anew because their settings changed.
    pub changed: Vec<String>,
    /// Servers that were left alone.
    pub kept: Vec<String>,
}

impl Fleet {
    /// A fleet without servers.
    pub fn new(surroundings: Surroundings) -> Self {
        let tasks = TaskTracker::new();
        let log = StderrLog::new(
            &surroundings.home,
            surroundings.redactor.clone(),
            Arc::clone(&surroundings.clock),
            &tasks,
        );
        Self(Arc::new(Inner {
            surroundings: Arc::new(surroundings),
            log,
            tasks,
            members: Mutex::default(),
            exit: CancellationToken::new(),
            changes: watch::Sender::new(0),
        }))
    }

    /// Makes the fleet what the settings say. Servers whose settings did not change are left alone, those
    /// that changed end before they are started anew, and nothing waits for a connection.
    pub async fn apply(&self, servers: impl IntoIterator<Item = Server>) -> Reload {
        let servers = servers.into_iter();
        let mut wanted: BTreeMap<String, Server> = servers
            .map(|server| (server.name().to_owned(), server))
            .collect();
        let mut reload = Reload::default();
        let mut leaving = Vec::new();
        {
            let mut members = self.members();
            for (name, member) in &members.by_name {
                match wanted.get(name) {
                    None => reload.removed.push(name.clone()),
                    Some(server) if member.server() == server => {
                        wanted.remove(name);
                        reload.kept.push(name.clone());
                        continue;
                    }
                    Some(_) => reload.changed.push(name.clone()),
                }
                if let Member::On(handle) = member {
                    leaving.push(handle.clone());
                }
            }
            let gone = reload.removed.iter().chain(&reload.changed);
            for name in gone {
                members.by_name.remove(name);
            }
        }
        join_all(leaving.iter().map(Handle::shutdown)).await;
        if let Some(memory) = &self.0.surroundings.memory {
            for name in &reload.removed {
                if let Err(error) = memory.forget(name).await {
                    tracing::warn!(server = name, %error, "a removed server is still remembered");
                }
            }
        }
        let memory = self.0.surroundings.memory.as_ref();
        let memory = memory.filter(|_| !wanted.is_empty());
        let remembered = memory
            .map(|memory| memory.recall_all(wanted.values().cloned().collect(), &self.0.tasks));
        for (name, server) in wanted {
            self.add(server, remembered.clone());
            if !reload.changed.contains(&name) {
                reload.added.push(name);
            }
        }
        self.0.changes.send_modify(|count| *count += 1);
        reload
    }

    fn add(&self, server: Server, remembered: Option<Recollection>) {
        let mut members = self.members();
        // Somebody else may have applied the same settings meanwhile.
        if members.closed || members.by_name.contains_key(server.name()) {
            return;
        }
        let name = server.name().to_owned();
        let member = if !server.settings().enabled {
            Member::Disabled(server)
        } else if let Some(why) = server.refusal(&self.0.surroundings.blocked) {
            tracing::warn!(server = name, why, "MCP server not started");
            Member::Refused(server, why)
        } else {
            for warning in server.warnings() {
                tracing::warn!("{warning}");
            }
            Member::On(self.supervise(server, remembered))
        };
        members.by_name.insert(name, member);
    }

    fn supervise(&self, server: Server, remembered: Option<Recollection>) -> Handle {
        let surroundings = &self.0.surroundings;
        let policy = server.policy(&surroundings.policy);
        let callers = Arc::<Callers>::default();
        let ears = Ears {
            server: server.name().into(),
            tools_changed: Arc::default(),
            task_news: Arc::default(),
            callers: Arc::clone(&callers),
            progress: Arc::default(),
            sampling: self.sampling(&server),
            elicitation: server.elicitation(),
            directory: surroundings.directory.clone(),
            redactor: surroundings.redactor.clone(),
            random: Arc::clone(&surroundings.random),
            log_text: policy.log_text,
        };
        let around = Arc::clone(surroundings);
        let route = match server.kind() {
            Kind::Stdio => {
                Route::Stdio(StdioRoute::new(server.clone(), around, self.0.log.clone()))
            }
            Kind::Http | Kind::Sse => {
                let authority = surroundings.gatekeeper.authority(&server);
                Route::Http(HttpRoute::new(server.clone(), around, authority))
            }
        };
        let shared = Shared {
            server,
            policy,
            route,
            callers,
            ears,
            tasks: self.0.tasks.clone(),
            clock: Arc::clone(&surroundings.clock),
            memory: surroundings.memory.clone(),
            exit: self.0.exit.clone(),
        };
        let handle = Supervisor::start(shared, remembered);
        self.0
            .tasks
            .spawn(pass_on(handle.watch(), self.0.changes.clone()));
        handle
    }

    fn sampling(&self, server: &Server) -> Option<Arc<SamplingDesk>> {
        let surroundings = &self.0.surroundings;
        let limits = server.sampling();
        let sampler = surroundings.sampler.as_ref().filter(|_| limits.enabled)?;
        Some(Arc::new(SamplingDesk::new(
            server.name(),
            limits,
            Arc::clone(sampler),
            surroundings.redactor.clone(),
            Arc::clone(&surroundings.shelf),
        )))
    }

    /// The way to a server that is supervised.
    pub fn handle(&self, name: &str) -> Option<Handle> {
        match self.members().by_name.get(name) {
            Some(Member::On(handle)) => Some(handle.clone()),
            Some(Member::Disabled(_) | Member::Refused(..)) | None => None,
        }
    }

    /// Does an operation at a server, which may have been removed since the name was learnt.
    pub async fn call(
        &self,
        server: &str,
        operation: Operation,
        caller: Caller,
    ) -> Result<Json, Trouble> {
        match self.handle(server) {
            Some(handle) => handle.call(operation, caller).await,
            None => Err(Trouble::NotConnected),
        }
    }

    /// Waits until every server is connected or has failed to, or `limit` has passed. Returns at once when
    /// that is so already.
    pub async fn discovered(&self, limit: Duration) {
        let handles = self.handles();
        let each = handles.iter().map(async |handle| {
            handle.wanted().await;
            handle.wait_for(limit, crate::View::is_settled).await
        });
        join_all(each).await;
    }

    /// Counts the changes of what servers offer and do; compare to know whether to look again.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.0.changes.subscribe()
    }

    /// Waits until every server that is wanted has tools to offer, remembered ones count, or has failed to, or
    /// `limit` has passed. Returns at once when that is so already.
    pub async fn offering(&self, limit: Duration, wanted: impl Fn(&Server) -> bool) {
        let offers = |view: &crate::View| view.is_settled() || view.catalog.offers_anything();
        self.wait(offers, |handle| wanted(handle.server()).then_some(limit))
            .await;
    }

    /// The same until the first attempt to connect is over, which each server has its own time for; at most
    /// `limit`.
    pub async fn first_try(&self, limit: Duration, wanted: impl Fn(&Server) -> bool) {
        let over = |view: &crate::View| {
            view.failed_attempts > 0 || view.is_settled() || view.catalog.offers_anything()
        };
        let limit_of = |handle: &Handle| handle.shared.policy.connect_timeout.min(limit);
        self.wait(over, |handle| {
            wanted(handle.server()).then(|| limit_of(handle))
        })
        .await;
    }

    /// Waits for the servers that have a limit.
    async fn wait(
        &self,
        over: impl Fn(&crate::View) -> bool,
        limit: impl Fn(&Handle) -> Option<Duration>,
    ) {
        let handles = self.handles();
        let waits = handles.iter().filter_map(|handle| {
            let limit = limit(handle)?;
            Some(handle.wait_for(limit, &over))
        });
        join_all(waits).await;
    }

    /// The tools that are offered now, sorted by name.
    pub fn tools(&self) -> Vec<Arc<dyn Tool>> {
        self.tools_of(|_| true)
    }

    /// The tools of some servers, by the names they have among all, sorted by name.
    pub fn tools_of(&self, wanted: impl Fn(&str) -> bool) -> Vec<Arc<dyn Tool>> {
        let surroundings = &self.0.surroundings;
        let handles = self.handles();
        let handles = handles.iter().filter(|handle| wanted(handle.name()));
        let namespace = {
            let members = self.members();
            let names = members.by_name.keys().map(String::as_str);
            Namespace::new(names, surroundings.reserved.iter().cloned())
        };
        let mut tools: Vec<McpTool> = handles
            .flat_map(|handle| {
                let offer = Offer {
                    fleet: self.clone(),
                    server: handle.server().clone(),
                    shelf: Arc::clone(&surroundings.shelf),
                    redactor: surroundings.redactor.clone(),
                    policy: handle.shared.policy.clone(),
                    consent: Consent {
                        redactor: surroundings.redactor.clone(),
                        random: Arc::clone(&surroundings.random),
                        clock: Arc::clone(&surroundings.clock),
                        store: surroundings.decisions.clone(),
                        patience: surroundings.patience,
                    },
                };
                McpTool::all(&handle.view().catalog, &namespace, &Arc::new(offer))
            })
            .collect();
        tools.sort_by(|one, other| one.spec().name.cmp(&other.spec().name));
        tools
            .into_iter()
            .map(|tool| Arc::new(tool) as Arc<dyn Tool>)
            .collect()
    }

    /// Every configured server, for people.
    pub fn status(&self) -> Vec<Status> {
        self.members().by_name.values().map(Status::of).collect()
    }

    /// The servers whose tools describe themselves differently than when a person last heard of it, until they are
    /// connected anew.
    pub fn restated(&self) -> Vec<Change> {
        let handles = self.handles();
        handles.iter().filter_map(Change::of).collect()
    }

    /// A person was told of such a change, which is no news from then on, in this run or in a later one.
    pub fn accept(&self, change: Change) {
        let Some(memory) = self.0.surroundings.memory.clone() else {
            return;
        };
        self.0.tasks.spawn(async move {
            let Change {
                server, restated, ..
            } = change;
            if let Err(error) = memory.accept(&server, &restated).await {
                tracing::warn!(server, %error, "it will be told again how its tools changed");
            }
        });
    }

    /// The servers that are configured and cannot be used now, for the model and for people.
    pub fn unavailable(&self) -> Vec<Unavailable> {
        self.members()
            .by_name
            .values()
            .filter_map(Unavailable::of)
            .collect()
    }

    /// Asks every server that has no session to try now. A program that was closed because nobody used it
    /// stays so until somebody does.
    pub async fn nudge(&self) {
        for handle in self.handles() {
            if !matches!(handle.view().state, State::Ready | State::Recycled) {
                handle.reconnect().await;
            }
        }
    }

    /// Ends all servers and everything they started, because Hermes ends: nobody waits long for goodbyes. The fleet
    /// stays empty.
    pub async fn shutdown(&self) {
        self.0.exit.cancel();
        let leaving = {
            let mut members = self.members();
            members.closed = true;
            std::mem::take(&mut members.by_name)
        };
        let ends = leaving.values().filter_map(|member| match member {
            Member::On(handle) => Some(handle.shutdown()),
            Member::Disabled(_) | Member::Refused(..) => None,
        });
        let limit = self.0.surroundings.policy.shutdown_all;
        if tokio::time::timeout(limit, join_all(ends)).await.is_err() {
            tracing::warn!("not all MCP servers ended in time");
        }
        self.0.changes.send_modify(|count| *count += 1);
    }

    fn handles(&self) -> Vec<Handle> {
        let members = self.members();
        let on = members.by_name.values().filter_map(|member| match member {
            Member::On(handle) => Some(handle.clone()),
            Member::Disabled(_) | Member::Refused(..) => None,
        });
        on.collect()
    }

    fn members(&self) -> std::sync::MutexGuard<'_, Members> {
        self.0
            .members
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts the changes of one server until it has ended.
async fn pass_on(mut view: watch::Receiver<crate::View>, changes: watch::Sender<u64>) {
    while view.changed().await.is_ok() {
        changes.send_modify(|count| *count += 1);
    }
}
