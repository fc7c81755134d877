//! Where a request goes: scheme, host and port, and patterns over them.

use std::fmt;
use std::str::FromStr;

use url::{Host, Url};

/// A scheme, host and port, normalised so that equal origins compare equal.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Origin {
    scheme: String,
    host: String,
    port: u16,
}

/// Why a text is not an origin.
#[derive(Debug, thiserror::Error)]
pub enum OriginError {
    /// The text is not a URL at all.
    #[error("not a valid url")]
    Url(#[source] url::ParseError),
    /// The URL names no host, as in `mailto:` or `file:`.
    #[error("a {scheme} url has no host")]
    NoHost {
        /// The URL's scheme.
        scheme: String,
    },
    /// The scheme has no default port and the URL gives none.
    #[error("a {scheme} url needs a port")]
    NoPort {
        /// The URL's scheme.
        scheme: String,
    },
    /// A wildcard stands for too much, or stands in the wrong place.
    #[error("a wildcard must be the first label of a name with at least two more labels")]
    Wildcard,
}

impl Origin {
    /// Returns the origin of a URL.
    pub fn of(url: &Url) -> Result<Self, OriginError> {
        let scheme = url.scheme().to_owned();
        let Some(host) = url.host() else {
            return Err(OriginError::NoHost { scheme });
        };
        let host = match host {
            Host::Domain(name) => name.trim_end_matches('.').to_ascii_lowercase(),
            Host::Ipv4(address) => address.to_string(),
            Host::Ipv6(address) => format!("[{address}]"),
        };
        if host.is_empty() {
            return Err(OriginError::NoHost { scheme });
        }
        let Some(port) = url.port_or_known_default() else {
            return Err(OriginError::NoPort { scheme });
        };
        Ok(Self { scheme, host, port })
    }

    /// The scheme, in lower case.
    pub fn scheme(&self) -> &str {
        &self.scheme
    }

    /// The host in lower case without a trailing dot; an IPv6 address is in brackets.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port, explicit or the scheme's default.
    pub fn port(&self) -> u16 {
        self.port
    }
}

impl FromStr for Origin {
    type Err = OriginError;

    /// Reads `https://host:port/…`; a text without a scheme is taken as `https`.
    fn from_str(text: &str) -> Result<Self, OriginError> {
        let url = if text.contains("://") {
            Url::parse(text)
        } else {
            Url::parse(&format!("https://{text}"))
        };
        Self::of(&url.map_err(OriginError::Url)?)
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme, self.host)?;
        let is_default = matches!(
            (self.scheme.as_str(), self.port),
            ("https" | "wss", 443) | ("http" | "ws", 80)
        );
        if is_default {
            Ok(())
        } else {
            write!(f, ":{}", self.port)
        }
    }
}

/// One origin, or all sub-domains of a name (`https://*.example.com`).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum OriginPattern {
    /// Exactly this origin.
    Exact(Origin),
    /// Any sub-domain of the origin's host, at any depth, but not the host itself.
    SubdomainsOf(Origin),
}

impl OriginPattern {
    /// Reports whether the pattern covers the origin.
    pub fn matches(&self, origin: &Origin) -> bool {
        match self {
            Self::Exact(exact) => exact == origin,
            Self::SubdomainsOf(parent) => {
                parent.scheme == origin.scheme
                    && parent.port == origin.port
                    && origin
                        .host
                        .strip_suffix(parent.host.as_str())
                        .is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
            }
        }
    }
}

impl From<Origin> for OriginPattern {
    fn from(origin: Origin) -> Self {
        Self::Exact(origin)
    }
}

impl FromStr for OriginPattern {
    type Err = OriginError;

    /// Reads what [`Origin`] reads, plus `*.` as the first label: `*.example.com`, `https://*.example.com:8443`.
    fn from_str(text: &str) -> Result<Self, OriginError> {
        let (scheme, rest) = text.split_once("://").unwrap_or(("https", text));
        let Some(name) = rest.strip_prefix("*.") else {
            if rest.contains('*') {
                return Err(OriginError::Wildcard);
            }
            return text.parse().map(Self::Exact);
        };
        let parent: Origin = format!("{scheme}://{name}").parse()?;
        let is_name = parent
            .host
            .split('.')
            .filter(|label| !label.is_empty())
            .count()
            >= 2
            && parent.host.bytes().any(|byte| byte.is_ascii_alphabetic());
        if name.contains('*') || !is_name {
            return Err(OriginError::Wildcard);
        }
        Ok(Self::SubdomainsOf(parent))
    }
}

impl fmt::Display for OriginPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact(origin) => origin.fmt(f),
            Self::SubdomainsOf(parent) => {
                write!(f, "{}://*.{}:{}", parent.scheme, parent.host, parent.port)
            }
        }
    }
}
