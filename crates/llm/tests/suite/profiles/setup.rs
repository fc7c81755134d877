//! What tests of routes stand on: a home, one question, a client.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use hermes_config::{Environment, Home, Loaded, load};
use hermes_core::{
    Effort, ManualClock, MediaReader, Message, ModelClient as _, ModelRequest, ModelSettings,
    Patience, Role,
};
use hermes_http::{AddressPolicy, ClientBuilder, ClientSettings};
use hermes_llm::profile::Profiles;
use hermes_llm::resolve::{Credential, Request, Resolved, resolve};
use hermes_llm::{Endpoint, HttpModel, LocalModels, Transport};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// A home with settings and variables, loaded as the program does it.
pub(crate) struct Setup {
    pub(crate) home: TempDir,
    pub(crate) loaded: Loaded,
    pub(crate) profiles: Profiles,
}

impl Setup {
    pub(crate) fn new(config: &str, variables: &[(&str, &str)]) -> Self {
        let home = tempfile::tempdir().expect("a temporary directory");
        std::fs::write(home.path().join("config.yaml"), config).expect("config.yaml");
        let environment: Environment = variables.iter().copied().collect();
        let loaded = load(&hermes_config::Request {
            home: &Home::of_root(home.path()),
            environment: &environment,
            project: None,
            flags: &[],
            ignore_file: false,
        })
        .expect("settings");
        let wrong: Vec<_> = loaded
            .problems
            .iter()
            .map(|it| it.key.to_string())
            .collect();
        assert!(
            wrong.is_empty(),
            "the settings of the test are wrong: {wrong:?}"
        );
        let profiles = Profiles::new(Some(home.path().join("plugins/model-providers")));
        Self {
            home,
            loaded,
            profiles,
        }
    }

    pub(crate) fn request(&self) -> Request<'_> {
        Request::new(&self.loaded, &self.profiles)
    }

    pub(crate) fn resolve(&self) -> Resolved {
        resolve(&self.request()).unwrap_or_else(|error| panic!("{error}; {}", error.hint()))
    }
}

pub(crate) fn http_of(resolved: &Resolved) -> &hermes_llm::Address {
    match &resolved.route.endpoint {
        Endpoint::Http(address) => address,
        Endpoint::Embedded { .. } => panic!("{} has no wire", resolved.route.label()),
    }
}

/// The address as text, without a slash at its end.
pub(crate) fn base_of(resolved: &Resolved) -> String {
    let url = http_of(resolved).base.join("");
    url.as_str().trim_end_matches('/').to_owned()
}

pub(crate) struct NoMedia;

impl MediaReader for NoMedia {
    fn read(&self, _: &str) -> Option<Vec<u8>> {
        None
    }
}

pub(crate) fn question(resolved: &Resolved, effort: Option<Effort>) -> ModelRequest {
    ModelRequest {
        model: resolved.route.model.clone(),
        conversation: "c1".to_owned(),
        system: "be brief".into(),
        tools: Vec::new().into(),
        messages: vec![Arc::new(Message::text(Role::User, "hello"))],
        settings: ModelSettings {
            effort,
            max_output_tokens: resolved.route.limits.output,
            ..ModelSettings::default()
        },
    }
}

/// Sends one question along a route and reads the answer.
pub(crate) async fn ask(resolved: Resolved) {
    let settings = ClientSettings::default();
    let http = ClientBuilder::new(settings, AddressPolicy::Any)
        .build()
        .expect("a client");
    let transport = Transport {
        http,
        media: Arc::new(NoMedia),
        schemas: Arc::default(),
        clock: Arc::new(ManualClock::new(jiff::Timestamp::UNIX_EPOCH)),
        local: LocalModels::default(),
        pictures: Default::default(),
        allowances: Default::default(),
    };
    let address = http_of(&resolved).clone();
    let request = question(&resolved, None);
    let secret = match resolved.key {
        Credential::Key { secret, .. } => Some(secret),
        Credential::None | Credential::Minted(_) | Credential::Login { .. } => None,
    };
    let model = HttpModel::new(transport, Arc::new(resolved.route), address, secret);
    let limit = Duration::from_secs(20);
    let patience = Patience {
        first_event: limit,
        idle: limit,
        total: limit,
    };
    let events = model.stream(request, patience, CancellationToken::new());
    let _ = events.collect::<Vec<_>>().await;
}

pub(crate) fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime")
}
