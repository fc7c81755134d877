//! The same over streamable HTTP, on this machine and with a token.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use axum::serve::{Listener, ListenerExt as _};
use hermes_secrets::Secret;
use http::{StatusCode, header};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

use super::ServeError;
use super::handler::Hermes;

const ROUTE: &str = "/mcp";
/// Clients that may be connected at once; one that says nothing for five minutes is none.
const MOST_SESSIONS: usize = 64;
/// Pages that this machine itself serves.
const ORIGINS: [&str; 3] = ["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"];
/// Longest request.
const MOST_BYTES: usize = 1 << 20;
/// How long requests under way may take to end with the server.
const GRACE: Duration = Duration::from_secs(3);

struct Door {
    token: Secret,
    sessions: Arc<LocalSessionManager>,
}

/// Serves until `stop`.
pub(super) async fn serve(
    handler: Hermes,
    listener: TcpListener,
    token: Secret,
    stop: CancellationToken,
) -> Result<(), ServeError> {
    let address = listener.local_addr()?;
    if !address.ip().is_loopback() {
        return Err(ServeError::NotLoopback(address));
    }
    // Pages from elsewhere have no business here, and other names for this machine are refused by
    // default, so that no page can be given one.
    let config = StreamableHttpServerConfig::default()
        .with_cancellation_token(stop.clone())
        .with_max_request_body_bytes(MOST_BYTES)
        .with_allowed_origins(ORIGINS);
    let sessions = Arc::new(LocalSessionManager::default());
    let door = Arc::new(Door {
        token,
        sessions: Arc::clone(&sessions),
    });
    let service = StreamableHttpService::new(move || Ok(handler.clone()), sessions, config);
    let router = Router::new()
        .route_service(ROUTE, service)
        .layer(from_fn_with_state(door, admit));
    let serving = axum::serve(prompt(listener), router)
        .with_graceful_shutdown(stop.clone().cancelled_owned());
    tokio::select! {
        ended = serving.into_future() => Ok(ended?),
        () = async { stop.cancelled().await; tokio::time::sleep(GRACE).await } => Ok(()),
    }
}

/// Connections on which nothing waits for more to be sent: an answer is small, and its parts are written one by one.
fn prompt(listener: TcpListener) -> impl Listener<Io = TcpStream, Addr = SocketAddr> {
    listener.tap_io(|connection| {
        if let Err(error) = connection.set_nodelay(true) {
            tracing::debug!(%error, "answers on a connection may be slow");
        }
    })
}

/// Lets in whoever shows the token, as long as there is room.
async fn admit(State(door): State<Arc<Door>>, request: Request, next: Next) -> Response {
    let shown = request.headers().get(header::AUTHORIZATION);
    let shown = shown.and_then(|value| value.to_str().ok());
    let token = shown.and_then(|value| value.split_once(' '));
    let admitted = token.is_some_and(|(scheme, token)| {
        scheme.eq_ignore_ascii_case("bearer") && door.token.matches(token.trim())
    });
    if !admitted {
        let challenge = [(header::WWW_AUTHENTICATE, "Bearer")];
        return (StatusCode::UNAUTHORIZED, challenge).into_response();
    }
    let newcomer = !request.headers().contains_key("mcp-session-id");
    if newcomer && door.sessions.sessions.read().await.len() >= MOST_SESSIONS {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    }
    next.run(request).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn answers_do_not_wait_on_the_way() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let mut listener = prompt(listener);
        let client = TcpStream::connect(address);
        let (client, (accepted, _)) = tokio::join!(client, listener.accept());
        assert!(client.is_ok() && accepted.nodelay().unwrap());
    }
}
