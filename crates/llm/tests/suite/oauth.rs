//! Logging in and renewing logins, against a portal on loopback.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::{get, post};
use axum::{Json, Router};
use hermes_core::{Clock, ManualClock, SeededRandom, WireProtocol};
use hermes_http::{AddressPolicy, BaseUrl, ClientBuilder, ClientSettings, HttpClient};
use hermes_llm::failover::Renewal;
use hermes_llm::keys::{
    AuthFile, EntryKind, KeyError, Keyring, KeyringParts, Lease, ProviderKeys, Standing,
};
use hermes_llm::oauth::{DeviceLogin, Flow, OAuthError, Poll};
use hermes_llm::{Address, Auth, Endpoint, Limits, Quirks, Route, SetPatience, WindowSource};
use hermes_testkit::TempHome;
use serde_json::{Value, json};
use tokio::sync::{Barrier, Notify, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

mod device;
mod renewal;

/// A portal that answers from a script, and rotates tokens that are good for one use.
struct Portal {
    /// Answers of the token endpoint to polls.
    polls: Mutex<VecDeque<(u16, Value)>>,
    /// Answers of the token endpoint to renewals, instead of new tokens.
    refusals: Mutex<VecDeque<(u16, Value)>>,
    /// The bodies and refresh headers that came.
    seen: Mutex<Vec<(String, Option<String>)>>,
    /// How often tokens were renewed: the number of the present tokens.
    renewed: Mutex<u32>,
    /// So many old tokens must have come before any is refused.
    refuse_together: Barrier,
    /// Renewals wait for this.
    gate: Semaphore,
    /// Told when a renewal has come.
    arrived: Notify,
}

impl Portal {
    async fn start(together: usize) -> (Arc<Self>, BaseUrl) {
        let portal = Arc::new(Self {
            polls: Mutex::default(),
            refusals: Mutex::default(),
            seen: Mutex::default(),
            renewed: Mutex::default(),
            refuse_together: Barrier::new(together),
            gate: Semaphore::new(1_000),
            arrived: Notify::new(),
        });
        let router = Router::new()
            .route("/api/oauth/device/code", post(Self::device))
            .route("/api/oauth/token", post(Self::token))
            .route("/use", get(Self::used))
            .with_state(portal.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        TaskTracker::new().spawn(async move { axum::serve(listener, router).await });
        (portal, base.parse().unwrap())
    }

    async fn device(State(portal): State<Arc<Self>>, body: String) -> Json<Value> {
        portal.seen.lock().unwrap().push((body, None));
        Json(json!({
            "device_code": "device-canary", "user_code": "WXYZ-1234", "expires_in": 900,
            "verification_uri": "https://portal.example/device", "interval": 1,
            "verification_uri_complete": "javascript:alert(1)",
        }))
    }

    async fn token(
        State(portal): State<Arc<Self>>,
        headers: HeaderMap,
        body: String,
    ) -> (StatusCode, Json<Value>) {
        let header = headers
            .get("x-nous-refresh-token")
            .map(|value| value.to_str().unwrap().to_owned());
        portal
            .seen
            .lock()
            .unwrap()
            .push((body.clone(), header.clone()));
        let answer = if body.contains("grant_type=refresh_token") {
            portal.arrived.notify_one();
            let _open = portal.gate.acquire().await.unwrap();
            let refusal = portal.refusals.lock().unwrap().pop_front();
            refusal.unwrap_or_else(|| portal.rotate(header.as_deref()))
        } else {
            portal.polls.lock().unwrap().pop_front().unwrap()
        };
        (StatusCode::from_u16(answer.0).unwrap(), Json(answer.1))
    }

    fn rotate(&self, sent: Option<&str>) -> (u16, Value) {
        let mut number = self.renewed.lock().unwrap();
        if sent != Some(&format!("refresh-{number}")) {
            return (
                400,
                json!({"error": "invalid_grant", "error_description": "reuse detected"}),
            );
        }
        *number += 1;
        (200, tokens(*number))
    }

    async fn used(State(portal): State<Arc<Self>>, headers: HeaderMap) -> StatusCode {
        let number = *portal.renewed.lock().unwrap();
        if headers["authorization"] == format!("Bearer access-{number}") && number > 0 {
            return StatusCode::OK;
        }
        portal.refuse_together.wait().await;
        StatusCode::UNAUTHORIZED
    }

    fn refreshes(&self) -> usize {
        let seen = self.seen.lock().unwrap();
        seen.iter()
            .filter(|(body, _)| body.contains("grant_type=refresh_token"))
            .count()
    }
}

fn tokens(number: u32) -> Value {
    json!({"access_token": format!("access-{number}"), "refresh_token": format!("refresh-{number}"),
        "expires_in": 86_400, "token_type": "Bearer", "scope": "inference:invoke"})
}

struct Bench {
    home: TempHome,
    portal: Arc<Portal>,
    base: BaseUrl,
    clock: Arc<ManualClock>,
}

impl Bench {
    async fn new(together: usize) -> Self {
        let (portal, base) = Portal::start(together).await;
        Self {
            home: TempHome::new().unwrap(),
            clock: Arc::new(ManualClock::new("2026-01-01T00:00:00Z".parse().unwrap())),
            portal,
            base,
        }
    }

    /// A home with a login, as the reference writes it: the grant stands in two rows.
    async fn logged_in(together: usize) -> Self {
        let bench = Self::new(together).await;
        let login = json!({
            "client_id": "hermes-cli", "access_token": "access-0", "refresh_token": "refresh-0",
            "expires_at": "2036-01-01T00:00:00+00:00", "tls": {"insecure": false},
        });
        let mut row = login.clone();
        row["id"] = json!("5f3a1c");
        row["source"] = json!("device_code");
        row["auth_type"] = json!("oauth");
        let document = json!({"version": 1, "providers": {"nous": login},
            "active_provider": "nous", "credential_pool": {"nous": [row]}});
        bench.home.write("auth.json", document.to_string()).unwrap();
        bench
    }

    fn file(&self) -> String {
        self.home
            .path()
            .join("auth.json")
            .to_str()
            .unwrap()
            .to_owned()
    }

    fn ring_on(&self, file: AuthFile) -> Keyring {
        let ring = Keyring::new(KeyringParts {
            file,
            http: http(),
            clock: self.clock.clone(),
            random: Arc::new(SeededRandom::new(1)),
            strategies: Default::default(),
        });
        ring.know(
            "nous",
            ProviderKeys {
                flow: Some(Flow::nous(&self.base).unwrap()),
                ..ProviderKeys::default()
            },
        );
        ring
    }

    fn ring(&self) -> Keyring {
        self.ring_on(AuthFile::new(self.file().into(), None))
    }

    fn login(&self) -> DeviceLogin {
        DeviceLogin {
            http: http(),
            flow: Flow::nous(&self.base).unwrap(),
            clock: self.clock.clone(),
        }
    }

    fn route(&self) -> Route {
        Route {
            provider: "nous".to_owned(),
            provider_name: "Nous Portal".to_owned(),
            model: "any".to_owned(),
            endpoint: Endpoint::Http(Address {
                base: self.base.clone(),
                query: Vec::new(),
                headers: Vec::new(),
                protocol: WireProtocol::ChatCompletions,
                auth: Auth::Bearer,
                local: false,
                tied: true,
            }),
            limits: Limits {
                window: 8_192,
                window_from: WindowSource::Guess,
                output: None,
            },
            price: None,
            quirks: Arc::new(Quirks::default()),
            patience: SetPatience::default(),
            why: Vec::new(),
        }
    }

    fn document(&self) -> Value {
        serde_json::from_str(&self.home.read("auth.json").unwrap()).unwrap()
    }

    fn value(&self, lease: &Lease) -> String {
        let origin = self.base.origin().unwrap();
        lease
            .secret
            .as_ref()
            .unwrap()
            .expose_for(&origin)
            .unwrap()
            .to_owned()
    }
}

fn http() -> HttpClient {
    ClientBuilder::new(ClientSettings::default(), AddressPolicy::Any)
        .build()
        .unwrap()
}

fn url(bench: &Bench) -> String {
    bench.base.join("").to_string()
}
