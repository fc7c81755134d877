//! An MCP server at an address, with a second set of routes that make it misbehave.
//!
//! `/mcp` speaks streamable HTTP, `/sse` and `/messages` the older transport, `/page` is a web page and
//! `/moved` leads elsewhere. `POST /ctl/arm {op, mode, count}`, `/ctl/drop-sessions`, `/ctl/down`, `/ctl/up`
//! and `GET /ctl/stats` steer and watch it; in the same process [`McpServer`] does the same by methods. The
//! server runs on threads of its own and stops when it is dropped.

mod answer;
mod control;
mod line;
mod protocol;
mod state;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use anyhow::Context as _;
use axum::Router;
use axum::routing::{any, get, post};
use serde_json::Value as Json;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

pub use self::answer::tool;
use self::line::{Lines, Reset};
use self::state::Server;
pub use self::state::{Mode, Profile, Seen, Stats};

const SHUTDOWN_LIMIT: Duration = Duration::from_secs(2);

/// A running server.
pub struct McpServer {
    address: SocketAddr,
    server: Arc<Server>,
    runtime: Option<Runtime>,
}

impl McpServer {
    /// Starts a server on a free port.
    pub fn start(profile: Profile) -> anyhow::Result<Self> {
        Self::start_on(0, profile)
    }

    /// Starts a server on this port; 0 takes a free one.
    pub fn start_on(port: u16, profile: Profile) -> anyhow::Result<Self> {
        let server = Arc::new(Server::new(profile));
        let (runtime, address) = serve(port, &server)?;
        Ok(Self {
            address,
            server,
            runtime: Some(runtime),
        })
    }

    /// Ends and starts again on the same port: connections break, sessions are gone, and what was seen and
    /// armed is still known.
    pub fn restart(&mut self) -> anyhow::Result<()> {
        self.end();
        self.server.drop_sessions();
        let (runtime, _) = serve(self.port(), &self.server)?;
        self.runtime = Some(runtime);
        Ok(())
    }

    fn end(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // A thread of its own, because a runtime must not be ended from within another one.
            let ending = thread::spawn(move || runtime.shutdown_timeout(SHUTDOWN_LIMIT));
            let _ = ending.join();
        }
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// The address of a route, such as `/mcp`.
    pub fn url(&self, route: &str) -> String {
        format!("http://{}{route}", self.address)
    }

    /// Makes the next `count` requests of a method go wrong. `*` means every method.
    pub fn arm(&self, method: &str, mode: Mode, count: usize) {
        self.server.arm(method, mode, count);
    }

    /// Forgets everything that was armed, and answers what is held up.
    pub fn disarm(&self) {
        self.server.disarm();
    }

    /// Forgets all sessions, as a restarted server would.
    pub fn drop_sessions(&self) {
        self.server.drop_sessions();
    }

    /// Answers every request with 503 from now on, or does not any more.
    pub fn set_down(&self, down: bool) {
        self.server.set_down(down);
    }

    /// The token every request must carry from now on.
    pub fn set_token(&self, token: Option<String>) {
        self.server.set_token(token);
    }

    /// Replaces the tools and tells every session so.
    pub fn set_tools(&self, tools: Vec<Json>) {
        self.server.set_tools(tools);
    }

    /// What it has seen so far.
    pub fn stats(&self) -> Stats {
        self.server.stats()
    }
}

impl Drop for McpServer {
    fn drop(&mut self) {
        self.end();
    }
}

/// Listens on a port; 0 takes a free one.
fn serve(port: u16, server: &Arc<Server>) -> anyhow::Result<(Runtime, SocketAddr)> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()?;
    let router = router(Arc::clone(server));
    let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port))
        .context("no port for the MCP server")?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    runtime.spawn(async move {
        let lines = Lines(TcpListener::from_std(listener)?);
        let service = router.into_make_service_with_connect_info::<Reset>();
        axum::serve(lines, service).await
    });
    Ok((runtime, address))
}

fn router(server: Arc<Server>) -> Router {
    Router::new()
        .route("/mcp", any(protocol::streamable))
        .route("/sse", get(protocol::open_stream))
        .route("/messages", post(protocol::message))
        .route("/page", any(protocol::page))
        .route("/moved", any(protocol::moved))
        .route("/ctl/arm", post(control::arm))
        .route("/ctl/drop-sessions", post(control::drop_sessions))
        .route("/ctl/down", post(control::down))
        .route("/ctl/up", post(control::up))
        .route("/ctl/stats", get(control::stats))
        .with_state(server)
}
