//! A small authorization server with a protected resource behind it, on one loopback port.
//!
//! It registers clients, checks PKCE, redirects at once without asking anybody, gives and rotates tokens,
//! and revokes everything when a refresh token comes twice, as careful vendors do. Tests switch failures on
//! by [`Switches`] and read what happened from [`Stats`]; both are also at `/ctl/switches` and `/ctl/stats`
//! for programs. `/mcp` answers only with a good token.

mod ledger;
mod routes;
mod token;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::Context as _;
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

use self::ledger::Ledger;

/// What the server does differently from a friendly one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Switches {
    /// Seconds an access token lives.
    pub access_life: i64,
    /// Gives a new refresh token with every renewal, and takes each only once.
    pub rotate: bool,
    /// Gives refresh tokens at all.
    pub refreshable: bool,
    /// Describes the protected resource (RFC 9728).
    pub describes_resource: bool,
    /// Describes itself (RFC 8414); without it only the usual paths are served.
    pub describes_itself: bool,
    /// What it calls itself instead of its address.
    pub issuer: Option<String>,
    /// Registers clients by itself.
    pub registers: bool,
    /// Takes addresses of client descriptions as client ids.
    pub takes_metadata_documents: bool,
    /// How clients may show who they are.
    pub auth_methods: Vec<String>,
    /// The rights a token needs at the protected resource.
    pub needs_scope: Option<String>,
    /// The next requests to the token endpoint fail with this status and code.
    pub token_failures: Vec<(u16, String)>,
    /// The browser is sent back with a refusal.
    pub denies: bool,
    /// Milliseconds a token request takes.
    pub token_delay_ms: u64,
}

impl Default for Switches {
    fn default() -> Self {
        Self {
            access_life: 3600,
            rotate: true,
            refreshable: true,
            describes_resource: true,
            describes_itself: true,
            issuer: None,
            registers: true,
            takes_metadata_documents: false,
            auth_methods: [
                "none",
                "client_secret_post",
                "client_secret_basic",
                "private_key_jwt",
            ]
            .map(str::to_owned)
            .to_vec(),
            needs_scope: None,
            token_failures: Vec::new(),
            denies: false,
            token_delay_ms: 0,
        }
    }
}

/// What has happened so far.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stats {
    /// Clients that were registered.
    pub registrations: usize,
    /// Visits of a browser.
    pub authorizations: usize,
    /// Requests to the token endpoint.
    pub token_requests: usize,
    /// Those that asked for a renewal.
    pub renewals: usize,
    /// Those that were refused.
    pub refusals: usize,
    /// Refresh tokens that came a second time.
    pub reuses: usize,
    /// Requests to the protected resource.
    pub calls: usize,
    /// Those that were let in.
    pub admitted: usize,
    /// The form of every token request, secrets included.
    pub forms: Vec<Vec<(String, String)>>,
    /// The query of every visit of a browser.
    pub visits: Vec<Vec<(String, String)>>,
    /// The user agents that were seen.
    pub agents: Vec<String>,
}

/// A running server; stops when dropped.
#[derive(Debug)]
pub struct AuthorizationServer {
    address: SocketAddr,
    shared: Shared,
    runtime: Option<Runtime>,
}

/// What requests and tests look at.
#[derive(Debug, Clone)]
pub(crate) struct Shared {
    pub(crate) base: String,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) switches: Switches,
    pub(crate) stats: Stats,
    pub(crate) ledger: Ledger,
}

impl Shared {
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AuthorizationServer {
    /// Starts a friendly server on a free port.
    pub fn start() -> anyhow::Result<Self> {
        Self::start_with(Switches::default(), 0)
    }

    /// Starts a server on a port; 0 takes a free one.
    pub fn start_with(switches: Switches, port: u16) -> anyhow::Result<Self> {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port))
            .with_context(|| format!("could not listen on loopback port {port}"))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("authorization-server")
            .enable_all()
            .build()
            .context("could not start the server's runtime")?;
        let listener = {
            let _inside = runtime.enter();
            TcpListener::from_std(listener)?
        };
        let shared = Shared {
            base: format!("http://{address}"),
            state: Arc::new(Mutex::new(State {
                switches,
                ..State::default()
            })),
        };
        let app = routes::router(shared.clone());
        runtime.spawn(async move { axum::serve(listener, app).await });
        Ok(Self {
            address,
            shared,
            runtime: Some(runtime),
        })
    }

    /// Its address, without a slash at the end.
    pub fn base(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The address of the protected resource.
    pub fn resource(&self) -> String {
        format!("{}/mcp", self.base())
    }

    /// Changes what the server does.
    pub fn switch(&self, change: impl FnOnce(&mut Switches)) {
        change(&mut self.shared.lock().switches);
    }

    /// What has happened so far.
    pub fn stats(&self) -> Stats {
        self.shared.lock().stats.clone()
    }

    /// Makes every access token void; refresh tokens stay good.
    pub fn revoke_access(&self) {
        self.shared.lock().ledger.revoke_access();
    }

    /// Forgets every registered client.
    pub fn forget_clients(&self) {
        self.shared.lock().ledger.clients.clear();
    }

    /// Makes a client known, as a person would on the server's pages.
    pub fn add_client(&self, id: &str, secret: Option<&str>) {
        self.shared.lock().ledger.add_client(id, secret, None);
    }

    /// Gives tokens to a client without a browser: access and refresh.
    pub fn grant(&self, client: &str, scope: &str) -> (String, String) {
        let mut state = self.shared.lock();
        let life = state.switches.access_life;
        let access = state.ledger.new_access(scope, life);
        let refresh = state.ledger.new_refresh(client, scope);
        (access, refresh)
    }
}

impl Drop for AuthorizationServer {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // In the background, because a runtime may not be waited for inside another one.
            runtime.shutdown_background();
        }
    }
}
