//! An engine over a real store and a scripted server.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_core::future::BoxFuture;
use hermes_agent::{Engine, Routes, Services, Session, SessionFacts, SessionSpec, ToolSource};
use hermes_config::Config;
use hermes_core::{
    Beside, Effect, Event, Failure, FailureKind, Handling, Op, RunMode, SeededRandom, SessionId,
    SystemClock, Tool, ToolContext, ToolOutcome, ToolResult, ToolSpec, TurnEnd, WireProtocol,
};
use hermes_http::{AddressPolicy, ClientBuilder, ClientSettings};
use hermes_llm::keys::{AuthFile, Keyring, KeyringParts};
use hermes_llm::{
    Address, Auth, Caller, Course, Endpoint, Learned, Limits, PatienceSettings, Quirks, Route,
    SetPatience, Transport, WindowSource,
};
use hermes_secrets::RedactorHandle;
use hermes_store::{Options, Record, Store};
use hermes_testkit::model_server::{ModelServer, RecordedRequest, Scenario};
use serde_json::{Value as Json, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// What a scripted tool does with its arguments.
type Script = dyn Fn(Json, ToolContext) -> BoxFuture<'static, ToolOutcome> + Send + Sync;

/// A tool whose behaviour a test writes.
pub(crate) struct Scripted {
    spec: ToolSpec,
    handling: Handling,
    script: Box<Script>,
    pub(crate) calls: Mutex<Vec<Json>>,
}

impl Scripted {
    pub(crate) fn new(
        name: &str,
        script: impl Fn(Json, ToolContext) -> BoxFuture<'static, ToolOutcome> + Send + Sync + 'static,
    ) -> Self {
        Self {
            spec: ToolSpec {
                name: name.to_owned(),
                description: "A tool for tests.".to_owned(),
                parameters: json!({"type": "object", "properties": {"n": {"type": "integer"}}}),
                effect: Effect::Mutating,
            },
            handling: Handling::default(),
            script: Box::new(script),
            calls: Mutex::new(Vec::new()),
        }
    }

    /// Answers at once.
    pub(crate) fn saying(name: &str, text: &str) -> Self {
        let text = text.to_owned();
        Self::new(name, move |_, _| {
            let content = text.clone();
            Box::pin(async move {
                Ok(ToolResult {
                    content,
                    media: Vec::new(),
                })
            })
        })
    }

    pub(crate) fn beside(mut self, beside: Beside) -> Self {
        self.handling.beside = beside;
        self
    }

    pub(crate) fn deadline(mut self, deadline: Duration) -> Self {
        self.handling.deadline = deadline;
        self
    }

    pub(crate) fn untrusted(mut self) -> Self {
        self.handling.untrusted = true;
        self
    }
}

impl Tool for Scripted {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn handling(&self) -> Handling {
        self.handling
    }

    fn call<'a>(&'a self, arguments: Json, context: &'a ToolContext) -> BoxFuture<'a, ToolOutcome> {
        self.calls.lock().unwrap().push(arguments.clone());
        (self.script)(arguments, context.clone())
    }
}

struct Tools(Vec<Arc<dyn Tool>>);

impl ToolSource for Tools {
    fn tools(&self, facts: &SessionFacts<'_>) -> Vec<Arc<dyn Tool>> {
        let _ = facts.history;
        self.0.clone()
    }
}

struct SameModel;

impl Routes for SameModel {
    fn helpers(&self, _: &str, main: &Arc<Route>) -> Vec<Arc<Route>> {
        vec![main.clone()]
    }

    fn learned_window(&self, _: &Route, _: u32) {}

    fn course(&self, model: &str, _: Option<&str>) -> Result<Course, Failure> {
        Err(Failure::new(
            FailureKind::NotFound,
            format!("no {model} here"),
        ))
    }
}

/// Everything a test of the engine needs.
pub(crate) struct Fixture {
    pub(crate) server: ModelServer,
    pub(crate) folder: TempDir,
    pub(crate) store: Store,
    pub(crate) config: Config,
    pub(crate) tools: Vec<Arc<dyn Tool>>,
    pub(crate) protocol: WireProtocol,
    pub(crate) most_calls: u32,
    pub(crate) attended: bool,
    pub(crate) titles: bool,
    pub(crate) fallbacks: Vec<Arc<Route>>,
    pub(crate) window: u32,
    pub(crate) attempts: u32,
    pub(crate) redactor: RedactorHandle,
    pub(crate) stale: Option<Duration>,
}

/// What a turn did.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) text: String,
    pub(crate) events: Vec<Event>,
    pub(crate) why: TurnEnd,
}

impl Fixture {
    pub(crate) fn new(scenario: Scenario) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let redactor = RedactorHandle::default();
        let store = Store::open(Options {
            path: folder.path().join("hermes.db"),
            blobs: folder.path().join("blobs"),
            clock: Arc::new(SystemClock),
            redactor: redactor.clone(),
            vfs: None,
        })
        .unwrap();
        std::fs::create_dir(folder.path().join("work")).unwrap();
        Self {
            server: ModelServer::start(scenario).unwrap(),
            store,
            config: Config::default(),
            tools: Vec::new(),
            protocol: WireProtocol::ChatCompletions,
            most_calls: 90,
            attended: false,
            titles: false,
            fallbacks: Vec::new(),
            window: 128_000,
            attempts: 3,
            redactor,
            stale: None,
            folder,
        }
    }

    pub(crate) fn tool(mut self, tool: impl Tool + 'static) -> Self {
        self.tools.push(Arc::new(tool));
        self
    }

    pub(crate) fn id() -> SessionId {
        SessionId::try_from("20260101_000000_abcdef".to_owned()).unwrap()
    }

    pub(crate) fn route_to(&self, server: &ModelServer, model: &str) -> Arc<Route> {
        let base = match self.protocol {
            WireProtocol::ChatCompletions | WireProtocol::Responses => server.base_url(),
            WireProtocol::Gemini => format!("{}/v1beta", server.origin()),
            WireProtocol::Anthropic | WireProtocol::Converse => server.origin(),
        };
        Arc::new(Route {
            provider: "lab".to_owned(),
            provider_name: "The Lab".to_owned(),
            model: model.to_owned(),
            endpoint: Endpoint::Http(Address {
                base: base.parse().unwrap(),
                query: Vec::new(),
                headers: Vec::new(),
                protocol: self.protocol,
                auth: Auth::None,
                local: true,
            }),
            limits: Limits {
                window: self.window,
                window_from: WindowSource::Configured,
                output: None,
            },
            quirks: Arc::new(Quirks::default()),
            patience: SetPatience {
                stale: self.stale,
                ..SetPatience::default()
            },
            why: Vec::new(),
        })
    }

    pub(crate) fn engine(&self) -> Engine {
        let http = ClientBuilder::new(ClientSettings::default(), AddressPolicy::Any)
            .build()
            .unwrap();
        let random = Arc::new(SeededRandom::new(7));
        let keys = Keyring::new(KeyringParts {
            file: AuthFile::new(self.folder.path().join("auth.json"), None),
            http: http.clone(),
            clock: Arc::new(SystemClock),
            random: random.clone(),
            strategies: BTreeMap::new(),
        });
        Engine::new(Services {
            store: self.store.clone(),
            caller: Caller {
                transport: Transport {
                    http,
                    media: Arc::new(self.store.blobs().clone()),
                    clock: Arc::new(SystemClock),
                    local: Default::default(),
                },
                keys: Arc::new(keys),
                random: random.clone(),
                patience: PatienceSettings::default(),
                attempts: self.attempts,
                learned: Learned::default(),
            },
            config: Arc::new(self.config.clone()),
            tools: Arc::new(Tools(self.tools.clone())),
            routes: Arc::new(SameModel),
            clock: Arc::new(SystemClock),
            random,
            redactor: self.redactor.clone(),
            home: self.folder.path().to_owned(),
            spill: self.folder.path().join("spill"),
            stop: CancellationToken::new(),
        })
    }

    pub(crate) fn spec(&self) -> SessionSpec {
        SessionSpec {
            id: Self::id(),
            surface: "cli".to_owned(),
            directory: self.folder.path().join("work"),
            course: Course::new(
                self.route_to(&self.server, "scripted"),
                self.fallbacks.clone(),
            ),
            toolsets: None,
            most_calls: self.most_calls,
            effort: None,
            attended: self.attended,
            ignore_rules: false,
            titles: self.titles,
            mode: RunMode::Manual,
        }
    }

    /// A session in a fresh engine, as after a restart.
    pub(crate) fn open(&self) -> Session {
        self.engine().open(self.spec())
    }

    /// One message in a fresh engine, to the end of its turn.
    pub(crate) async fn ask(&self, text: &str) -> Done {
        let session = self.open();
        say(&session, text).await
    }

    pub(crate) fn requests(&self) -> Vec<RecordedRequest> {
        self.server.requests()
    }

    pub(crate) fn rows(&self) -> Vec<Record> {
        apart(|| self.store.history(&Self::id()).wait().unwrap())
    }

    /// Role and text of every row the model sees.
    pub(crate) fn texts(&self) -> Vec<(String, String)> {
        self.rows()
            .into_iter()
            .map(|row| (row.role.clone(), row.content.unwrap_or_default()))
            .collect()
    }
}

/// Waits on a thread of its own: the test's thread drives a runtime.
pub(crate) fn apart<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| scope.spawn(work).join().unwrap())
}

/// Says something and reads events to the end of the turn.
pub(crate) async fn say(session: &Session, text: &str) -> Done {
    let text = text.to_owned();
    assert!(session.send(Op::UserMessage {
        text,
        media: Vec::new()
    }));
    finish(session).await
}

/// Reads events to the end of the turn.
pub(crate) async fn finish(session: &Session) -> Done {
    let mut done = Done {
        text: String::new(),
        events: Vec::new(),
        why: TurnEnd::Interrupted,
    };
    let reading = async {
        while let Some(event) = session.next_event().await {
            match &event {
                Event::TextDelta { text } => done.text.push_str(text),
                Event::TurnFinished { why, .. } => {
                    done.why = why.clone();
                    done.events.push(event);
                    return;
                }
                _ => {}
            }
            done.events.push(event);
        }
    };
    tokio::time::timeout(Duration::from_secs(30), reading)
        .await
        .expect("the turn ends");
    done
}

/// The notices of a turn.
pub(crate) fn notices(done: &Done) -> Vec<&str> {
    done.events
        .iter()
        .filter_map(|event| match event {
            Event::Notice { text } => Some(text.as_str()),
            _ => None,
        })
        .collect()
}
