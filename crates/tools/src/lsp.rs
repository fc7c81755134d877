//! Language servers: what they find wrong with a file that was changed, and was not wrong before.
//!
//! A server is started when a file of its language is first changed, through the backend of the session's commands
//! and confined as those are. Sessions that work in one project with the same rights share it. It ends when nobody
//! asks it for long, with the program, or when it breaks. A change never fails because of a server and never waits
//! longer than the settings say.
//!
//! | module | holds |
//! |---|---|
//! | `language` | which server knows which files |
//! | `server` | one server that runs |
//! | `documents` | the files it knows |
//! | `protocol`, `frame` | what is said to it, and how |
//! | `findings` | what it says, in words |

mod documents;
mod findings;
mod frame;
mod language;
mod protocol;
mod server;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex as Now, PoisonError};
use std::time::Duration;

use hermes_core::ToolContext;
use hermes_policy::Confinement;
use tokio::sync::{Mutex, mpsc, oneshot};
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::workplace::{Confined, Workplace};
use findings::Finding;
use language::Server;
use server::{Look, Start};

pub use language::OwnServer;

/// Servers that run at once; the one that came first goes first.
const MOST_SERVERS: usize = 6;
/// How often a server that breaks is started.
const MOST_STARTS: u32 = 3;
/// Larger files are not looked at.
const LARGEST: usize = 1 << 20;
/// How long servers may take to end with the program.
const GONE_WITHIN: Duration = Duration::from_secs(1);
/// What the directory of a project has in it.
const ROOTS: [&str; 8] = [
    ".git",
    "Cargo.toml",
    "go.mod",
    "package.json",
    "pyproject.toml",
    "tsconfig.json",
    "compile_commands.json",
    "pom.xml",
];

/// How much of a project is looked at after a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// The changed file.
    Document,
    /// What its server looks at when a file is saved.
    Project,
}

/// Finds a program by its name.
pub type FindProgram = Arc<dyn Fn(&str) -> Option<PathBuf> + Send + Sync>;

/// What the settings say about language servers.
pub struct LspSettings {
    /// How long a change waits for what is found.
    pub wait: Duration,
    /// How much is looked at.
    pub extent: Extent,
    /// Whether a person is told which server is missing.
    pub tell_missing: bool,
    /// Servers of the user's own, which come before the known ones.
    pub own: Vec<OwnServer>,
    /// Names of servers that are not used.
    pub off: Vec<String>,
    /// Where their programs are.
    pub find: FindProgram,
}

/// The language servers of one program.
pub struct LanguageServers {
    settings: LspSettings,
    running: Now<Vec<Running>>,
    /// Servers that are missing and that somebody heard of.
    told: Now<HashSet<String>>,
    tasks: TaskTracker,
    stop: CancellationToken,
}

struct Running {
    server: String,
    root: PathBuf,
    confinement: Option<Arc<Confinement>>,
    slot: Arc<Mutex<Slot>>,
}

/// The way to a server, as often as it had to be started.
#[derive(Default)]
struct Slot {
    starts: u32,
    asks: Option<mpsc::Sender<Look>>,
}

/// A file that was changed.
pub(crate) struct Changed<'a> {
    pub(crate) path: &'a Path,
    pub(crate) before: Option<&'a str>,
    pub(crate) after: &'a str,
}

/// The language servers as one session reaches them.
#[derive(Clone)]
pub struct Diagnostics {
    /// The servers.
    pub servers: Arc<LanguageServers>,
    /// Where the session works.
    pub place: Arc<Workplace>,
}

impl Diagnostics {
    /// New errors of changed files, a line each; nothing when there are none, or nobody knows.
    pub(crate) async fn report(
        &self,
        changes: &[Changed<'_>],
        context: &ToolContext,
    ) -> Option<String> {
        let deadline = Instant::now() + self.servers.settings.wait;
        let mut told = Vec::new();
        for changed in changes {
            let look = self.servers.look(&self.place, changed, deadline, context);
            let look = timeout_at(deadline, look);
            let Ok(found) = context.cancel.run_until_cancelled(look).await? else {
                break;
            };
            if let Some(words) = found.and_then(|found| findings::words(&found)) {
                told.push((changed.path, words));
            }
        }
        match told.as_slice() {
            [] => None,
            [(_, words)] if changes.len() == 1 => Some(words.clone()),
            several => {
                let parts = several.iter();
                let parts: Vec<String> = parts
                    .map(|(path, words)| format!("{}:\n{words}", path.display()))
                    .collect();
                Some(parts.join("\n"))
            }
        }
    }
}

impl LanguageServers {
    /// Nothing is started before a file is changed.
    pub fn new(settings: LspSettings) -> Self {
        Self {
            settings,
            running: Now::default(),
            told: Now::default(),
            tasks: TaskTracker::new(),
            stop: CancellationToken::new(),
        }
    }

    /// Ends all of them.
    pub async fn close(&self) {
        self.stop.cancel();
        self.tasks.close();
        if tokio::time::timeout(GONE_WITHIN, self.tasks.wait())
            .await
            .is_err()
        {
            tracing::warn!("a language server did not end in time");
        }
    }

    async fn look(
        &self,
        place: &Workplace,
        changed: &Changed<'_>,
        deadline: Instant,
        context: &ToolContext,
    ) -> Option<Vec<Finding>> {
        let size = changed.after.len().max(changed.before.map_or(0, str::len));
        if size > LARGEST || self.stop.is_cancelled() {
            return None;
        }
        let server = self.server(changed.path, context).await?;
        let asks = self.running(place, &server, changed.path).await?;
        let (reply, answer) = oneshot::channel();
        let look = Look {
            uri: protocol::uri(changed.path),
            language: server.language,
            before: changed.before.map(str::to_owned),
            after: changed.after.to_owned(),
            deadline,
            reply,
        };
        asks.send(look).await.ok()?;
        answer.await.ok()?
    }

    /// The first server for a file that is there.
    async fn server(&self, path: &Path, context: &ToolContext) -> Option<Server> {
        let mut known = language::servers(path, &self.settings.own);
        known.retain(|server| !self.settings.off.contains(&server.name));
        let there = known.iter().find_map(|server| {
            let (program, arguments) = server.argv.split_first()?;
            let mut argv = vec![(self.settings.find)(program)?.display().to_string()];
            argv.extend_from_slice(arguments);
            Some(Server {
                argv,
                ..server.clone()
            })
        });
        if there.is_none()
            && self.settings.tell_missing
            && let Some(first) = known.first()
            && self.told().insert(first.name.clone())
        {
            let program = first.argv.first().map_or("", String::as_str);
            let text = format!(
                "{} files could be checked after each change if {program} were installed \
                 (`lsp.install_strategy: off` ends this remark)",
                first.language
            );
            context.host.tell(context, text).await;
        }
        there
    }

    fn told(&self) -> std::sync::MutexGuard<'_, HashSet<String>> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The way to a server, which is started when it does not run.
    async fn running(
        &self,
        place: &Workplace,
        server: &Server,
        path: &Path,
    ) -> Option<mpsc::Sender<Look>> {
        let confined = place.confinement.get().await;
        if let Confined::Refused(_) = confined {
            return None;
        }
        let confinement = confined.confinement();
        let root = root(path)?;
        let slot = self.slot(server, &root, confinement.as_ref());
        let mut slot = slot.lock().await;
        if let Some(asks) = slot.asks.as_ref().filter(|asks| !asks.is_closed()) {
            return Some(asks.clone());
        }
        if slot.starts >= MOST_STARTS {
            return None;
        }
        slot.starts += 1;
        let start = Start {
            server,
            root: &root,
            environment: place.environment.clone(),
            confinement,
            extent: self.settings.extent,
            number: place.random.next_u64(),
        };
        let stop = self.stop.child_token();
        match server::start(&*place.backend, start, &self.tasks, stop).await {
            Ok(asks) => {
                slot.asks = Some(asks.clone());
                Some(asks)
            }
            Err(error) => {
                tracing::warn!(server = server.name, %error, "a language server did not start");
                None
            }
        }
    }

    /// The place of a server. One that has to make room for it ends, because nobody can ask it any more.
    fn slot(
        &self,
        server: &Server,
        root: &Path,
        confinement: Option<&Arc<Confinement>>,
    ) -> Arc<Mutex<Slot>> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let known = running.iter().find(|one| {
            one.server == server.name && one.root == root && one.confinement.as_ref() == confinement
        });
        if let Some(known) = known {
            return known.slot.clone();
        }
        if running.len() >= MOST_SERVERS {
            running.remove(0);
        }
        let slot = Arc::new(Mutex::new(Slot::default()));
        running.push(Running {
            server: server.name.clone(),
            root: root.to_owned(),
            confinement: confinement.cloned(),
            slot: slot.clone(),
        });
        slot
    }
}

impl Drop for LanguageServers {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// The project around a file, or its own directory.
fn root(path: &Path) -> Option<PathBuf> {
    let own = path.parent()?;
    let project = own
        .ancestors()
        .find(|above| ROOTS.iter().any(|mark| above.join(mark).exists()));
    Some(project.unwrap_or(own).to_owned())
}
