//! What calls through the whole crate need: a caller with real keys and a real client, routes to a
//! scripted server, and somebody who listens.

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use hermes_core::{
    CallId, Effect, Effort, ManualClock, MediaReader, Message, ModelRequest, ModelSettings, Part,
    Role, SeededRandom, ToolCall, ToolSpec, WireProtocol,
};
use hermes_http::{AddressPolicy, ClientBuilder, ClientSettings};
use hermes_llm::keys::{AuthFile, KeySource, Keyring, KeyringParts, OwnKey, ProviderKeys};
use hermes_llm::{
    Address, Answer, Ask, Auth, CallEnd, CallEvent, CallFailure, CallSink, Caller, Course,
    Endpoint, Learned, Limits, LocalModels, PatienceSettings, Quirks, Route, Schemas, SetPatience,
    Transport, WindowSource,
};
use hermes_secrets::{Origin, Secret, SecretName};
use hermes_testkit::TempHome;
use hermes_testkit::model_server::{ModelServer, Protocol};
use http::HeaderName;
use serde_json::json;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

pub(crate) const PROTOCOLS: [WireProtocol; 5] = [
    WireProtocol::ChatCompletions,
    WireProtocol::Responses,
    WireProtocol::Anthropic,
    WireProtocol::Gemini,
    WireProtocol::Converse,
];

pub(crate) struct Lab {
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) caller: Caller,
    _home: TempHome,
}

/// One picture, whose hash is its name.
pub(crate) struct OnePicture;

/// Schemas for encoders that are called directly.
pub(crate) static SCHEMAS: Schemas = Schemas::new();

impl MediaReader for OnePicture {
    fn read(&self, hash: &str) -> Option<Vec<u8>> {
        (hash == "picture").then(|| b"png".to_vec())
    }
}

impl Lab {
    pub(crate) fn new() -> Self {
        let home = TempHome::new().unwrap();
        let clock = Arc::new(ManualClock::new("2026-01-01T00:00:00Z".parse().unwrap()));
        let http = ClientBuilder::new(ClientSettings::default(), AddressPolicy::Any)
            .build()
            .unwrap();
        let keys = Keyring::new(KeyringParts {
            file: AuthFile::new(home.path().join("auth.json"), None),
            http: http.clone(),
            clock: clock.clone(),
            random: Arc::new(SeededRandom::new(1)),
            strategies: BTreeMap::new(),
        });
        Self {
            caller: Caller {
                transport: Transport {
                    http,
                    media: Arc::new(OnePicture),
                    schemas: Arc::default(),
                    clock: clock.clone(),
                    local: LocalModels::default(),
                    pictures: Default::default(),
                    allowances: Default::default(),
                },
                keys: Arc::new(keys),
                random: Arc::new(SeededRandom::new(2)),
                patience: PatienceSettings::default(),
                attempts: 1,
                learned: Learned::default(),
            },
            clock,
            _home: home,
        }
    }

    /// The same with other credentials.
    pub(crate) fn with_keys(keys: Keyring) -> Self {
        let mut lab = Self::new();
        lab.caller.keys = Arc::new(keys);
        lab
    }

    /// Gives a provider keys that are bound to this server.
    pub(crate) fn keys(&self, provider: &str, server: &ModelServer, values: &[&str]) {
        let origin: Origin = server.origin().parse().unwrap();
        let keys = values.iter().enumerate().map(|(index, value)| OwnKey {
            source: KeySource::Variable(format!("KEY_{index}")),
            secret: Secret::new(
                SecretName::new(&format!("KEY_{index}")).unwrap(),
                (*value).to_owned(),
                [origin.clone().into()],
            )
            .unwrap(),
        });
        let keys = ProviderKeys {
            keys: keys.collect(),
            ..ProviderKeys::default()
        };
        self.caller.keys.know(provider, keys);
    }

    /// A route to a server, with one key of its own.
    pub(crate) fn route(&self, protocol: WireProtocol, server: &ModelServer) -> Route {
        let route = route("lab", protocol, server);
        let key = match protocol {
            WireProtocol::Converse => "AKIDLAB\nsecret-of-the-lab",
            _ => "sk-lab",
        };
        self.keys("lab", server, &[key]);
        route
    }

    /// Calls with plain settings.
    pub(crate) async fn call(
        &self,
        course: &mut Course,
        request: &ModelRequest,
    ) -> (CallEnd, Heard) {
        self.call_hearing(course, request, Heard::default()).await
    }

    /// The same with a listener of the test's.
    pub(crate) async fn call_hearing(
        &self,
        course: &mut Course,
        request: &ModelRequest,
        mut heard: Heard,
    ) -> (CallEnd, Heard) {
        let ask = Ask {
            request,
            tokens: 100,
            compactable: true,
            addressed: None,
        };
        let end = self
            .caller
            .call(course, &ask, &mut heard, &CancellationToken::new())
            .await;
        (end, heard)
    }

    /// Calls one route and expects an answer.
    pub(crate) async fn ask(&self, route: &Route, request: &ModelRequest) -> Answer {
        let mut course = course(route);
        answered(self.call(&mut course, request).await.0)
    }

    /// Calls one route and expects a failure.
    pub(crate) async fn fail(&self, route: &Route, request: &ModelRequest) -> CallFailure {
        let mut course = course(route);
        match self.call(&mut course, request).await.0 {
            CallEnd::Failed(failure) => *failure,
            other => panic!("{} did not fail: {other:?}", route.label()),
        }
    }
}

pub(crate) fn course(route: &Route) -> Course {
    Course::new(Arc::new(route.clone()), [])
}

#[track_caller]
pub(crate) fn answered(end: CallEnd) -> Answer {
    match end {
        CallEnd::Answered(answer) => *answer,
        other => panic!("no answer: {other:?}"),
    }
}

#[track_caller]
pub(crate) fn partial(end: CallEnd) -> Answer {
    match end {
        CallEnd::Partial(answer, _) => *answer,
        other => panic!("not a part of an answer: {other:?}"),
    }
}

pub(crate) fn model_of(protocol: WireProtocol) -> &'static str {
    match protocol {
        WireProtocol::ChatCompletions => "lab-1",
        WireProtocol::Responses => "gpt-5.2",
        WireProtocol::Anthropic => "claude-opus-4-6",
        WireProtocol::Gemini => "gemini-3-pro-preview",
        WireProtocol::Converse => "anthropic.claude-sonnet-4-5-20250929-v1:0",
    }
}

pub(crate) fn route(provider: &str, protocol: WireProtocol, server: &ModelServer) -> Route {
    let (below, auth) = match protocol {
        WireProtocol::ChatCompletions | WireProtocol::Responses => ("/v1", Auth::Bearer),
        WireProtocol::Anthropic => ("", Auth::Header(HeaderName::from_static("x-api-key"))),
        WireProtocol::Gemini => (
            "/v1beta",
            Auth::Header(HeaderName::from_static("x-goog-api-key")),
        ),
        WireProtocol::Converse => (
            "",
            Auth::SigV4 {
                region: "eu-west-1".to_owned(),
            },
        ),
    };
    Route {
        provider: provider.to_owned(),
        provider_name: "The Lab".to_owned(),
        model: model_of(protocol).to_owned(),
        endpoint: Endpoint::Http(Address {
            base: format!("{}{below}", server.origin()).parse().unwrap(),
            query: Vec::new(),
            headers: Vec::new(),
            protocol,
            auth,
            local: false,
            tied: true,
        }),
        limits: Limits {
            window: 200_000,
            window_from: WindowSource::Family,
            output: None,
        },
        price: None,
        quirks: Arc::new(Quirks::default()),
        patience: SetPatience {
            total: Some(Duration::from_secs(20)),
            stale: Some(Duration::from_secs(10)),
        },
        why: Vec::new(),
    }
}

/// The route, giving up on silence after this long.
pub(crate) fn impatient(mut route: Route, limit: Duration) -> Route {
    route.patience.stale = Some(limit);
    route
}

/// Goes on with a call. Of the requests that reach the server, numbered from 1, these hang: once one of them is there,
/// the time it is given passes on the clock of the runtime.
pub(crate) async fn stalling<T>(
    call: impl Future<Output = T>,
    server: &ModelServer,
    hanging: &[usize],
    limit: Duration,
) -> T {
    let mut call = pin!(call);
    // For what an earlier call sent no time passes again.
    let mut passed = server.requests().len();
    loop {
        if let Ok(end) = tokio::time::timeout(Duration::from_millis(5), call.as_mut()).await {
            return end;
        }
        let number = server.requests().len();
        if number > passed && hanging.contains(&number) {
            passed = number;
            tokio::time::pause();
            tokio::time::advance(limit).await;
            tokio::time::resume();
        }
    }
}

pub(crate) fn strict(protocol: WireProtocol) -> Protocol {
    match protocol {
        WireProtocol::ChatCompletions => Protocol::ChatCompletions,
        WireProtocol::Responses => Protocol::Responses,
        WireProtocol::Anthropic => Protocol::Anthropic,
        WireProtocol::Gemini => Protocol::Gemini,
        WireProtocol::Converse => Protocol::Converse,
    }
}

/// A request with one tool.
pub(crate) fn request(messages: Vec<Message>) -> ModelRequest {
    let look = ToolSpec {
        name: "look".to_owned(),
        description: "Looks at a file.".to_owned(),
        parameters: json!({"type": "object", "properties": {"path": {"type": "string"}}}),
        effect: Effect::ReadOnly,
    };
    ModelRequest {
        model: String::new(),
        conversation: "conversation-1".to_owned(),
        system: "Be brief.".into(),
        tools: [look].into(),
        messages: messages.into_iter().map(Arc::new).collect(),
        settings: ModelSettings {
            max_output_tokens: Some(32_000),
            effort: Some(Effort::Medium),
            ..ModelSettings::default()
        },
    }
}

pub(crate) fn question() -> ModelRequest {
    request(vec![user("What is in a.txt?")])
}

pub(crate) fn user(text: &str) -> Message {
    Message::text(Role::User, text)
}

/// The answer as the engine keeps it, and results for all of its calls.
pub(crate) fn kept(answer: &Answer) -> Vec<Message> {
    let calls: Vec<ToolCall> = answer
        .calls
        .iter()
        .map(|asked| ToolCall {
            id: asked.id.clone(),
            name: asked.name.clone(),
            arguments: serde_json::from_str(&asked.arguments).unwrap(),
        })
        .collect();
    let results = calls.iter().map(|call| result(&call.id, "hello")).collect();
    vec![
        answer.to_message(calls),
        Message {
            role: Role::Tool,
            parts: results,
            raw: None,
        },
    ]
}

pub(crate) fn result(id: &CallId, content: &str) -> Part {
    Part::ToolResult {
        call: id.clone(),
        name: "look".to_owned(),
        content: content.to_owned(),
        failed: false,
    }
}

/// Listens to a call, and lets waits between attempts pass at once.
#[derive(Default)]
pub(crate) struct Heard {
    pub(crate) events: Vec<CallEvent>,
    /// What passes on the clock of the runtime once the first words have come.
    silence: Option<Duration>,
    skipping: JoinSet<()>,
}

impl CallSink for Heard {
    async fn event(&mut self, event: CallEvent) {
        let skipped = match event {
            CallEvent::Waiting { wait, .. } => Some(wait),
            CallEvent::Text(_) => self.silence.take(),
            _ => None,
        };
        if let Some(wait) = skipped {
            // Runs once the caller has begun to wait.
            self.skipping.spawn(async move {
                tokio::time::pause();
                // The clock moves at once; what the future would wait for after that is not needed.
                let _ = tokio::time::advance(wait + Duration::from_millis(5)).now_or_never();
                tokio::time::resume();
            });
        }
        self.events.push(event);
    }
}

impl Heard {
    /// Lets so much time pass, at once, when the first words have come.
    pub(crate) fn then_silence(time: Duration) -> Self {
        Self {
            silence: Some(time),
            ..Self::default()
        }
    }

    pub(crate) fn text(&self) -> String {
        self.events
            .iter()
            .filter_map(|event| match event {
                CallEvent::Text(text) => Some(text.as_str()),
                _ => None,
            })
            .collect()
    }

    pub(crate) fn waits(&self) -> Vec<Duration> {
        self.events
            .iter()
            .filter_map(|event| match event {
                CallEvent::Waiting { wait, .. } => Some(*wait),
                _ => None,
            })
            .collect()
    }

    pub(crate) fn changes(&self) -> usize {
        let changed = |event: &&CallEvent| matches!(event, CallEvent::RouteChanged { .. });
        self.events.iter().filter(changed).count()
    }
}
