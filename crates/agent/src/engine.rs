//! What all sessions share, and how a session is opened.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures_core::future::BoxFuture;
use hermes_config::Config;
use hermes_core::{Clock, Effort, Failure, Message, Random, RunMode, SessionId, Tool};
use hermes_llm::{Caller, Course, Route};
use hermes_secrets::RedactorHandle;
use hermes_store::Store;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::dump::Dumps;
use crate::references::Pages;
use crate::session::{self, Session};

/// What the engine works with; everything is handed in.
pub struct Services {
    /// Where conversations are kept.
    pub store: Store,
    /// Calls models.
    pub caller: Caller,
    /// The settings.
    pub config: Arc<Config>,
    /// The tools there are.
    pub tools: Arc<dyn ToolSource>,
    /// Reads pages that messages refer to.
    pub pages: Arc<dyn Pages>,
    /// Finds models by name, and those of helper tasks such as titles and summaries.
    pub routes: Arc<dyn Routes>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Makes ids and spreads waits.
    pub random: Arc<dyn Random>,
    /// Masks known secrets.
    pub redactor: RedactorHandle,
    /// The home directory, for the user's own files.
    pub home: PathBuf,
    /// The directories that programs are found in, as commands look for them.
    pub programs: Vec<PathBuf>,
    /// Where results that are too long for the model are kept.
    pub spill: PathBuf,
    /// Changes when a process in the background may have something to tell; the store says what.
    pub news: watch::Receiver<u64>,
    /// How long tools may run side by side, all together.
    pub side_by_side: Option<Duration>,
    /// Requests written to files.
    pub dumps: Dumps,
    /// Fires when the process ends.
    pub stop: CancellationToken,
}

/// Makes the tools of a session.
pub trait ToolSource: Send + Sync {
    /// All tools that exist for a session, offered or not. Called at the start of every turn; must not
    /// block.
    fn tools(&self, facts: &SessionFacts<'_>) -> Vec<Arc<dyn Tool>>;

    /// What the user and the model should know about tools that are missing or came and went. Called once
    /// for each message, after `tools`; what was told is not told again. Must not block.
    fn remarks(&self, facts: &SessionFacts<'_>) -> Vec<String> {
        let _ = facts;
        Vec::new()
    }
}

/// What a tool may know of its session before it is called.
pub struct SessionFacts<'a> {
    /// The session.
    pub session: &'a SessionId,
    /// Where it runs: `cli`, `telegram`, ….
    pub surface: &'a str,
    /// The directory relative paths start from.
    pub directory: &'a Path,
    /// Toolsets the caller insists on, in place of the configured ones.
    pub toolsets: Option<&'a [String]>,
    /// The conversation so far; tools that keep a list find it there.
    pub history: &'a [Arc<Message>],
}

/// Who does a helper task, and how.
pub struct Helpers {
    /// The routes to try, best first.
    pub routes: Vec<Arc<Route>>,
    /// Whether the user named the first one: others then take over only when it has no capacity.
    pub named: bool,
    /// Further attempts after a passing failure; as many as in conversations when absent.
    pub retries: Option<u32>,
    /// How hard to think; not at all when absent.
    pub effort: Option<Effort>,
}

impl From<Vec<Arc<Route>>> for Helpers {
    fn from(routes: Vec<Arc<Route>>) -> Self {
        Self {
            routes,
            named: false,
            retries: None,
            effort: None,
        }
    }
}

/// Finds routes by name.
pub trait Routes: Send + Sync {
    /// The routes to try for a helper task, best first. `main` is the one the conversation uses.
    fn helpers(&self, task: &str, main: &Arc<Route>) -> Helpers;

    /// A provider's refusal told how large a model's window really is.
    fn learned_window(&self, route: &Route, window: u32);

    /// The course for a model the user named. May take long: a server nearby loads its model first.
    fn course<'a>(
        &'a self,
        model: &'a str,
        provider: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Course, Failure>>;
}

/// How a session is to be opened.
pub struct SessionSpec {
    /// Its id; rows of an earlier run with this id are gone on with.
    pub id: SessionId,
    /// Where it runs: `cli`, `telegram`, ….
    pub surface: String,
    /// The directory relative paths start from.
    pub directory: PathBuf,
    /// The models.
    pub course: Course,
    /// Toolsets the caller insists on, in place of the configured ones.
    pub toolsets: Option<Vec<String>>,
    /// Model calls one message may lead to.
    pub most_calls: u32,
    /// How hard to think, in place of the configured effort.
    pub effort: Option<Effort>,
    /// Whether somebody can answer questions.
    pub attended: bool,
    /// Whether it goes on after this turn; a run that answers once does not.
    pub lasting: bool,
    /// Leave out context files and the user's own persona.
    pub ignore_rules: bool,
    /// Give the conversation a title.
    pub titles: bool,
    /// How actions are approved.
    pub mode: RunMode,
}

/// The engine. Cheap to clone.
#[derive(Clone)]
pub struct Engine {
    shared: Arc<Shared>,
}

pub(crate) struct Shared {
    pub(crate) services: Services,
    /// One task for each open session.
    pub(crate) sessions: TaskTracker,
    /// Work that goes on behind answers.
    pub(crate) behind: TaskTracker,
}

impl Engine {
    /// An engine over these services.
    pub fn new(services: Services) -> Self {
        Self {
            shared: Arc::new(Shared {
                services,
                sessions: TaskTracker::new(),
                behind: TaskTracker::new(),
            }),
        }
    }

    /// Opens a session. Nothing is read or written before its first operation, except that a lasting one looks
    /// up what its background processes did meanwhile.
    pub fn open(&self, spec: SessionSpec) -> Session {
        session::open(self.shared.clone(), spec)
    }

    /// Stops all sessions and waits for what they are writing.
    pub async fn shut_down(&self) {
        self.shared.services.stop.cancel();
        for tasks in [&self.shared.sessions, &self.shared.behind] {
            tasks.close();
            tasks.wait().await;
        }
    }

    /// Waits for work that goes on behind answers, such as titles.
    pub async fn settle(&self) {
        self.shared.behind.close();
        self.shared.behind.wait().await;
    }
}
