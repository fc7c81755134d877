//! What can go wrong, named by what the caller must do about it.

use std::error::Error;
use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use hermes_secrets::WrongOrigin;
use http::{HeaderMap, StatusCode};
use jiff::Timestamp;

use crate::{DisplayUrl, ProxyError, ProxyName, TlsFlaw, retry_after};

/// A cause whose own type does not matter to callers.
pub(crate) type Cause = Box<dyn Error + Send + Sync>;

/// Why a request did not give what was asked for. No variant carries a URL's query, user or any key.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HttpError {
    /// Our own rules forbid this address or step; asking again gives the same answer.
    #[error("refused {url}: {refusal}")]
    Refused {
        /// Where the request, or its redirect, was going.
        url: DisplayUrl,
        /// Which rule.
        refusal: Refusal,
    },
    /// The credential is not meant for this server; the configuration is wrong.
    #[error(transparent)]
    WrongOrigin(#[from] WrongOrigin),
    /// The request cannot be written down: a bad URL, header or body.
    #[error("cannot build the request: {what} is not valid")]
    Invalid {
        /// The part that is wrong.
        what: &'static str,
        /// Why.
        #[source]
        source: Option<Cause>,
    },
    /// The name does not resolve.
    #[error("cannot resolve {host}")]
    Dns {
        /// The name.
        host: String,
        /// Why.
        #[source]
        source: Cause,
    },
    /// Nobody answers at the address, or the proxy does not let us through.
    #[error("cannot connect to {url}{}", through(.proxy.as_ref()))]
    Connect {
        /// Where to.
        url: DisplayUrl,
        /// The proxy that was to lead there, which may be all that is wrong.
        proxy: Option<ProxyName>,
        /// Why.
        #[source]
        source: Cause,
    },
    /// The server's certificate or protocol is not acceptable; a private CA may be missing from the settings.
    #[error("no trusted connection to {url}")]
    Tls {
        /// Where to.
        url: DisplayUrl,
        /// Why.
        #[source]
        flaw: TlsFlaw,
    },
    /// A limit of time passed.
    #[error("{url} took longer than {after:?} {stage}")]
    Timeout {
        /// Where.
        url: DisplayUrl,
        /// What was being waited for.
        stage: Stage,
        /// The limit.
        after: Duration,
    },
    /// The connection broke after the request was sent; the server may have acted on it.
    #[error("the connection to {url} broke")]
    Interrupted {
        /// Where.
        url: DisplayUrl,
        /// Why.
        #[source]
        source: Cause,
    },
    /// The server answered with a failure.
    #[error(transparent)]
    Status(Box<StatusError>),
    /// The body is larger than the caller accepts; the rest was not read.
    #[error("the body of {url} is larger than {limit} bytes")]
    TooLarge {
        /// Where.
        url: DisplayUrl,
        /// The caller's limit.
        limit: usize,
    },
    /// The body is not what it should be.
    #[error("the body of {url} is not valid JSON of the expected form")]
    Decode {
        /// Where.
        url: DisplayUrl,
        /// Why.
        #[source]
        source: serde_json::Error,
    },
    /// The server sends us round in circles.
    #[error("{url} was reached after {hops} redirects, which is too many")]
    RedirectLoop {
        /// The address that was not followed.
        url: DisplayUrl,
        /// How many were followed.
        hops: usize,
    },
    /// The caller's token was cancelled.
    #[error("cancelled")]
    Cancelled,
}

impl HttpError {
    /// Whether the same request may succeed a little later.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Dns { .. }
            | Self::Connect { .. }
            | Self::Timeout { .. }
            | Self::Interrupted { .. } => true,
            Self::Status(status) => {
                matches!(
                    status.status.as_u16(),
                    408 | 425 | 429 | 500 | 502 | 503 | 504 | 529
                )
            }
            Self::Refused { .. }
            | Self::WrongOrigin(_)
            | Self::Invalid { .. }
            | Self::Tls { .. }
            | Self::TooLarge { .. }
            | Self::Decode { .. }
            | Self::RedirectLoop { .. }
            | Self::Cancelled => false,
        }
    }

    /// What to do about it, where that does not depend on what was asked.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Connect {
                proxy: Some(proxy), ..
            } => Some(proxy.hint()),
            Self::Tls { flaw, .. } => flaw.hint().map(str::to_owned),
            Self::Connect { proxy: None, .. }
            | Self::Refused { .. }
            | Self::WrongOrigin(_)
            | Self::Invalid { .. }
            | Self::Dns { .. }
            | Self::Timeout { .. }
            | Self::Interrupted { .. }
            | Self::Status(_)
            | Self::TooLarge { .. }
            | Self::Decode { .. }
            | Self::RedirectLoop { .. }
            | Self::Cancelled => None,
        }
    }

    pub(crate) fn invalid(what: &'static str) -> Self {
        Self::Invalid { what, source: None }
    }

    pub(crate) fn invalid_because(what: &'static str, source: impl Into<Cause>) -> Self {
        Self::Invalid {
            what,
            source: Some(source.into()),
        }
    }
}

fn through(proxy: Option<&ProxyName>) -> String {
    proxy.map_or_else(String::new, |proxy| format!(" through the proxy {proxy}"))
}

/// Which rule refused a request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The address is not one that the policy lets us reach.
    #[error("{address} is not a public address")]
    Address {
        /// The address, as named or as resolved.
        address: IpAddr,
    },
    /// The name or address hands out a cloud machine's credentials.
    #[error("{host} is a cloud metadata service")]
    Metadata {
        /// The name or address.
        host: String,
    },
    /// The host is not on the list of allowed ones.
    #[error("{host} is not on the list of allowed hosts")]
    NotListed {
        /// The name or address.
        host: String,
    },
    /// Only `http` and `https` are spoken here.
    #[error("{scheme} is not http or https")]
    Scheme {
        /// The scheme.
        scheme: String,
    },
    /// A redirect led from `https` to `http`.
    #[error("the redirect leaves https")]
    Downgrade,
    /// The request asked for redirects within its origin only.
    #[error("the redirect leaves the origin")]
    LeavesOrigin,
    /// A user or password stands in the URL; credentials are given with `auth`.
    #[error("the url holds a user or password")]
    CredentialsInUrl,
}

/// What was being waited for when time ran out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Name lookup, connection and TLS handshake.
    Connect,
    /// The response's head.
    FirstByte,
    /// The next piece of the body.
    Idle,
    /// The whole exchange.
    Total,
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Connect => "to connect",
            Self::FirstByte => "to begin answering",
            Self::Idle => "between two pieces of the body",
            Self::Total => "in all",
        })
    }
}

/// An answer that is not a success.
#[derive(Debug)]
pub struct StatusError {
    /// Where it came from.
    pub url: DisplayUrl,
    /// The status.
    pub status: StatusCode,
    /// All headers, for retry delays, rate limits and request ids.
    pub headers: HeaderMap,
    /// The beginning of the body, with secrets masked.
    pub excerpt: String,
}

/// How much of the excerpt a message shows.
const SHOWN: usize = 300;

impl StatusError {
    /// How long the server asks to wait, seen from `now`.
    pub fn retry_after(&self, now: Timestamp) -> Option<Duration> {
        retry_after(&self.headers, now)
    }
}

impl fmt::Display for StatusError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} answered {}", self.url, self.status.as_u16())?;
        if let Some(reason) = self.status.canonical_reason() {
            write!(f, " {reason}")?;
        }
        let shown: String = self.excerpt.trim().chars().take(SHOWN).collect();
        if shown.is_empty() {
            Ok(())
        } else {
            write!(f, ": {shown}")
        }
    }
}

impl Error for StatusError {}

/// Why a client could not be built from its settings.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The CA bundle is not PEM, or holds no certificate.
    #[error("the CA bundle holds no usable certificate")]
    CaBundle(#[source] Option<Cause>),
    /// The certificate we are to show, or its key, cannot be used.
    #[error("the client certificate or its key cannot be used")]
    Identity(#[source] Option<Cause>),
    /// A proxy setting is wrong.
    #[error(transparent)]
    Proxy(#[from] ProxyError),
    /// The TLS or HTTP machinery refused the settings.
    #[error("cannot set up the http client")]
    Client(#[source] Cause),
}
