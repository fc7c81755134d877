//! A fleet in a folder, as the program makes one.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use futures_core::future::BoxFuture;
use hermes_config::McpServer;
use hermes_core::{
    Answer, AnsweredBy, Asker, CallId, Consultation, Effect, Origin, Question, Reply, RunMode,
    SessionId, SystemClock, SystemRandom, Tool, ToolContext, ToolError, ToolHost, ToolOutcome,
    TurnId,
};
use hermes_exec::{LocalBackend, LocalOptions, WardenProgram};
use hermes_http::ClientSettings;
use hermes_mcp::{
    Authority, Borders, Caller, Catalog, Fleet, Gatekeeper, Handle, Memory, Operation,
    RecoveryPolicy, RemoteTool, Server, Shelf, ShelfFolders, Surroundings, View,
};
use hermes_secrets::RedactorHandle;
use hermes_store::{Options, Store};
use serde_json::{Map, Value as Json, json};
use tokio_util::sync::CancellationToken;

/// Tools of a remembered server.
const TOOLS: usize = 10;
const PATIENCE: Duration = Duration::from_secs(30);

struct Open;

impl Gatekeeper for Open {
    fn authority(&self, _: &Server) -> Option<Arc<dyn Authority>> {
        None
    }

    fn clear<'a>(&'a self, _: &'a Server) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async { Ok(()) })
    }
}

impl Asker for Open {
    fn ask(&self, _: Question, _: CancellationToken) -> BoxFuture<'_, Reply> {
        Box::pin(async {
            Reply {
                answer: Answer::no(),
                by: AnsweredBy::Runtime,
            }
        })
    }
}

/// Nobody looks.
impl ToolHost for Open {
    fn show<'a>(&'a self, _: &'a ToolContext, _: String) -> BoxFuture<'a, ()> {
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

/// A fleet, and how entries use it.
pub(super) struct Crew {
    pub(super) fleet: Fleet,
}

impl Crew {
    pub(super) fn new(hermes: &Path, home: &Path, memory: Option<Memory>) -> Self {
        let fleet = Fleet::new(Surroundings {
            policy: RecoveryPolicy {
                // Sessions expire on purpose here.
                call_reconnects: 1_000_000,
                ..RecoveryPolicy::default()
            },
            backend: Arc::new(LocalBackend::new(LocalOptions {
                warden: WardenProgram {
                    program: hermes.to_owned(),
                    arguments: vec!["__warden".to_owned()],
                    grace: Duration::from_millis(500),
                },
                scratch: home.join("scratch"),
                confiner: None,
            })),
            patience: Duration::from_secs(30),
            network: ClientSettings::default(),
            redactor: RedactorHandle::default(),
            home: home.to_owned(),
            user_home: None,
            directory: home.to_owned(),
            environment: [("PATH", "/usr/bin:/bin")].into_iter().collect(),
            borders: Borders::default(),
            clock: Arc::new(SystemClock),
            random: Arc::new(SystemRandom),
            gatekeeper: Arc::new(Open),
            shelf: Arc::new(Shelf::new(ShelfFolders::of_home(home), None)),
            memory,
            decisions: None,
            sampler: None,
            reserved: Vec::new(),
            blocked: Vec::new(),
        });
        Self { fleet }
    }

    /// Makes the fleet these servers.
    pub(super) async fn apply(&self, servers: impl IntoIterator<Item = (String, McpServer)>) {
        let servers = servers.into_iter();
        let servers = servers.map(|(name, entry)| Server::new(name, entry));
        self.fleet.apply(servers).await;
    }

    /// Waits for a server.
    pub(super) async fn ready(&self, name: &str) -> anyhow::Result<Handle> {
        let handle = self.fleet.handle(name).context("no such server")?;
        let view = handle.wait_for(PATIENCE, View::is_ready).await;
        ensure!(view.is_ready(), "{view:?}");
        Ok(handle)
    }

    /// The tool `read` of a server, as a model has it.
    pub(super) fn tool(&self, server: &str) -> anyhow::Result<Arc<dyn Tool>> {
        let name = format!("mcp__{server}__read");
        let tools = self.fleet.tools();
        let mut tools = tools.into_iter();
        tools
            .find(|tool| tool.spec().name == name)
            .with_context(|| format!("there is no {name}"))
    }

    /// Calls it as a turn does, up to what the model is shown.
    pub(super) async fn call(tool: &Arc<dyn Tool>, context: &ToolContext) -> anyhow::Result<()> {
        let called = tool.call(json!({ "text": "x" }), context).await;
        let called = called.map_err(|error| anyhow::anyhow!("{error}"))?;
        ensure!(called.content == r#"{"result":"x"}"#, "{}", called.content);
        Ok(())
    }

    /// What is around such a call.
    pub(super) fn context() -> anyhow::Result<ToolContext> {
        Ok(ToolContext {
            session: SessionId::try_from("bench".to_owned())?,
            turn: TurnId(1),
            call: CallId("call".to_owned()),
            directory: PathBuf::from("/"),
            cancel: CancellationToken::new(),
            deadline: PATIENCE,
            asker: Arc::new(Open),
            mode: RunMode::Off,
            attended: false,
            lasting: true,
            origin: Origin::Conversation,
            nested: false,
            host: Arc::new(Open),
        })
    }

    /// Calls the tool `read` of a session.
    pub(super) async fn read(handle: &Handle) -> anyhow::Result<()> {
        let operation = Operation::CallTool {
            name: "read".to_owned(),
            arguments: Map::from_iter([("text".to_owned(), json!("x"))]),
            repeatable: true,
        };
        let caller = Caller {
            session: SessionId::try_from("bench".to_owned())?,
            asker: Arc::new(Open),
            cancel: CancellationToken::new(),
            progress: None,
        };
        let answer = handle.call(operation, caller).await;
        answer.map_err(|trouble| anyhow::anyhow!("{trouble:?}"))?;
        Ok(())
    }
}

/// A memory in a folder.
pub(super) fn memory(home: &Path) -> anyhow::Result<Memory> {
    Ok(Memory::new(Store::open(Options {
        path: home.join("hermes.db"),
        blobs: home.join("blobs"),
        clock: Arc::new(SystemClock),
        redactor: RedactorHandle::default(),
        vfs: None,
    })?))
}

/// Makes servers known, and answers how many tools they have together.
pub(super) async fn remember(memory: &Memory, servers: &[(String, McpServer)]) -> usize {
    let tool = |number: usize| RemoteTool {
        name: format!("tool{number}"),
        description: Some("Does something with a text.".to_owned()),
        schema: json!({ "type": "object", "properties": { "text": { "type": "string" } } }),
        effect: Effect::ReadOnly,
        needs_task: false,
    };
    let catalog = Catalog {
        tools: (0..TOOLS).map(tool).collect(),
        resources: false,
        prompts: false,
        tasks: false,
        cut: None,
    };
    for (name, entry) in servers {
        let server = Server::new(name, entry.clone());
        memory.keep(&server, &catalog).await;
    }
    servers.len() * TOOLS
}
