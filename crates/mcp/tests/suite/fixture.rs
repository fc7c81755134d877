//! A fleet in a directory of its own, with short times, and the ways tests talk to it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_core::future::BoxFuture;
use hermes_config::McpServer;
use hermes_core::{
    Answer, AnsweredBy, Asker, CallId, Consultation, Origin, Question, Reply, RunMode, SessionId,
    SystemClock, SystemRandom, Tool, ToolContext, ToolError, ToolHost, ToolOutcome, TurnId,
};
use hermes_exec::{Backend, LocalBackend, LocalOptions, WardenProgram};
use hermes_http::ClientSettings;
use hermes_mcp::{
    Authority, Borders, Fleet, Gatekeeper, Handle, Memory, RecoveryPolicy, Sampler, Server, Shelf,
    ShelfFolders, State, Surroundings, View,
};
use hermes_secrets::RedactorHandle;
use hermes_store::Blobs;
use hermes_testkit::mcp_server::{McpServer as Remote, Profile};
use serde_json::{Value as Json, json};
use tokio_util::sync::CancellationToken;

/// How long a condition may take to come true on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// Times short enough for tests and long enough for a busy machine.
pub(crate) fn quick() -> RecoveryPolicy {
    RecoveryPolicy {
        connect_timeout: Duration::from_secs(20),
        backoff_first: Duration::from_millis(20),
        backoff_cap: Duration::from_millis(100),
        keepalive_floor: Duration::from_millis(10),
        child_grace: Duration::from_millis(500),
        ..RecoveryPolicy::default()
    }
}

/// A fleet and what it stands on.
pub(crate) struct Bench {
    pub(crate) fleet: Fleet,
    servers: BTreeMap<String, McpServer>,
    folder: tempfile::TempDir,
}

/// Lets everything start and vouches with what it is given.
pub(crate) struct Gate(pub(crate) Option<Arc<dyn Authority>>);

impl Gatekeeper for Gate {
    fn authority(&self, server: &Server) -> Option<Arc<dyn Authority>> {
        self.0.clone().filter(|_| server.wants_oauth())
    }

    fn clear<'a>(&'a self, _: &'a Server) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async { Ok(()) })
    }
}

/// The server at an address, already running.
pub(crate) fn remote(profile: Profile) -> Remote {
    Remote::start(profile).unwrap()
}

/// The entry of a server at an address.
pub(crate) fn at(url: String) -> McpServer {
    McpServer {
        url,
        ..McpServer::default()
    }
}

/// Servers as the settings name them.
pub(crate) fn servers(entries: &BTreeMap<String, McpServer>) -> impl Iterator<Item = Server> {
    let entries = entries.iter();
    entries.map(|(name, entry)| Server::new(name, entry.clone()))
}

impl Bench {
    pub(crate) fn new(policy: RecoveryPolicy) -> Self {
        Self::with_authority(policy, None)
    }

    pub(crate) fn with_authority(
        policy: RecoveryPolicy,
        authority: Option<Arc<dyn Authority>>,
    ) -> Self {
        Self::with_gatekeeper(policy, Arc::new(Gate(authority)))
    }

    pub(crate) fn with_gatekeeper(policy: RecoveryPolicy, gatekeeper: Arc<dyn Gatekeeper>) -> Self {
        Self::with(policy, gatekeeper, None)
    }

    pub(crate) fn with(
        policy: RecoveryPolicy,
        gatekeeper: Arc<dyn Gatekeeper>,
        sampler: Option<Arc<dyn Sampler>>,
    ) -> Self {
        Self::made(policy, |around| {
            around.gatekeeper = gatekeeper;
            around.sampler = sampler;
        })
    }

    /// A bench whose programs are started by something around this machine's backend.
    pub(crate) fn starting_through(
        policy: RecoveryPolicy,
        wrap: impl FnOnce(Arc<dyn Backend>) -> Arc<dyn Backend>,
    ) -> Self {
        Self::made(policy, |around| {
            around.backend = wrap(Arc::clone(&around.backend));
        })
    }

    /// A bench that remembers what servers offered.
    pub(crate) fn remembering(policy: RecoveryPolicy, memory: Memory) -> Self {
        Self::made(policy, |around| around.memory = Some(memory))
    }

    /// A bench beside tools of these names.
    pub(crate) fn beside(policy: RecoveryPolicy, taken: &[&str]) -> Self {
        let taken = taken.iter().map(|name| (*name).to_owned()).collect();
        Self::made(policy, |around| around.reserved = taken)
    }

    fn made(policy: RecoveryPolicy, change: impl FnOnce(&mut Surroundings)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().to_owned();
        let mut around = Surroundings {
            policy,
            backend: Arc::new(LocalBackend::new(LocalOptions {
                warden: WardenProgram {
                    program: PathBuf::from(env!("CARGO_BIN_EXE_mcp-agent")),
                    arguments: vec!["warden".to_owned()],
                    grace: Duration::from_millis(500),
                },
                scratch: home.join("scratch"),
                confiner: None,
            })),
            network: ClientSettings::default(),
            redactor: RedactorHandle::default(),
            home: home.clone(),
            user_home: None,
            directory: home.clone(),
            environment: [("PATH", "/usr/bin:/bin"), ("A_SECRET", "hidden")]
                .into_iter()
                .collect(),
            clock: Arc::new(SystemClock),
            random: Arc::new(SystemRandom),
            gatekeeper: Arc::new(Gate(None)),
            borders: Borders::default(),
            shelf: Arc::new(Shelf::new(
                ShelfFolders::of_home(&home),
                Some(Blobs::new(home.join("blobs"))),
            )),
            memory: None,
            decisions: None,
            patience: PATIENCE,
            sampler: None,
            reserved: Vec::new(),
            blocked: Vec::new(),
        };
        change(&mut around);
        Self {
            fleet: Fleet::new(around),
            servers: BTreeMap::new(),
            folder,
        }
    }

    /// A bench with one server `one` at an address, connected.
    pub(crate) async fn connected(policy: RecoveryPolicy, url: String) -> Self {
        let mut bench = Self::new(policy);
        bench.add("one", at(url)).await;
        bench.ready("one").await;
        bench
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Adds a server; does not wait for it.
    pub(crate) async fn add(&mut self, name: &str, server: McpServer) {
        self.servers.insert(name.to_owned(), server);
        self.fleet.apply(servers(&self.servers)).await;
    }

    /// Removes a server.
    pub(crate) async fn remove(&mut self, name: &str) {
        self.servers.remove(name);
        self.fleet.apply(servers(&self.servers)).await;
    }

    /// The entry of the fixture program with these faults; its files are in a directory of its own.
    pub(crate) fn program(&self, name: &str, faults: &str) -> McpServer {
        let state = self.state(name);
        std::fs::create_dir_all(&state).unwrap();
        McpServer {
            command: env!("CARGO_BIN_EXE_mcp-stdio").to_owned(),
            env: BTreeMap::from([
                ("SX_STATE".to_owned(), state.display().to_string()),
                ("SX_FAULTS".to_owned(), faults.to_owned()),
            ]),
            ..McpServer::default()
        }
    }

    /// Where the fixture program of a server keeps its files.
    pub(crate) fn state(&self, name: &str) -> PathBuf {
        self.path().join(format!("state-{name}"))
    }

    /// The lines of one of those files.
    pub(crate) fn lines(&self, name: &str, file: &str) -> Vec<String> {
        std::fs::read_to_string(self.state(name).join(file))
            .unwrap_or_default()
            .lines()
            .map(str::to_owned)
            .collect()
    }

    pub(crate) fn handle(&self, name: &str) -> Handle {
        self.fleet.handle(name).unwrap()
    }

    pub(crate) fn view(&self, name: &str) -> View {
        self.handle(name).view()
    }

    /// Waits for a condition on a server.
    pub(crate) async fn until(&self, name: &str, what: &str, met: impl Fn(&View) -> bool) -> View {
        let view = self.handle(name).wait_for(PATIENCE, &met).await;
        assert!(met(&view), "{what}: {view:?}");
        view
    }

    pub(crate) async fn ready(&self, name: &str) -> View {
        self.until(name, "ready", View::is_ready).await
    }

    /// Waits until the breaker of server `one` has counted so many failures. Calls report how they ended
    /// without waiting, so a look right after a call may come too early.
    pub(crate) async fn failures(&self, count: u32) {
        self.until("one", "counted", |view| view.failures == count)
            .await;
    }

    pub(crate) async fn parked(&self, name: &str) -> View {
        self.until(name, "parked", |view| view.state == State::Parked)
            .await
    }

    /// A tool by the name the model knows it by.
    pub(crate) fn tool(&self, wire: &str) -> Arc<dyn Tool> {
        let tools = self.fleet.tools();
        let names: Vec<&str> = tools.iter().map(|tool| tool.spec().name.as_str()).collect();
        tools
            .iter()
            .find(|tool| tool.spec().name == wire)
            .unwrap_or_else(|| panic!("no {wire} in {names:?}"))
            .clone()
    }

    /// The names of all tools that are offered.
    pub(crate) fn names(&self) -> Vec<String> {
        let tools = self.fleet.tools();
        tools.iter().map(|tool| tool.spec().name.clone()).collect()
    }

    /// Calls a tool of server `one` and reads what the model would get.
    pub(crate) async fn call(&self, tool: &str, arguments: Json) -> Json {
        self.call_at("one", tool, arguments).await
    }

    /// Calls a tool of a server and reads what the model would get.
    pub(crate) async fn call_at(&self, server: &str, tool: &str, arguments: Json) -> Json {
        let tool = self.tool(&format!("mcp__{server}__{tool}"));
        read(
            tool.call(arguments, &context(CancellationToken::new()))
                .await,
        )
    }

    /// As `call`, by somebody else.
    pub(crate) async fn call_as(&self, tool: &str, arguments: Json, caller: &ToolContext) -> Json {
        let tool = self.tool(&format!("mcp__one__{tool}"));
        read(tool.call(arguments, caller).await)
    }

    /// As `call`, for the usual tool that changes something.
    pub(crate) async fn echo(&self, text: &str) -> Json {
        self.call("echo", json!({ "text": text })).await
    }
}

/// What the model gets.
pub(crate) fn read(outcome: ToolOutcome) -> Json {
    match outcome {
        Ok(result) => serde_json::from_str(&result.content).unwrap(),
        Err(error) => json!({ "error": error.to_string() }),
    }
}

/// The text of an error.
pub(crate) fn error(answer: &Json) -> String {
    answer["error"].as_str().unwrap_or_default().to_owned()
}

/// A call's surroundings, with nobody to ask.
pub(crate) fn context(cancel: CancellationToken) -> ToolContext {
    ToolContext {
        session: SessionId::try_from("session".to_owned()).unwrap(),
        turn: TurnId(1),
        call: CallId("call".to_owned()),
        directory: PathBuf::from("/"),
        cancel,
        deadline: Duration::from_secs(60),
        asker: Arc::new(Nobody),
        mode: RunMode::Off,
        attended: false,
        lasting: true,
        origin: Origin::Conversation,
        nested: false,
        host: Arc::new(Screen::default()),
    }
}

struct Nobody;

impl Asker for Nobody {
    fn ask(&self, _: Question, _: CancellationToken) -> BoxFuture<'_, Reply> {
        Box::pin(async {
            Reply {
                answer: Answer::no(),
                by: AnsweredBy::Runtime,
            }
        })
    }
}

/// A session that shows what its tools print, and offers nothing else.
#[derive(Default)]
pub(crate) struct Screen(Mutex<Vec<String>>);

impl Screen {
    pub(crate) fn shown(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

impl ToolHost for Screen {
    fn show<'a>(&'a self, _: &'a ToolContext, chunk: String) -> BoxFuture<'a, ()> {
        self.0.lock().unwrap().push(chunk);
        Box::pin(async {})
    }

    fn tell<'a>(&'a self, _: &'a ToolContext, _: String) -> BoxFuture<'a, ()> {
        Box::pin(async {})
    }

    fn consult<'a>(&'a self, _: &'a ToolContext, _: Consultation) -> BoxFuture<'a, Option<String>> {
        Box::pin(async { None })
    }

    fn offered(&self) -> Vec<String> {
        Vec::new()
    }

    fn call<'a>(
        &'a self,
        name: &'a str,
        _: Json,
        _: &'a ToolContext,
    ) -> BoxFuture<'a, ToolOutcome> {
        Box::pin(async move {
            Err(ToolError::ForModel {
                message: format!("no {name} here"),
            })
        })
    }
}
