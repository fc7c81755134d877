//! Hermes as a server: other programs read conversations, hear of new messages and answer what waits for a yes.
//!
//! Reading needs nobody else. What sessions wait for a yes for is on a board in the store, where they look for the
//! answer. Sending needs the gateway; where none runs, that is what a client is told.

mod channels;
mod conversations;
mod events;
mod handler;
mod http;
mod offer;
mod parameter;
mod permissions;

use std::net::SocketAddr;
use std::path::PathBuf;

use hermes_secrets::Secret;
use hermes_store::{Store, StoreError};
use rmcp::service::{QuitReason, ServerInitializeError, serve_server_with_ct};
use rmcp::transport::io::stdio_pipes;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use self::handler::Hermes;

/// What the server reads from.
pub struct ServeParts {
    /// The conversations.
    pub store: Store,
    /// The file with the channels that the gateway knows; it need not be there.
    pub channels: PathBuf,
}

/// How clients reach the server.
pub enum ServeTransport {
    /// The standard input and output of this process, for the one client that started it.
    Stdio,
    /// Streamable HTTP below `/mcp`, for whoever shows the token.
    Http {
        /// Where to listen; an address of this machine only.
        listener: TcpListener,
        /// What clients show as a bearer token.
        token: Secret,
    },
}

/// Why the server ended.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Others could reach it.
    #[error("{0} is not an address of this machine alone")]
    NotLoopback(SocketAddr),
    /// The conversations could not be read.
    #[error("the conversations cannot be read")]
    Store(#[from] StoreError),
    /// The network failed.
    #[error("the address cannot be served")]
    Network(#[from] std::io::Error),
    /// The client did not speak the protocol.
    #[error("the client did not introduce itself: {0}")]
    Handshake(String),
    /// The server itself broke.
    #[error("the server broke off: {0}")]
    Broken(String),
}

/// Serves until the client is gone (standard input) or `cancel` is cancelled.
pub async fn serve(
    parts: ServeParts,
    transport: ServeTransport,
    cancel: CancellationToken,
) -> Result<(), ServeError> {
    let stop = cancel.child_token();
    let (feed, events) = events::queue();
    let store = parts.store.clone();
    let handler = Hermes::new(parts, events, stop.clone());
    let served = async {
        let outcome = match transport {
            ServeTransport::Stdio => over_stdio(handler, stop.clone()).await,
            ServeTransport::Http { listener, token } => {
                http::serve(handler, listener, token, stop.clone()).await
            }
        };
        stop.cancel();
        outcome
    };
    let followed = async {
        let outcome = events::follow(&store, feed, &stop).await;
        // Without events half of the tools would lie.
        stop.cancel();
        outcome
    };
    let (served, followed) = tokio::join!(served, followed);
    served.and(followed)
}

async fn over_stdio(handler: Hermes, stop: CancellationToken) -> Result<(), ServeError> {
    let running = match serve_server_with_ct(handler, stdio_pipes(), stop).await {
        Ok(running) => running,
        // A client that looks and leaves has done nothing wrong.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => {
            return Ok(());
        }
        Err(other) => return Err(ServeError::Handshake(other.to_string())),
    };
    match running.waiting().await {
        Ok(QuitReason::Closed | QuitReason::Cancelled) => Ok(()),
        Ok(other) => Err(ServeError::Broken(format!("{other:?}"))),
        Err(error) => Err(ServeError::Broken(error.to_string())),
    }
}
