//! Requests to a vendor's server that speaks JSON, made again where that may help, and its troubles in words.

use std::sync::Arc;
use std::time::Duration;

use hermes_core::Clock;
use hermes_http::{
    AuthScheme, BaseUrl, HttpClient, HttpError, RequestBuilder, Response, Timeouts, WebSocket,
    retry_after,
};
use hermes_secrets::{Origin, Secret};
use http::{HeaderName, Method};
use serde_json::Value;
use url::Url;

use crate::{ExecError, tether};

const ATTEMPTS: u32 = 5;
const FIRST_PAUSE: Duration = Duration::from_millis(200);
/// Nobody is waited for longer, whatever it asks for.
const LONGEST_PAUSE: Duration = Duration::from_secs(20);
const ANSWER: Duration = Duration::from_secs(60);
const MAX_ANSWER: usize = 4 << 20;
const MAX_MESSAGE: usize = 500;

/// Whether a request may be made again when it is not known what became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Again {
    Yes,
    /// Only if it surely was not carried out.
    IfRefused,
}

/// What is said about a vendor's troubles.
#[derive(Clone, Copy)]
pub(crate) struct Words {
    pub(crate) backend: &'static str,
    /// What to do about an address that is none.
    pub(crate) address: &'static str,
    /// What to do when nobody answers.
    pub(crate) unreachable: &'static str,
    /// What to do about a status, and whether the answer speaks of something being scarce.
    pub(crate) refused: fn(u16, bool) -> &'static str,
}

/// One server that a key is for.
#[derive(Clone)]
pub(crate) struct Server {
    pub(crate) http: HttpClient,
    pub(crate) base: BaseUrl,
    pub(crate) key: Secret,
    /// Sent with every request.
    pub(crate) headers: Vec<(HeaderName, String)>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) words: Words,
}

impl Server {
    /// The same for another server, which the API named.
    pub(crate) fn at(&self, url: &str) -> Result<Self, ExecError> {
        let wrong = |what: &str| {
            let cause = format!("the address {url} of the toolbox {what}");
            self.unavailable(cause, self.words.address)
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
        for (name, value) in &self.headers {
            request = request.header(name.clone(), value.as_str());
        }
        request
    }

    /// The same with one more header.
    pub(crate) fn with(&self, name: HeaderName, value: &str) -> Self {
        let mut server = self.clone();
        server.headers.push((name, value.to_owned()));
        server
    }

    /// Makes a request, several times if that may help.
    pub(crate) async fn ask(
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
    pub(crate) async fn json<T: serde::de::DeserializeOwned>(
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
    pub(crate) async fn websocket(&self, path: &str, what: &str) -> Result<WebSocket, ExecError> {
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
            return self.unavailable(cause, self.words.unreachable);
        };
        let said = message(&status.excerpt);
        let lower = said.to_lowercase();
        let scarce = ["quota", "limit", "exceeded", "credit"]
            .iter()
            .any(|word| lower.contains(word));
        let status = status.status.as_u16();
        if matches!(status, 404 | 410) {
            return ExecError::Gone(said);
        }
        let next = (self.words.refused)(status, scarce);
        self.unavailable(format!("{what} failed with {status}: {said}"), next)
    }

    fn unavailable(&self, cause: String, next: &str) -> ExecError {
        ExecError::Unavailable {
            backend: self.words.backend,
            cause,
            next: next.to_owned(),
        }
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
