//! An engine over a real store and a scripted server.

mod moments;
mod scripted;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_core::future::BoxFuture;
use hermes_agent::{
    Audience, Dumps, Engine, Git, Pages, Routes, Services, Session, SessionFacts, SessionSpec,
    Starting, ToolSource,
};
use hermes_config::{Config, Environment};
use hermes_core::{
    Clock, Event, Failure, FailureKind, Op, RunMode, SeededRandom, SessionId, SystemClock, Tool,
    TurnEnd, WireProtocol,
};
use hermes_http::{AddressPolicy, ClientBuilder, ClientSettings};
use hermes_llm::keys::{AuthFile, Keyring, KeyringParts};
use hermes_llm::{
    Address, Auth, Caller, Course, Endpoint, Learned, Limits, PatienceSettings, Quirks, Route,
    SetPatience, Transport, WindowSource,
};
use hermes_memory::{Memory, MemoryOptions};
use hermes_policy::FileRules;
use hermes_secrets::{RedactorHandle, Secret, SecretName};
use hermes_skills::{Bare, Library, LibraryOptions, Locality, Shipped, System, roots};
use hermes_store::{Options, Record, Store};
use hermes_testkit::model_server::{ModelServer, RecordedRequest, Scenario};
use tempfile::TempDir;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

pub(crate) use moments::{finish_watching, heard_at_once, pass, stop_once, until};
pub(crate) use scripted::Scripted;

struct Tools {
    tools: Vec<Arc<dyn Tool>>,
    /// Whether they never come up.
    late: bool,
    awaited: Arc<AtomicBool>,
}

impl ToolSource for Tools {
    fn ready<'a>(&'a self, _: Audience<'a>) -> BoxFuture<'a, ()> {
        self.awaited.store(true, Ordering::SeqCst);
        match self.late {
            true => Box::pin(std::future::pending()),
            false => Box::pin(std::future::ready(())),
        }
    }

    fn tools(&self, facts: &SessionFacts<'_>) -> Vec<Arc<dyn Tool>> {
        let _ = facts.history;
        self.tools.clone()
    }
}

/// The model of helper tasks, when it is not that of the conversation.
struct Helpers(Option<Arc<Route>>);

impl Routes for Helpers {
    fn helpers(&self, _: &str, main: &Arc<Route>) -> hermes_agent::Helpers {
        vec![self.0.as_ref().unwrap_or(main).clone()].into()
    }

    fn learned_window(&self, _: &Route, _: u32) {}

    fn course<'a>(
        &'a self,
        model: &'a str,
        _: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Course, Failure>> {
        Box::pin(async move {
            Err(Failure::new(
                FailureKind::NotFound,
                format!("no {model} here"),
            ))
        })
    }
}

/// Everything a test of the engine needs.
pub(crate) struct Fixture {
    pub(crate) server: ModelServer,
    pub(crate) folder: TempDir,
    pub(crate) store: Store,
    pub(crate) config: Config,
    pub(crate) tools: Vec<Arc<dyn Tool>>,
    /// Whether tools never come up.
    pub(crate) late_tools: bool,
    /// Whether tools were waited for.
    pub(crate) awaited_tools: Arc<AtomicBool>,
    pub(crate) protocol: WireProtocol,
    pub(crate) most_calls: u32,
    pub(crate) attended: bool,
    pub(crate) titles: bool,
    pub(crate) fallbacks: Vec<Arc<Route>>,
    pub(crate) window: u32,
    pub(crate) attempts: u32,
    pub(crate) redactor: RedactorHandle,
    pub(crate) stale: Option<Duration>,
    /// How often it is said that nothing comes.
    pub(crate) notice: Duration,
    pub(crate) side_by_side: Option<Duration>,
    pub(crate) clock: Arc<dyn Clock>,
    /// The model of helper tasks, in place of that of the conversation.
    pub(crate) helper: Option<&'static str>,
    pub(crate) surface: &'static str,
    pub(crate) dump_all: bool,
    pub(crate) ignore_rules: bool,
    /// Skills in front of the conversation.
    pub(crate) skills: &'static [&'static str],
    pub(crate) toolsets: Option<&'static [&'static str]>,
    /// Where sessions run, inside the folder.
    pub(crate) directory: &'static str,
    pub(crate) quirks: Quirks,
    /// Changes when a background process may have something to tell.
    pub(crate) news: watch::Sender<u64>,
    /// The web.
    pub(crate) pages: Arc<dyn Pages>,
    /// The directories that programs are found in.
    pub(crate) programs: Vec<std::path::PathBuf>,
    /// Memory beside the files.
    pub(crate) external: Option<hermes_memory::External>,
}

/// What a turn did.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) text: String,
    pub(crate) events: Vec<Event>,
    pub(crate) why: TurnEnd,
    /// What the end of the turn says that was answered.
    pub(crate) answer: String,
}

impl Done {
    /// Takes in how it ended.
    fn end(&mut self, event: Event) {
        if let Event::TurnFinished { why, answer, .. } = &event {
            (self.why, self.answer) = (why.clone(), answer.clone());
        }
        self.events.push(event);
    }
}

impl Fixture {
    pub(crate) fn new(scenario: Scenario) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let redactor = RedactorHandle::default();
        let store = open_store(folder.path(), &redactor);
        std::fs::create_dir(folder.path().join("work")).unwrap();
        Self {
            server: ModelServer::start(scenario).unwrap(),
            store,
            config: Config::default(),
            tools: Vec::new(),
            late_tools: false,
            awaited_tools: Arc::default(),
            protocol: WireProtocol::ChatCompletions,
            most_calls: 90,
            attended: false,
            titles: false,
            fallbacks: Vec::new(),
            window: 128_000,
            attempts: 3,
            redactor,
            stale: None,
            notice: PatienceSettings::default().notice,
            side_by_side: None,
            clock: Arc::new(SystemClock),
            helper: None,
            surface: "cli",
            dump_all: false,
            news: watch::Sender::default(),
            ignore_rules: false,
            skills: &[],
            toolsets: None,
            directory: "work",
            quirks: Quirks::default(),
            pages: Arc::new(NoPages),
            programs: Vec::new(),
            external: None,
            folder,
        }
    }

    /// The store as another process would open it.
    pub(crate) fn other_store(&self) -> Store {
        open_store(self.folder.path(), &self.redactor)
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
                tied: true,
            }),
            limits: Limits {
                window: self.window,
                window_from: WindowSource::Configured,
                output: None,
            },
            price: None,
            quirks: Arc::new(self.quirks.clone()),
            patience: SetPatience {
                stale: self.stale,
                ..SetPatience::default()
            },
            why: Vec::new(),
        })
    }

    pub(crate) fn engine(&self) -> Engine {
        self.engine_over(&self.store, 7)
    }

    /// An engine as another process would have it: over its own store, with ids of its own.
    pub(crate) fn engine_over(&self, store: &Store, seed: u64) -> Engine {
        let http = ClientBuilder::new(ClientSettings::default(), AddressPolicy::Any)
            .build()
            .unwrap();
        let random = Arc::new(SeededRandom::new(seed));
        let keys = Keyring::new(KeyringParts {
            file: AuthFile::new(self.folder.path().join("auth.json"), None),
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
                    schemas: Arc::default(),
                    clock: self.clock.clone(),
                    local: Default::default(),
                    pictures: Default::default(),
                    allowances: Default::default(),
                },
                keys: Arc::new(keys),
                random: random.clone(),
                patience: PatienceSettings {
                    notice: self.notice,
                    ..PatienceSettings::default()
                },
                attempts: self.attempts,
                learned: Learned::default(),
            },
            config: Arc::new(self.config.clone()),
            skills: Arc::new(self.library()),
            memory: Arc::new(Memory::new(MemoryOptions {
                directory: self.folder.path().join("memories"),
                settings: (&self.config.memory).into(),
                store: store.clone(),
                clock: self.clock.clone(),
            })),
            external: self.external.clone(),
            tools: Arc::new(Tools {
                tools: self.tools.clone(),
                late: self.late_tools,
                awaited: self.awaited_tools.clone(),
            }),
            routes: Arc::new(Helpers(
                self.helper.map(|model| self.route_to(&self.server, model)),
            )),
            pages: self.pages.clone(),
            git: Arc::new(PlainGit),
            clock: self.clock.clone(),
            random,
            redactor: self.redactor.clone(),
            rules: Arc::new(FileRules {
                product_home: self.folder.path().to_owned(),
                ..FileRules::default()
            }),
            home: self.folder.path().to_owned(),
            programs: self.programs.clone(),
            spill: self.folder.path().join("spill"),
            news: self.news.subscribe(),
            side_by_side: self.side_by_side,
            dumps: Dumps {
                folder: self.folder.path().join("dumps"),
                every: self.dump_all,
            },
            stop: CancellationToken::new(),
        })
    }

    /// The skills of the home.
    fn library(&self) -> Library {
        Library::new(LibraryOptions {
            home: self.folder.path().to_owned(),
            roots: roots(self.folder.path(), &[], None, &Environment::default()),
            settings: self.config.skills.clone(),
            locality: Locality {
                system: System::Linux,
                surroundings: Vec::new(),
            },
            shipped: Shipped::Nothing,
            surroundings: Arc::new(Bare),
            clock: self.clock.clone(),
        })
    }

    pub(crate) fn spec(&self) -> SessionSpec {
        SessionSpec {
            id: Self::id(),
            surface: self.surface.to_owned(),
            user: None,
            source: self.surface.to_owned(),
            tells_id: false,
            directory: self.folder.path().join(self.directory),
            course: Course::new(
                self.route_to(&self.server, "scripted"),
                self.fallbacks.clone(),
            ),
            toolsets: self
                .toolsets
                .map(|sets| sets.iter().map(|set| (*set).to_owned()).collect()),
            most_calls: self.most_calls,
            effort: None,
            personality: None,
            attended: self.attended,
            lasting: true,
            skills: self.skills.iter().map(|name| (*name).to_owned()).collect(),
            ignore_rules: self.ignore_rules,
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

fn open_store(folder: &std::path::Path, redactor: &RedactorHandle) -> Store {
    Store::open(Options {
        path: folder.join("hermes.db"),
        blobs: folder.join("blobs"),
        clock: Arc::new(SystemClock),
        redactor: redactor.clone(),
        vfs: None,
    })
    .unwrap()
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
        answer: String::new(),
    };
    let reading = async {
        while let Some(event) = session.next_event().await {
            match &event {
                Event::TextDelta { text } => done.text.push_str(text),
                Event::TurnFinished { .. } => return done.end(event),
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

/// Tells the redactor about a secret.
pub(crate) fn learn(fixture: &Fixture, value: &str) {
    let name = SecretName::new("LAB_API_KEY").unwrap();
    let secret = Secret::new(name, value.to_owned(), []).unwrap();
    fixture.redactor.add(&secret);
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

/// A web without pages.
struct PlainGit;

impl Git for PlainGit {
    fn start<'a>(
        &'a self,
        _: &'a std::path::Path,
        arguments: Vec<String>,
    ) -> BoxFuture<'a, Result<Starting, String>> {
        Box::pin(async {
            Ok(Starting {
                argv: [vec!["/usr/bin/git".to_owned()], arguments].concat(),
                environment: Vec::new(),
            })
        })
    }
}

struct NoPages;

impl Pages for NoPages {
    fn read<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<String, String>> {
        Box::pin(async { Err("there is no web here".to_owned()) })
    }
}
