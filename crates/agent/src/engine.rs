//! What all sessions share, and how a session is opened.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures_core::future::BoxFuture;
use hermes_config::Config;
use hermes_core::{Clock, Effort, Failure, Message, Random, RunMode, SessionId, Tool};
use hermes_llm::{Caller, Course, Route};
use hermes_memory::{External, Memory};
use hermes_policy::FileRules;
use hermes_secrets::RedactorHandle;
use hermes_skills::Library;
use hermes_store::Store;
use hermes_tools::Person;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::dump::Dumps;
use crate::extent::Extent;
use crate::references::{Git, Pages};
use crate::session::{self, Session};

/// What the engine works with; everything is handed in.
pub struct Services {
    /// Where conversations are kept.
    pub store: Store,
    /// Calls models.
    pub caller: Caller,
    /// The settings.
    pub config: Arc<Config>,
    /// What the agent knows how to do.
    pub skills: Arc<Library>,
    /// What is remembered from earlier sessions.
    pub memory: Arc<Memory>,
    /// What an external memory remembers, where one is used.
    pub external: Option<External>,
    /// The tools there are.
    pub tools: Arc<dyn ToolSource>,
    /// Reads pages that messages refer to.
    pub pages: Arc<dyn Pages>,
    /// Starts git for changes that messages refer to.
    pub git: Arc<dyn Git>,
    /// Finds models by name, and those of helper tasks such as titles and summaries.
    pub routes: Arc<dyn Routes>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Makes ids and spreads waits.
    pub random: Arc<dyn Random>,
    /// Masks known secrets.
    pub redactor: RedactorHandle,
    /// What files may be read; those of a message that refers to them too.
    pub rules: Arc<FileRules>,
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
    /// Waits for tools that are on their way, such as those of a server that is being started. Called at the start of
    /// every turn, when what was typed is kept and before `tools`; dropped when the user stops the turn.
    fn ready<'a>(&'a self, audience: Audience<'a>) -> BoxFuture<'a, ()> {
        let _ = audience;
        Box::pin(async {})
    }

    /// All tools that exist for a session, offered or not. Called at the start of every turn; must not
    /// block.
    fn tools(&self, facts: &SessionFacts<'_>) -> Vec<Arc<dyn Tool>>;

    /// What the user and the model should know about tools that are missing or came and went. Called once
    /// for each message, after `tools`; what was told is not told again. Must not block.
    fn remarks(&self, facts: &SessionFacts<'_>) -> Vec<String> {
        let _ = facts;
        Vec::new()
    }

    /// Why a tool that is called by this name is not there, when it is one of those that come and go. Called for each
    /// call that no tool answers. Must not block.
    fn absent(&self, name: &str, audience: Audience<'_>) -> Option<String> {
        let _ = (name, audience);
        None
    }

    /// Asks the person behind a session for the keys that skills lack which were called for by name, where that may be
    /// asked there. Called in a turn before they are read. Answers with what could not be kept, in words.
    fn equip<'a>(
        &'a self,
        skills: &'a [String],
        audience: Audience<'a>,
        person: Person<'a>,
    ) -> BoxFuture<'a, Vec<String>> {
        let _ = (skills, audience, person);
        Box::pin(async { Vec::new() })
    }
}

/// Whom tools are for.
#[derive(Debug, Clone, Copy)]
pub struct Audience<'a> {
    /// Where the session runs: `cli`, `telegram`, ….
    pub surface: &'a str,
    /// Toolsets the caller insists on, in place of the configured ones.
    pub toolsets: Option<&'a [String]>,
    /// Whether there are later turns that a tool could join.
    pub lasting: bool,
}

/// What a tool may know of its session before it is called.
pub struct SessionFacts<'a> {
    /// The session.
    pub session: &'a SessionId,
    /// Where it runs: `cli`, `telegram`, ….
    pub surface: &'a str,
    /// Who speaks in it, where the surface serves several people.
    pub user: Option<&'a str>,
    /// The directory relative paths start from.
    pub directory: &'a Path,
    /// Toolsets the caller insists on, in place of the configured ones.
    pub toolsets: Option<&'a [String]>,
    /// The model that answers in it now.
    pub route: &'a Arc<Route>,
    /// The conversation so far; tools that keep a list find it there.
    pub history: &'a [Arc<Message>],
}

/// Who does a helper task, and how.
#[derive(Clone)]
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

    /// The course a session was opened with, after its servers were asked what only they know, such as the window
    /// they give a model; nothing where nobody has to be asked, or was already. Called at the start of every turn,
    /// because nobody is asked before there is a message. May take long, and be dropped before it ends.
    fn measured<'a>(&'a self, course: &'a Course) -> BoxFuture<'a, Option<Course>> {
        let _ = course;
        Box::pin(std::future::ready(None))
    }
}

/// How a session is to be opened.
pub struct SessionSpec {
    /// Its id; rows of an earlier run with this id are gone on with.
    pub id: SessionId,
    /// Where it runs: `cli`, `telegram`, ….
    pub surface: String,
    /// Who speaks in it, where the surface serves several people: what is known about one is not told another.
    pub user: Option<String>,
    /// What its row is filed under: the surface, unless the user says otherwise.
    pub source: String,
    /// Whether the model is told its id.
    pub tells_id: bool,
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
    /// The personality to speak in, in place of the configured one; none when empty.
    pub personality: Option<String>,
    /// Whether somebody can answer questions.
    pub attended: bool,
    /// Whether it goes on after this turn; a run that answers once does not.
    pub lasting: bool,
    /// Skills that stand in front of the conversation, by name.
    pub skills: Vec<String>,
    /// Leave out context files, the user's own persona, what is remembered and skills in front of the
    /// conversation.
    pub ignore_rules: bool,
    /// Give the conversation a title.
    pub titles: bool,
    /// How actions are approved.
    pub mode: RunMode,
}

impl SessionSpec {
    /// How much the model that answers now is given.
    pub(crate) fn extent(&self) -> Extent {
        Extent::of(self.course.route().is_embedded(), self.course.window())
    }

    /// Whom its tools are for.
    pub(crate) fn audience(&self) -> Audience<'_> {
        Audience {
            surface: &self.surface,
            toolsets: self.toolsets.as_deref(),
            lasting: self.lasting,
        }
    }

    /// Whether the model that answers now is given tools.
    pub(crate) fn gives_tools(&self) -> bool {
        self.extent() != Extent::Tiny && !self.course.route().quirks.no_tools
    }
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

    /// Stops all sessions and waits for what they are writing; `false` when some were still at it after `grace`.
    pub async fn shut_down(&self, grace: Duration) -> bool {
        self.shared.services.stop.cancel();
        let all = async {
            for tasks in [&self.shared.sessions, &self.shared.behind] {
                tasks.close();
                tasks.wait().await;
            }
        };
        tokio::time::timeout(grace, all).await.is_ok()
    }

    /// Does work behind conversations, until it ends or everything stops: it is handed what tells it so.
    pub fn behind<F>(&self, work: impl FnOnce(CancellationToken) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let work = work(self.shared.services.stop.child_token());
        drop(self.shared.behind.spawn(work));
    }

    /// Waits for work that goes on behind answers, such as titles.
    pub async fn settle(&self) {
        self.shared.behind.close();
        self.shared.behind.wait().await;
    }
}
