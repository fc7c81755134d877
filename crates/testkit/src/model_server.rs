//! The scripted model server: a vendor's API on a loopback port, answering from a script.
//!
//! A [`Scenario`] lists the answers in order; every request is recorded raw. All protocols are served
//! on the one port: the path of a request decides which of them its answer is written in. The server
//! runs on threads of its own, so a test may block on a child process while that child talks to it.

mod answer;
mod anthropic;
mod chat_completions;
mod converse;
mod envelope;
mod event_stream;
mod gate;
mod gemini;
mod handler;
mod ledger;
mod protocol;
mod record;
mod reply;
mod request;
mod responses;
mod scenario;
mod step;
mod vendor_error;
mod wire;

use std::fs::OpenOptions;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use anyhow::Context as _;
use axum::Router;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

pub use self::answer::{Answer, Part, Reasoning, ToolCall, Usage, text, tool_call};
pub use self::gate::Gate;
use self::ledger::Ledger;
pub use self::protocol::Protocol;
pub use self::record::{Outcome, RecordedRequest};
pub use self::reply::{Failure, RawBody, RawReply, Reply, bytes, echo, error, frames, json};
pub use self::scenario::{Route, Scenario};
pub use self::step::{End, Matcher, Step, Timing};

const SHUTDOWN_LIMIT: Duration = Duration::from_secs(2);

/// Where a server listens and what it writes down besides its in-memory record.
#[derive(Debug, Clone, Default)]
pub struct ServerOptions {
    /// Port on 127.0.0.1; 0 takes a free one.
    pub port: u16,
    /// File that gets one JSON line per request, credentials blanked.
    pub log: Option<PathBuf>,
}

/// A running scripted server; stops when dropped.
#[derive(Debug)]
pub struct ModelServer {
    address: SocketAddr,
    ledger: Arc<Ledger>,
    runtime: Option<Runtime>,
}

impl ModelServer {
    /// Starts a server for `scenario` on a free loopback port.
    ///
    /// Works in plain and in async tests: it brings its own runtime and blocks only to bind.
    pub fn start(scenario: Scenario) -> anyhow::Result<Self> {
        Self::start_with(scenario, ServerOptions::default())
    }

    /// Starts a server with a fixed port or a log file.
    pub fn start_with(scenario: Scenario, options: ServerOptions) -> anyhow::Result<Self> {
        scenario.check()?;
        let log = options
            .log
            .map(|path| {
                OpenOptions::new()
                    .create(true)
                    .append(true)
                    .open(&path)
                    .with_context(|| format!("could not open the log {}", path.display()))
            })
            .transpose()?;
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, options.port))
            .with_context(|| format!("could not listen on loopback port {}", options.port))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;

        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("model-server")
            .enable_all()
            .build()
            .context("could not start the server's runtime")?;
        let listener = {
            let _inside = runtime.enter();
            TcpListener::from_std(listener)?
        };
        let ledger = Arc::new(Ledger::new(scenario, log));
        let app = Router::new()
            .fallback(handler::serve)
            .with_state(Arc::clone(&ledger));
        // The runtime owns this task: shutting it down closes the listener and every connection.
        runtime.spawn(async move { axum::serve(listener, app).await });
        Ok(Self {
            address,
            ledger,
            runtime: Some(runtime),
        })
    }

    /// Base URL to configure as an OpenAI-compatible endpoint, ending in `/v1`.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Scheme, host and port, for vendors whose paths do not begin with `/v1`.
    pub fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Every request so far, oldest first. Only the last 10,000 are kept.
    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.ledger.requests()
    }

    /// Waits until `count` requests have arrived since the start, and returns all there are.
    ///
    /// Blocks the calling thread: in an async test the client must run on another one.
    pub fn wait_for_requests(
        &self,
        count: usize,
        limit: Duration,
    ) -> anyhow::Result<Vec<RecordedRequest>> {
        self.ledger.wait_for_requests(count, limit)
    }

    /// The requests that the script did not provide for: nothing matched, unknown path, or refused.
    pub fn unmatched(&self) -> Vec<RecordedRequest> {
        let mut requests = self.requests();
        requests.retain(|request| !request.outcome.is_served());
        requests
    }

    /// How many steps and replies of routes wait for their request; repeating ones never count.
    pub fn unused_steps(&self) -> usize {
        self.ledger.unused_steps()
    }

    /// Panics unless every step was used and every request was answered by one.
    #[track_caller]
    pub fn assert_done(&self) {
        let unmatched = self.unmatched();
        assert!(
            unmatched.is_empty(),
            "requests without a step: {unmatched:#?}"
        );
        let unused = self.unused_steps();
        assert!(unused == 0, "{unused} steps were never asked for");
    }

    /// Stops listening and cuts every connection.
    pub fn stop(self) {
        drop(self);
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        let Some(runtime) = self.runtime.take() else {
            return;
        };
        // A runtime may not be waited for from inside another one, and tests are often async.
        let waiter = thread::spawn(move || runtime.shutdown_timeout(SHUTDOWN_LIMIT));
        let _ = waiter.join();
    }
}
