//! A server that records what it was asked and answers by script.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use std::{collections::BTreeMap, io};

use hermes_http::{AddressPolicy, ClientBuilder, ClientSettings, HttpClient, Resolver, Timeouts};
use hermes_secrets::{OriginPattern, Secret, SecretName};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// A request as the server saw it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) method: String,
    pub(crate) target: String,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: String,
}

/// What the server does about a request.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    /// Sends these bytes and closes.
    Raw(String),
    /// Says nothing and keeps the connection.
    Silence,
    /// Sends a head and one piece, then says nothing.
    Stall,
    /// Sends a body without end, and reports when the client is gone.
    Endless,
}

impl Reply {
    pub(crate) fn ok(body: &str) -> Self {
        Self::status("200 OK", &[], body)
    }

    pub(crate) fn redirect(status: &str, location: &str) -> Self {
        Self::status(status, &[("location", location)], "")
    }

    pub(crate) fn status(status: &str, headers: &[(&str, &str)], body: &str) -> Self {
        let headers: String = headers
            .iter()
            .map(|(name, value)| format!("{name}: {value}\r\n"))
            .collect();
        let length = body.len();
        Self::Raw(format!(
            "HTTP/1.1 {status}\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n{body}"
        ))
    }
}

type Script = dyn Fn(&Seen) -> Reply + Send + Sync;

/// Runs until dropped.
pub(crate) struct Server {
    pub(crate) port: u16,
    seen: Arc<Mutex<Vec<Seen>>>,
    /// One message for each connection whose client went away in the middle of a body.
    pub(crate) gone: mpsc::Receiver<()>,
    _tasks: JoinSet<()>,
}

impl Server {
    pub(crate) async fn start(script: impl Fn(&Seen) -> Reply + Send + Sync + 'static) -> Self {
        Self::start_at(Ipv4Addr::LOCALHOST, 0, script).await
    }

    pub(crate) async fn start_at(
        address: Ipv4Addr,
        port: u16,
        script: impl Fn(&Seen) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind((address, port)).await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (tell, gone) = mpsc::channel(16);
        let script: Arc<Script> = Arc::new(script);
        let mut tasks = JoinSet::new();
        let log = seen.clone();
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                connections.spawn(serve(stream, log.clone(), script.clone(), tell.clone()));
            }
        });
        Self {
            port,
            seen,
            gone,
            _tasks: tasks,
        }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().expect("the log").clone()
    }
}

async fn serve(
    mut stream: TcpStream,
    log: Arc<Mutex<Vec<Seen>>>,
    script: Arc<Script>,
    tell: mpsc::Sender<()>,
) {
    let Some(seen) = read_request(&mut stream).await else {
        return;
    };
    let reply = script(&seen);
    log.lock().expect("the log").push(seen);
    match reply {
        Reply::Raw(text) => {
            let _ = stream.write_all(text.as_bytes()).await;
            let _ = stream.shutdown().await;
        }
        Reply::Silence => {
            let _ = stream.read(&mut [0; 1]).await;
            let _ = tell.send(()).await;
        }
        Reply::Stall => {
            let _ = stream
                .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\npiece")
                .await;
            let _ = stream.read(&mut [0; 1]).await;
            let _ = tell.send(()).await;
        }
        Reply::Endless => {
            let _ = stream
                .write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
                .await;
            while stream
                .write_all(b"10\r\n0123456789abcdef\r\n")
                .await
                .is_ok()
            {}
            let _ = tell.send(()).await;
        }
    }
}

async fn read_request(stream: &mut TcpStream) -> Option<Seen> {
    let mut raw = Vec::new();
    let head = loop {
        if let Some(at) = raw.windows(4).position(|window| window == b"\r\n\r\n") {
            break at;
        }
        if stream.read_buf(&mut raw).await.ok()? == 0 {
            return None;
        }
    };
    let text = String::from_utf8_lossy(&raw[..head]).into_owned();
    let mut lines = text.lines();
    let mut first = lines.next()?.split(' ');
    let mut seen = Seen {
        method: first.next()?.into(),
        target: first.next()?.into(),
        ..Seen::default()
    };
    seen.headers.extend(
        lines
            .filter_map(|line| line.split_once(": "))
            .map(|(n, v)| (n.to_lowercase(), v.to_owned())),
    );
    let length = seen
        .headers
        .get("content-length")
        .and_then(|length| length.parse().ok())
        .unwrap_or(0);
    while raw.len() < head + 4 + length {
        if stream.read_buf(&mut raw).await.ok()? == 0 {
            break;
        }
    }
    seen.body = String::from_utf8_lossy(&raw[head + 4..]).into_owned();
    Some(seen)
}

/// Answers every name with the same addresses.
#[derive(Clone)]
pub(crate) struct Fixed(pub(crate) Vec<IpAddr>);

impl Resolver for Fixed {
    async fn resolve(&self, _host: &str) -> io::Result<Vec<IpAddr>> {
        Ok(self.0.clone())
    }
}

/// A client that may go anywhere and to which every name is this machine.
pub(crate) fn client() -> HttpClient {
    client_with(ClientSettings::default())
}

pub(crate) fn client_with(settings: ClientSettings) -> HttpClient {
    let here = Fixed(vec![Ipv4Addr::LOCALHOST.into()]);
    ClientBuilder::new(settings, AddressPolicy::Any)
        .resolver(here)
        .build()
        .expect("a client")
}

pub(crate) const KEY: &str = "canary-0123456789-key";

pub(crate) fn key_for(origins: &[&str]) -> Secret {
    let origins = origins
        .iter()
        .map(|origin| origin.parse::<OriginPattern>().expect("an origin"));
    Secret::new(
        SecretName::new("CANARY").expect("a name"),
        KEY.to_owned(),
        origins,
    )
    .expect("a secret")
}

/// Limits that every answer of a server here keeps, on the slowest machine. A test sets the one it wants to be
/// exceeded.
pub(crate) fn generous() -> Timeouts {
    let long = Duration::from_secs(20);
    Timeouts {
        connect: long,
        first_byte: long,
        idle: long,
        total: 2 * long,
    }
}
