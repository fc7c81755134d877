//! Time limits and cancellation, with short real durations.

use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use hermes_http::{
    AddressPolicy, ClientBuilder, ClientSettings, HttpError, Resolver, Stage, Timeouts,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::server::{Reply, Server, client, generous};

/// Soon for a test, and long for a server on this machine that answers.
const SOON: Duration = Duration::from_secs(2);

fn stage(error: Option<HttpError>) -> Option<Stage> {
    match error {
        Some(HttpError::Timeout { stage, .. }) => Some(stage),
        _ => None,
    }
}

/// Counts connections that are kept open between requests.
async fn keeping() -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}/", listener.local_addr().expect("an address"));
    let opened = Arc::new(AtomicUsize::new(0));
    let count = opened.clone();
    tokio_util::task::TaskTracker::new().spawn(async move {
        let tasks = tokio_util::task::TaskTracker::new();
        while let Ok((mut stream, _)) = listener.accept().await {
            count.fetch_add(1, Ordering::SeqCst);
            tasks.spawn(async move {
                while let Ok(1..) = stream.read(&mut [0; 4096]).await {
                    let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
                    if stream.write_all(answer).await.is_err() {
                        return;
                    }
                }
            });
        }
    });
    (url, opened)
}

#[tokio::test]
async fn connections_are_kept_until_they_are_forgotten() {
    let (url, opened) = keeping().await;
    let client = client();
    let ask = async || {
        let answer = client.get(url.as_str()).send().await.expect("an answer");
        answer.bytes(100).await.expect("a body");
    };
    ask().await;
    ask().await;
    assert_eq!(opened.load(Ordering::SeqCst), 1);
    client.forget_connections();
    ask().await;
    assert_eq!(opened.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_silent_server_fails_at_the_first_byte() {
    let mut server = Server::start(|_| Reply::Silence).await;
    let error = client()
        .get(server.url("/x?key=1").as_str())
        .timeouts(Timeouts {
            first_byte: Duration::from_millis(100),
            ..generous()
        })
        .send()
        .await
        .err();
    let message = error.as_ref().map(ToString::to_string);
    assert_eq!(stage(error), Some(Stage::FirstByte));
    assert_eq!(
        message,
        Some(format!(
            "{}?… took longer than 100ms to begin answering",
            server.url("/x")
        ))
    );
    server.gone.recv().await.expect("the connection was closed");
}

#[tokio::test]
async fn a_stalled_body_fails_between_pieces() {
    let server = Server::start(|_| Reply::Stall).await;
    let answer = client()
        .get(server.url("/").as_str())
        .timeouts(Timeouts {
            idle: SOON,
            ..generous()
        })
        .send()
        .await
        .expect("a head");
    let mut body = answer.stream(1000).expect("a body");
    assert_eq!(
        body.chunk().await.expect("a piece").as_deref(),
        Some(&b"piece"[..])
    );
    assert_eq!(stage(body.chunk().await.err()), Some(Stage::Idle));
    assert!(body.chunk().await.expect("the end").is_none());
}

#[tokio::test]
async fn the_total_limit_covers_head_and_body() {
    let server = Server::start(|_| Reply::Endless).await;
    let limits = Timeouts {
        total: SOON,
        ..generous()
    };
    let answer = client()
        .get(server.url("/").as_str())
        .timeouts(limits)
        .send()
        .await
        .expect("a head");
    let began = Instant::now();
    assert_eq!(
        stage(answer.bytes(usize::MAX).await.err()),
        Some(Stage::Total)
    );
    assert!(began.elapsed() < Duration::from_secs(30));
}

/// A lookup that never answers.
struct Nobody;

impl Resolver for Nobody {
    async fn resolve(&self, _host: &str) -> io::Result<Vec<IpAddr>> {
        std::future::pending().await
    }
}

#[tokio::test]
async fn a_connection_that_never_comes_up_fails_to_connect() {
    let limits = Timeouts {
        connect: Duration::from_millis(100),
        ..generous()
    };
    let settings = ClientSettings {
        timeouts: limits,
        ..ClientSettings::default()
    };
    let client = ClientBuilder::new(settings, AddressPolicy::Any)
        .resolver(Nobody)
        .build()
        .expect("a client");
    let error = client.get("http://vendor.test/").send().await.err();
    assert_eq!(stage(error), Some(Stage::Connect));
}

#[tokio::test]
async fn a_cancelled_token_ends_the_wait_for_the_head() {
    let mut server = Server::start(|_| Reply::Silence).await;
    let token = CancellationToken::new();
    let request = client()
        .get(server.url("/").as_str())
        .cancel(token.clone())
        .send();
    let stop = async {
        while server.seen().is_empty() {
            tokio::task::yield_now().await;
        }
        token.cancel();
    };
    let (answer, ()) = tokio::join!(request, stop);
    assert!(matches!(answer.err(), Some(HttpError::Cancelled)));
    server.gone.recv().await.expect("the connection was closed");
}

#[tokio::test]
async fn a_cancelled_token_ends_the_reading_of_a_body() {
    let mut server = Server::start(|_| Reply::Stall).await;
    let token = CancellationToken::new();
    let answer = client()
        .get(server.url("/").as_str())
        .cancel(token.clone())
        .send()
        .await
        .expect("a head");
    let mut body = answer.stream(1000).expect("a body");
    body.chunk().await.expect("a piece");
    token.cancel();
    assert!(matches!(body.chunk().await, Err(HttpError::Cancelled)));
    server.gone.recv().await.expect("the connection was closed");
}

#[tokio::test]
async fn a_closed_port_is_a_connect_error() {
    let port = {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .await
            .expect("a port");
        listener.local_addr().expect("an address").port()
    };
    let error = client()
        .get(format!("http://gone.test:{port}/?k=v").as_str())
        .send()
        .await
        .err()
        .expect("an error");
    assert_eq!(
        error.to_string(),
        format!("cannot connect to http://gone.test:{port}/?…")
    );
    assert!(error.is_transient());
}
