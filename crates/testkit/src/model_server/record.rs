//! What the server remembers of each request.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::protocol::Protocol;

/// Header names whose values never reach a log file.
const CREDENTIAL_HEADERS: [&str; 7] = [
    "authorization",
    "proxy-authorization",
    "x-api-key",
    "api-key",
    "x-goog-api-key",
    "x-amz-security-token",
    "cookie",
];

/// A request as it arrived.
#[derive(Debug, Clone)]
pub struct RecordedRequest {
    /// Position among all requests of this server, counted from 1.
    pub number: u64,
    /// HTTP method.
    pub method: String,
    /// Path and query.
    pub path: String,
    /// Names in lower case with their values, in order of arrival.
    pub headers: Vec<(String, String)>,
    /// The body, byte for byte.
    pub body: Vec<u8>,
    /// The body as JSON, when it is.
    pub json: Option<Value>,
    /// The model protocol the path belongs to.
    pub protocol: Option<Protocol>,
    /// What a strict vendor would not have taken; empty when the server is lenient.
    pub violations: Vec<String>,
    /// When the last byte of the request was there.
    pub arrived_at: Instant,
    /// When the answer of a step was ready to be sent.
    pub answered_at: Option<Instant>,
    /// Who answered.
    pub outcome: Outcome,
}

/// What became of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Answered by the step with this index.
    Step(usize),
    /// Answered by a scripted path.
    Route {
        /// Index of the route.
        route: usize,
        /// Index of its reply.
        reply: usize,
    },
    /// Answered with the model list.
    Models,
    /// A strict vendor would have refused it, and so did the server.
    Refused,
    /// No step was left for it.
    Unmatched,
    /// The body was not JSON.
    BadRequest,
    /// No route.
    NotFound,
}

impl Outcome {
    /// Whether the script provided for this request.
    pub fn is_served(self) -> bool {
        match self {
            Self::Step(_) | Self::Route { .. } | Self::Models => true,
            Self::Refused | Self::Unmatched | Self::BadRequest | Self::NotFound => false,
        }
    }
}

impl RecordedRequest {
    /// Value of a header, by name in any case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    /// The body as JSON.
    ///
    /// Panics when it is not, showing the body.
    #[track_caller]
    pub fn expect_json(&self) -> &Value {
        match &self.json {
            Some(json) => json,
            None => panic!(
                "request {} has no JSON body: {}",
                self.number,
                String::from_utf8_lossy(&self.body)
            ),
        }
    }

    /// One log line, with credentials blanked.
    pub(super) fn log_line(&self, since_start: Duration) -> Value {
        let headers: BTreeMap<&str, &str> = self
            .headers
            .iter()
            .map(|(name, value)| {
                let secret = CREDENTIAL_HEADERS.contains(&name.as_str());
                (name.as_str(), if secret { "[redacted]" } else { value })
            })
            .collect();
        json!({
            "number": self.number,
            "after_ms": u64::try_from(since_start.as_millis()).unwrap_or(u64::MAX),
            "method": self.method,
            "path": self.path,
            "headers": headers,
            "body": self.json.clone().unwrap_or_else(|| String::from_utf8_lossy(&self.body).into()),
            "outcome": format!("{:?}", self.outcome),
            "violations": self.violations,
        })
    }
}
