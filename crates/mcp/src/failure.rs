//! What went wrong, named where it is seen: at the edge of a transport. Texts are looked at last.

mod remedy;
mod visit;
mod words;

use std::time::Duration;

use hermes_http::HttpError;
use hermes_secrets::Secret;
use rmcp::ServiceError;
use rmcp::service::ClientInitializeError;
use rmcp::transport::DynamicTransportError;
use rmcp::transport::streamable_http_client::StreamableHttpError;

use crate::AuthError;
use crate::transport::WireError;
pub(crate) use remedy::Remedy;
pub use visit::Link;
pub(crate) use words::{quoted, too_long, unreadable};

/// Texts with which servers say that they do not know our session. They say so instead of doing what was
/// asked, so it may be asked again.
const EXPIRED: [&str; 6] = [
    "invalid or expired session",
    "expired session",
    "session expired",
    "session not found",
    "unknown session",
    "session terminated",
];
/// Texts about a broken connection, of servers that pass on what happened behind them. What was asked may
/// have been done.
const BROKEN: [&str; 6] = [
    "closedresourceerror",
    "closed resource",
    "transport is closed",
    "connection closed",
    "broken pipe",
    "end of file",
];
/// Says the same as `EXPIRED`, but only to a request that carried a session id.
const MISSING_ID: &str = "missing session id";
/// How servers name the id of a session.
const NAMES_OF_ID: [&str; 2] = ["mcp-session-id", "session id"];
/// Most of a server's text that is kept.
const MOST_TEXT: usize = 2000;

/// Why an operation on a server failed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Failure {
    /// The server answered 404 to a request with a session id.
    #[error("the session has expired")]
    SessionExpired,
    /// The server said that it does not know the session, so it did nothing.
    #[error("{text}")]
    RejectedBeforeExecution {
        /// What it said.
        text: String,
    },
    /// The server failed over a session it does not know. How far it came first is not known.
    #[error("HTTP {status}: {text}")]
    SessionLost {
        /// The status.
        status: u16,
        /// What it said.
        text: String,
    },
    /// The connection is gone.
    #[error("{text}")]
    TransportDied {
        /// Whether the request may have reached the server.
        sent: bool,
        /// What was seen.
        text: String,
    },
    /// One exchange broke off; the session may be as good as before.
    #[error("{text}")]
    Interrupted {
        /// Whether the request may have reached the server.
        sent: bool,
        /// What was seen.
        text: String,
    },
    /// The server wants to know who we are, or does not like who we are.
    #[error("{text}")]
    Auth {
        /// What was seen.
        text: String,
        /// The token that was refused.
        token: Option<Secret>,
        /// The `WWW-Authenticate` header of the answer.
        challenge: Option<String>,
    },
    /// The server answered with an error of the protocol.
    #[error("{message} (code {code})")]
    Rpc {
        /// The protocol's code.
        code: i32,
        /// What the server said.
        message: String,
    },
    /// The server wants a person to open pages before it does anything.
    #[error("{text}")]
    NeedsVisit {
        /// What it said.
        text: String,
        /// The pages.
        links: Vec<Link>,
    },
    /// The server answered with an HTTP status that is a failure.
    #[error("HTTP {status}: {text}")]
    Status {
        /// The status.
        status: u16,
        /// The beginning of the answer.
        text: String,
    },
    /// No answer in time.
    #[error("no answer within {} s{}", after.as_secs_f32(), words::far(said.as_deref()))]
    Timeout {
        /// The limit.
        after: Duration,
        /// How far the server said it was, in quotes.
        said: Option<String>,
    },
    /// A person stopped it.
    #[error("interrupted")]
    Cancelled,
    /// It cannot work before something is changed: a wrong address, a missing file.
    #[error("{text}")]
    Unusable {
        /// What is wrong.
        text: String,
    },
    /// The answer was not what the protocol says.
    #[error("{text}")]
    Protocol {
        /// What was seen.
        text: String,
    },
}

/// What is known about a request at the edge of its transport.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Edge {
    /// Whether the transport is a program's pipes, which cannot be opened again.
    pub(crate) piped: bool,
    /// Whether requests carry a session id.
    pub(crate) session_id: bool,
    /// Whether the request may have been sent.
    pub(crate) sent: bool,
    /// Whether there is a session: what answers has answered before.
    pub(crate) known: bool,
}

/// The edge of a handshake: nothing is known yet.
pub(crate) const FIRST: Edge = Edge {
    piped: false,
    session_id: false,
    sent: true,
    known: false,
};

impl Failure {
    /// No answer within this time, and not a word about it.
    pub(crate) fn timeout(after: Duration) -> Self {
        Self::Timeout { after, said: None }
    }

    /// The name of the kind, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::SessionExpired => "SessionExpired",
            Self::RejectedBeforeExecution { .. } => "SessionRejected",
            Self::SessionLost { .. } => "SessionLost",
            Self::TransportDied { .. } => "ConnectionLost",
            Self::Interrupted { sent: false, .. } => "NotReached",
            Self::Interrupted { sent: true, .. } => "ConnectionInterrupted",
            Self::Auth { .. } => "AuthenticationRequired",
            Self::Rpc { .. } => "McpError",
            Self::NeedsVisit { .. } => "VisitRequired",
            Self::Status { .. } => "HttpError",
            Self::Timeout { .. } => "Timeout",
            Self::Cancelled => "Interrupted",
            Self::Unusable { .. } => "Unusable",
            Self::Protocol { .. } => "ProtocolError",
        }
    }

    /// What is wrong, without what differs from one session to the next, such as their ids.
    pub(crate) fn gist(&self) -> String {
        let text = self.to_string();
        let low = text.to_lowercase();
        let known = EXPIRED.iter().chain(&BROKEN).chain(&NAMES_OF_ID);
        match known.copied().find(|known| low.contains(known)) {
            Some(known) => known.to_owned(),
            None => text,
        }
    }

    /// An error the server answered with, on a request that did or did not carry a session id.
    pub(crate) fn from_rpc(code: i32, message: &str, session_id: bool) -> Self {
        let text = clipped(message);
        if code == words::UNREADABLE {
            return Self::Protocol { text };
        }
        let low = text.to_lowercase();
        if is_expiry(&low, session_id) {
            return Self::RejectedBeforeExecution { text };
        }
        if BROKEN.iter().any(|known| low.contains(known)) {
            return Self::TransportDied { sent: true, text };
        }
        Self::Rpc {
            code,
            message: text,
        }
    }

    /// What a request of a running session failed with.
    pub(crate) fn from_service(error: &ServiceError, edge: Edge) -> Self {
        match error {
            ServiceError::McpError(error) if error.code.0 == visit::REQUIRED => Self::NeedsVisit {
                text: clipped(&error.message),
                links: visit::links(error.data.as_ref()),
            },
            ServiceError::McpError(error) => {
                Self::from_rpc(error.code.0, &error.message, edge.session_id)
            }
            ServiceError::TransportSend(error) => Self::from_transport(error, edge),
            ServiceError::TransportClosed if edge.piped => Self::TransportDied {
                sent: edge.sent,
                text: "the server's program closed the connection".to_owned(),
            },
            ServiceError::TransportClosed => Self::Interrupted {
                sent: edge.sent,
                text: "the server closed the connection before it answered".to_owned(),
            },
            ServiceError::Timeout { timeout } => Self::timeout(*timeout),
            ServiceError::Cancelled { .. } => Self::Cancelled,
            other => Self::Protocol {
                text: clipped(&other.to_string()),
            },
        }
    }

    /// What a handshake failed with.
    pub(crate) fn from_handshake(error: &ClientInitializeError) -> Self {
        match error {
            ClientInitializeError::TransportError { error, .. } => {
                Self::from_transport(error, FIRST)
            }
            ClientInitializeError::JsonRpcError(error) => Self::Rpc {
                code: error.code.0,
                message: clipped(&error.message),
            },
            ClientInitializeError::ConnectionClosed(_) => Self::TransportDied {
                sent: true,
                text: "the connection was closed during the handshake".to_owned(),
            },
            ClientInitializeError::Cancelled => Self::Cancelled,
            other => Self::Protocol {
                text: clipped(&other.to_string()),
            },
        }
    }

    fn from_transport(error: &DynamicTransportError, edge: Edge) -> Self {
        let inner = &error.error;
        if let Some(error) = inner.downcast_ref::<StreamableHttpError<WireError>>() {
            return Self::from_streamable(error, edge);
        }
        if let Some(error) = inner.downcast_ref::<WireError>() {
            return Self::from_wire(error, edge);
        }
        // A line that could not be written as a whole is no request.
        if inner.is::<std::io::Error>() {
            return Self::TransportDied {
                sent: false,
                text: "the server's program takes no more input".to_owned(),
            };
        }
        Self::Interrupted {
            sent: true,
            text: clipped(&error.to_string()),
        }
    }

    fn from_streamable(error: &StreamableHttpError<WireError>, edge: Edge) -> Self {
        match error {
            StreamableHttpError::Client(error) => Self::from_wire(error, edge),
            StreamableHttpError::SessionExpired => Self::SessionExpired,
            StreamableHttpError::TransportChannelClosed
            | StreamableHttpError::TokioJoinError(_) => Self::TransportDied {
                sent: edge.sent,
                text: "the connection was closed".to_owned(),
            },
            StreamableHttpError::UnexpectedContentType(found) => not_mcp(found.as_deref(), edge),
            StreamableHttpError::Sse(_)
            | StreamableHttpError::Io(_)
            | StreamableHttpError::UnexpectedEndOfStream => Self::Interrupted {
                sent: true,
                text: "the answer broke off".to_owned(),
            },
            other => Self::Protocol {
                text: clipped(&other.to_string()),
            },
        }
    }

    /// What our own transports fail with.
    pub(crate) fn from_wire(error: &WireError, edge: Edge) -> Self {
        match error {
            WireError::Http(error) => Self::from_http(error),
            WireError::Status { status, body } => from_status(*status, body, edge.session_id),
            WireError::Refused {
                token, challenge, ..
            } => Self::Auth {
                text: error.to_string(),
                token: token.clone(),
                challenge: challenge.clone(),
            },
            WireError::NoToken(AuthError::NeedsLogin { .. }) => Self::Auth {
                text: error.to_string(),
                token: None,
                challenge: None,
            },
            WireError::NoToken(AuthError::Later { .. }) => Self::Interrupted {
                sent: false,
                text: error.to_string(),
            },
            WireError::NotMcp { found } => not_mcp(found.as_deref(), edge),
            WireError::Malformed(text) => Self::Protocol {
                text: clipped(text),
            },
            WireError::Silent { after } => Self::timeout(*after),
            WireError::Closed => Self::TransportDied {
                sent: false,
                text: "the event stream is closed".to_owned(),
            },
        }
    }

    fn from_http(error: &HttpError) -> Self {
        let text = clipped(&hermes_core::causes(error));
        match error {
            HttpError::Cancelled => Self::Cancelled,
            HttpError::Timeout { after, .. } => Self::timeout(*after),
            HttpError::Dns { .. } | HttpError::Connect { .. } => {
                Self::Interrupted { sent: false, text }
            }
            HttpError::Interrupted { .. } => Self::Interrupted { sent: true, text },
            HttpError::Refused { .. } | HttpError::Invalid { .. } | HttpError::WrongOrigin(_) => {
                Self::Unusable { text }
            }
            _ => Self::Protocol { text },
        }
    }
}

fn from_status(status: u16, body: &str, session_id: bool) -> Failure {
    let text = clipped(body);
    match status {
        404 if session_id => return Failure::SessionExpired,
        400 if session_id && names_bad_session(&text.to_lowercase()) => {
            return Failure::RejectedBeforeExecution { text };
        }
        _ => {}
    }
    match status {
        400..500 if is_expiry(&text.to_lowercase(), session_id) => {
            Failure::RejectedBeforeExecution { text }
        }
        500..600 if is_expiry(&text.to_lowercase(), session_id) => {
            Failure::SessionLost { status, text }
        }
        _ => Failure::Status { status, text },
    }
}

/// Whether a lower-cased text of a server says that it does not know our session.
fn is_expiry(low: &str, session_id: bool) -> bool {
    EXPIRED.iter().any(|known| low.contains(known)) || (session_id && low.contains(MISSING_ID))
}

/// Whether the answer to a bad request is about the session id it carried.
pub(crate) fn names_bad_session(low: &str) -> bool {
    let [header, plain] = NAMES_OF_ID;
    low.contains(plain)
        && ["missing", "invalid", "no valid", "unknown", "bad"]
            .iter()
            .any(|word| low.contains(word))
        || low.contains(header)
}

/// An answer of another kind. At first it says that the address is wrong; from a server that was there it may
/// be the page of whoever stands in front of it, and nobody knows whether the request got past that.
fn not_mcp(found: Option<&str>, edge: Edge) -> Failure {
    let found = found.unwrap_or("no content type");
    match edge.known {
        true => Failure::Protocol {
            text: clipped(&format!("the answer is {found}, which is not MCP")),
        },
        false => Failure::Unusable {
            text: format!(
                "the address answers with {found}, which is not MCP; check its path, many servers use /mcp \
                 or /sse"
            ),
        },
    }
}

fn clipped(text: &str) -> String {
    text.trim().chars().take(MOST_TEXT).collect()
}

#[cfg(test)]
mod tests;
