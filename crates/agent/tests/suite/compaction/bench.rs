//! A long conversation in a store, and a scripted server for its model and for the one that summarises.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use hermes_agent::{Engine, Routes, Services, Session, SessionFacts, SessionSpec, ToolSource};
use hermes_config::Config;
use hermes_core::{
    CallId, Event, Failure, FailureKind, ManualClock, Message, Op, Part, Role, RunMode,
    SeededRandom, SessionId, Tool, ToolCall, TurnEnd, WireProtocol,
};
use hermes_http::{AddressPolicy, ClientBuilder, ClientSettings};
use hermes_llm::keys::{AuthFile, Keyring, KeyringParts};
use hermes_llm::{
    Address, Auth, Caller, Course, Endpoint, Learned, Limits, PatienceSettings, Quirks, Route,
    SetPatience, Transport, WindowSource,
};
use hermes_secrets::RedactorHandle;
use hermes_store::{NewSession, Options, Record, Store};
use hermes_testkit::model_server::{ModelServer, RecordedRequest, Scenario, Step};
use serde_json::json;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

const WINDOW: u32 = 32_000;
pub(super) const STEPS: &str =
    r#"{"todos":[{"id":"1","content":"paint the shed","status":"in_progress"}]}"#;
pub(super) const SUMMARY: &str = "## Goal\nBuild a shed.\n\n## Completed actions\nMeasured the garden.\n\n\
     ## Remaining work\nPaint it.";

struct NoTools;

impl ToolSource for NoTools {
    fn tools(&self, _: &SessionFacts<'_>) -> Vec<Arc<dyn Tool>> {
        Vec::new()
    }
}

/// Summaries are written by a model of their own.
struct Summariser(Arc<Route>);

impl Routes for Summariser {
    fn helpers(&self, _: &str, _: &Arc<Route>) -> Vec<Arc<Route>> {
        vec![self.0.clone()]
    }

    fn learned_window(&self, _: &Route, _: u32) {}

    fn course(&self, model: &str, _: Option<&str>) -> Result<Course, Failure> {
        Err(Failure::new(
            FailureKind::BadRequest,
            format!("no {model} here"),
        ))
    }
}

pub(super) struct Bench {
    pub(super) server: ModelServer,
    folder: TempDir,
    pub(super) clock: Arc<ManualClock>,
    pub(super) id: SessionId,
}

impl Bench {
    pub(super) fn new(scenario: Scenario) -> Self {
        let start = "2026-07-01T12:00:00Z".parse().unwrap();
        Self {
            server: ModelServer::start(scenario).unwrap(),
            folder: tempfile::tempdir().unwrap(),
            clock: Arc::new(ManualClock::new(start)),
            id: SessionId::try_from("s".to_owned()).unwrap(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The store as another process would open it.
    pub(super) fn store(&self) -> Store {
        Store::open(Options {
            path: self.path("hermes.db"),
            blobs: self.path("blobs"),
            clock: self.clock.clone(),
            redactor: RedactorHandle::default(),
            vfs: None,
        })
        .unwrap()
    }

    fn route(&self, model: &str) -> Arc<Route> {
        Arc::new(Route {
            provider: "lab".to_owned(),
            provider_name: "The Lab".to_owned(),
            model: model.to_owned(),
            endpoint: Endpoint::Http(Address {
                base: self.server.base_url().parse().unwrap(),
                query: Vec::new(),
                headers: Vec::new(),
                protocol: WireProtocol::ChatCompletions,
                auth: Auth::None,
                local: true,
            }),
            limits: Limits {
                window: WINDOW,
                window_from: WindowSource::Configured,
                output: None,
            },
            quirks: Arc::new(Quirks::default()),
            patience: SetPatience::default(),
            why: Vec::new(),
        })
    }

    pub(super) fn engine(&self, store: &Store, seed: u64) -> Engine {
        let http = ClientBuilder::new(ClientSettings::default(), AddressPolicy::Any)
            .build()
            .unwrap();
        let random = Arc::new(SeededRandom::new(seed));
        let keys = Keyring::new(KeyringParts {
            file: AuthFile::new(self.path("auth.json"), None),
            http: http.clone(),
            clock: self.clock.clone(),
            random: random.clone(),
            strategies: BTreeMap::new(),
        });
        Engine::new(Services {
            store: store.clone(),
            caller: Caller {
                transport: Transport {
                    http,
                    media: Arc::new(store.blobs().clone()),
                    clock: self.clock.clone(),
                    local: Default::default(),
                },
                keys: Arc::new(keys),
                random: random.clone(),
                patience: PatienceSettings::default(),
                attempts: 1,
                learned: Learned::default(),
            },
            config: Arc::new(Config::default()),
            tools: Arc::new(NoTools),
            routes: Arc::new(Summariser(self.route("small"))),
            clock: self.clock.clone(),
            random,
            redactor: RedactorHandle::default(),
            home: self.path("home"),
            spill: self.path("spill"),
            stop: CancellationToken::new(),
        })
    }

    pub(super) fn open(&self, engine: &Engine) -> Session {
        engine.open(SessionSpec {
            id: self.id.clone(),
            surface: "cli".to_owned(),
            directory: self.folder.path().to_owned(),
            course: Course::new(self.route("main"), []),
            toolsets: None,
            most_calls: 10,
            effort: None,
            attended: false,
            ignore_rules: true,
            titles: false,
            mode: RunMode::Off,
        })
    }

    /// A conversation of three messages, much work with a list of steps in it, and an answer.
    pub(super) async fn seed(&self, store: &Store, rounds: usize) {
        let session = NewSession::new(self.id.clone(), "cli");
        store.create_session(session).await.unwrap();
        let mut messages = vec![
            Message::text(Role::User, "first question"),
            Message::text(Role::Assistant, "first answer"),
            Message::text(Role::User, "build a shed"),
        ];
        for round in 0..rounds {
            let name = if round == 1 { "todo" } else { "terminal" };
            let content = if round == 1 {
                STEPS.to_owned()
            } else {
                format!("plank{round} {}", "wood ".repeat(1_200))
            };
            let call = CallId(format!("call_{round}"));
            messages.push(Message {
                role: Role::Assistant,
                parts: vec![Part::ToolCall(ToolCall {
                    id: call.clone(),
                    name: name.to_owned(),
                    arguments: json!({"command": format!("saw {round}")}),
                })],
                raw: None,
            });
            messages.push(Message {
                role: Role::Tool,
                parts: vec![Part::ToolResult {
                    call,
                    name: name.to_owned(),
                    content,
                    failed: false,
                }],
                raw: None,
            });
        }
        messages.push(Message::text(Role::Assistant, "the walls stand"));
        let rows = messages.iter().map(Into::into).collect();
        store.append(&self.id, rows).await.unwrap();
    }

    pub(super) fn asked(&self, model: &str) -> Vec<RecordedRequest> {
        let mut requests = self.server.requests();
        requests.retain(|request| request.expect_json()["model"] == model);
        requests
    }
}

pub(super) fn by(model: &str, reply: impl Into<Step>) -> Step {
    reply.into().when_model(model)
}

pub(super) fn say(session: &Session, words: &str) {
    assert!(session.send(Op::UserMessage {
        text: words.to_owned(),
        media: Vec::new(),
    }));
}

/// Everything up to the end of the turn.
pub(super) async fn turn(session: &Session) -> (Vec<Event>, TurnEnd) {
    let mut events = Vec::new();
    loop {
        match session.next_event().await.expect("the session goes on") {
            Event::TurnFinished { why, .. } => return (events, why),
            event => events.push(event),
        }
    }
}

pub(super) fn is_compacted(events: &[Event]) -> bool {
    events
        .iter()
        .any(|event| matches!(event, Event::Compacted { before, after } if after * 5 <= before * 4))
}

pub(super) fn is_summary(row: &Record) -> bool {
    row.content
        .as_deref()
        .is_some_and(|text| text.starts_with("[Summary of the earlier conversation"))
}

pub(super) fn texts(rows: &[Record]) -> Vec<String> {
    rows.iter()
        .map(|row| row.content.clone().unwrap_or_default())
        .collect()
}
