//! Requests to Daytona, and what its answers mean.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use hermes_core::Clock;
use hermes_http::{
    AuthScheme, BaseUrl, HttpClient, HttpError, RequestBuilder, Response, Timeouts, WebSocket,
    retry_after,
};
use hermes_secrets::{Origin, Secret};
use http::{HeaderName, Method};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;
use url::Url;

use super::{KIND, unavailable};
use crate::{ExecError, tether};

const ORGANISATION: HeaderName = HeaderName::from_static("x-daytona-organization-id");
const ATTEMPTS: u32 = 5;
const FIRST_PAUSE: Duration = Duration::from_millis(200);
/// Nobody is waited for longer, whatever it asks for.
const LONGEST_PAUSE: Duration = Duration::from_secs(20);
const ANSWER: Duration = Duration::from_secs(60);
const MAX_ANSWER: usize = 4 << 20;
const MAX_MESSAGE: usize = 500;

/// Whether a request may be made again when it is not known what became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Again {
    Yes,
    /// Only if it surely was not carried out.
    IfRefused,
}

/// One server that the key is for: the API itself, or the toolbox of a sandbox.
#[derive(Clone)]
pub(super) struct Server {
    pub(super) http: HttpClient,
    pub(super) base: BaseUrl,
    pub(super) key: Secret,
    pub(super) organisation: Option<String>,
    pub(super) clock: Arc<dyn Clock>,
}

/// A sandbox as the API describes it.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Described {
    pub(super) id: String,
    #[serde(default)]
    pub(super) name: Option<String>,
    #[serde(default)]
    pub(super) labels: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) state: State,
    #[serde(default)]
    pub(super) error_reason: Option<String>,
    #[serde(default)]
    created_at: Option<String>,
    #[serde(default)]
    pub(super) snapshot: Option<String>,
    #[serde(default)]
    pub(super) toolbox_proxy_url: Option<String>,
}

/// What a sandbox is up to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum State {
    Started,
    Stopped,
    Archived,
    Error,
    BuildFailed,
    Destroying,
    Destroyed,
    /// On its way from one of these to another.
    #[default]
    #[serde(other)]
    Moving,
}

impl Described {
    pub(super) fn name(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.id)
    }

    /// When it was made, in seconds since 1970; long ago if that is not known.
    pub(super) fn created_at(&self) -> i64 {
        let at = self.created_at.as_deref();
        let at = at.and_then(|at| at.parse::<Timestamp>().ok());
        at.map_or(0, Timestamp::as_second)
    }
}

impl Server {
    /// The same for another server, which the API named.
    pub(super) fn at(&self, url: &str) -> Result<Self, ExecError> {
        let wrong = |what: &str| {
            let next = "Check DAYTONA_API_URL.".to_owned();
            unavailable(format!("the address {url} of the toolbox {what}"), next)
        };
        let parsed: Url = url.parse().map_err(|_| wrong("is not one"))?;
        let origin = Origin::of(&parsed).map_err(|_| wrong("is not one"))?;
        let ours = self.base.origin().map_err(|_| wrong("is not one"))?;
        if ours.scheme() != origin.scheme() && origin.scheme() != "https" {
            return Err(wrong("is less secure than the API"));
        }
        let key = self
            .key
            .expose_for(&ours)
            .map_err(|_| wrong("is not ours"))?;
        let key = Secret::builder(self.key.name().clone(), key.to_owned())
            .origins([origin.into()])
            .child(tether::child())
            .build()
            .map_err(|_| wrong("is not ours"))?;
        Ok(Self {
            base: BaseUrl::from(parsed),
            key,
            ..self.clone()
        })
    }

    fn request(&self, method: &Method, path: &str) -> RequestBuilder {
        let mut request = self
            .http
            .request(method.clone(), self.base.join(path))
            .auth(&self.key, AuthScheme::Bearer);
        if let Some(organisation) = &self.organisation {
            request = request.header(ORGANISATION, organisation.as_str());
        }
        request
    }

    /// Makes a request, several times if that may help.
    pub(super) async fn ask(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
        again: Again,
        what: &str,
    ) -> Result<Response, ExecError> {
        let mut pause = FIRST_PAUSE;
        for attempt in 1.. {
            let mut request = self.request(&method, path).timeouts(Timeouts {
                first_byte: ANSWER,
                idle: ANSWER,
                total: ANSWER,
                ..Timeouts::default()
            });
            if let Some(body) = body {
                request = request.json(body);
            }
            let error = match request.send().await {
                Ok(response) => match response.require_success().await {
                    Ok(response) => return Ok(response),
                    Err(error) => error,
                },
                Err(error) => error,
            };
            if attempt == ATTEMPTS || !may_help(&error, again) {
                return Err(self.explain(error, what));
            }
            let asked = match &error {
                HttpError::Status(status) => retry_after(&status.headers, self.clock.now()),
                _ => None,
            };
            tokio::time::sleep(asked.unwrap_or(pause).min(LONGEST_PAUSE)).await;
            pause *= 2;
        }
        Err(ExecError::Cancelled)
    }

    /// The same for an answer in JSON.
    pub(super) async fn json<T: serde::de::DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
        again: Again,
        what: &str,
    ) -> Result<T, ExecError> {
        let answer = self.ask(method, path, body, again, what).await?;
        answer
            .json(MAX_ANSWER)
            .await
            .map_err(|error| self.explain(error, what))
    }

    /// Opens a WebSocket.
    pub(super) async fn websocket(&self, path: &str, what: &str) -> Result<WebSocket, ExecError> {
        let opened = self.request(&Method::GET, path).websocket().await;
        opened.map_err(|error| self.explain(error, what))
    }

    fn explain(&self, error: HttpError, what: &str) -> ExecError {
        let HttpError::Status(status) = &error else {
            let mut cause = format!("{what} failed: {error}");
            let mut source = std::error::Error::source(&error);
            while let Some(inner) = source {
                cause.push_str(&format!(": {inner}"));
                source = inner.source();
            }
            return unavailable(cause, "Check DAYTONA_API_URL and the network.".to_owned());
        };
        let said = message(&status.excerpt);
        let lower = said.to_lowercase();
        let scarce = ["quota", "limit", "exceeded", "credit"]
            .iter()
            .any(|word| lower.contains(word));
        let next = match status.status.as_u16() {
            404 | 410 => return ExecError::Gone(said),
            429 => "Wait a little and try again.",
            400 | 402 | 403 | 412 if scarce => {
                "Remove sandboxes with hermes sandbox rm, or lower terminal.container_cpu, \
                 container_memory and container_disk."
            }
            401 | 403 => "Check DAYTONA_API_KEY.",
            500.. => "Daytona has trouble; try again later.",
            _ => "Check the settings terminal.daytona_image and terminal.container_*.",
        };
        let status = status.status.as_u16();
        unavailable(
            format!("{what} failed with {status}: {said}"),
            next.to_owned(),
        )
    }
}

fn may_help(error: &HttpError, again: Again) -> bool {
    match (error, again) {
        (_, Again::Yes) => error.is_transient(),
        (HttpError::Connect { .. } | HttpError::Dns { .. }, Again::IfRefused) => true,
        (HttpError::Status(status), Again::IfRefused) => {
            matches!(status.status.as_u16(), 429 | 502 | 503)
        }
        (_, Again::IfRefused) => false,
    }
}

/// What an error's body says, in a few words.
fn message(body: &str) -> String {
    let parsed: Option<Value> = serde_json::from_str(body).ok();
    let said = parsed.as_ref().and_then(|body| {
        ["message", "error"]
            .iter()
            .find_map(|name| body.get(*name)?.as_str())
    });
    said.unwrap_or(body).chars().take(MAX_MESSAGE).collect()
}

/// A sandbox that cannot be used, in words.
pub(super) fn broken(sandbox: &Described, image: &str) -> ExecError {
    let reason = sandbox.error_reason.as_deref().unwrap_or("no reason given");
    ExecError::Unavailable {
        backend: KIND,
        cause: format!("the sandbox of {image} does not start: {reason}"),
        next: "Check terminal.daytona_image.".to_owned(),
    }
}
