//! Requests to a service: its address, its key, its limits, and a second attempt where that is safe.

use std::time::Duration;

use bytes::Bytes;
use hermes_http::{AuthScheme, BaseUrl, HttpClient, HttpError, Timeouts};
use hermes_secrets::{Secret, SecretName};
use http::{HeaderName, Method, header};
use serde_json::Value as Json;

use super::error::ProviderError;

/// Larger answers are not read.
const LARGEST: usize = 4 << 20;
/// Attempts of a request that may be repeated.
const ATTEMPTS: u32 = 3;
/// The wait before the second attempt; the next is twice as long.
const FIRST_WAIT: Duration = Duration::from_millis(120);
/// The longest a service may have us wait between attempts.
const LONGEST_WAIT: Duration = Duration::from_secs(3);
/// How long something that is to be removed is waited for, while the service may still be taking it in.
const WAITS_TO_REMOVE: [Duration; 4] = [
    Duration::from_millis(250),
    Duration::from_secs(1),
    Duration::from_secs(3),
    Duration::from_secs(9),
];

/// A service that is spoken to.
#[derive(Clone)]
pub(crate) struct Api {
    pub(crate) provider: &'static str,
    client: HttpClient,
    base: BaseUrl,
    key: Option<(Secret, AuthScheme)>,
    headers: Vec<(HeaderName, String)>,
    timeout: Duration,
}

/// Where a service is and how it is spoken to.
pub(crate) struct ApiOptions {
    pub(crate) provider: &'static str,
    pub(crate) client: HttpClient,
    pub(crate) address: String,
    /// The name the key goes by, the key itself and where it goes.
    pub(crate) key: Option<(&'static str, String, AuthScheme)>,
    pub(crate) timeout: Duration,
}

/// Whether a request may be made again after the service failed at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Repeat {
    /// Doing it twice equals doing it once.
    Safe,
    /// Only when the service says that it did nothing.
    Refused,
}

/// What is sent along.
pub(crate) enum Payload {
    Nothing,
    Json(Json),
    /// Bytes with their content type.
    Bytes(String, Bytes),
}

impl Api {
    pub(crate) fn new(options: ApiOptions) -> Result<Self, ProviderError> {
        let provider = options.provider;
        let wrong = |what: &str| ProviderError::Setup {
            provider,
            what: format!("{what} {}", options.address),
        };
        let base: BaseUrl = options
            .address
            .parse()
            .map_err(|_| wrong("this is no address:"))?;
        let origin = base.origin().map_err(|_| wrong("this is no address:"))?;
        let key = match options.key {
            None => None,
            Some((name, value, scheme)) => {
                let bound = SecretName::new(name)
                    .and_then(|name| Secret::new(name, value, [origin.into()]));
                let bound = bound.map_err(|error| ProviderError::Setup {
                    provider,
                    what: error.to_string(),
                })?;
                Some((bound, scheme))
            }
        };
        Ok(Self {
            provider,
            client: options.client,
            base,
            key,
            headers: Vec::new(),
            timeout: options.timeout,
        })
    }

    /// Sends a header that is not a credential with every request.
    pub(crate) fn header(mut self, name: &'static str, value: Option<String>) -> Self {
        if let Some(value) = value {
            self.headers.push((HeaderName::from_static(name), value));
        }
        self
    }

    pub(crate) async fn get(
        &self,
        path: &str,
        query: &[(&str, &str)],
    ) -> Result<Json, ProviderError> {
        self.send(Method::GET, path, query, Payload::Nothing, Repeat::Safe)
            .await
    }

    /// A `POST` that looks or makes something that is made once.
    pub(crate) async fn ask(&self, path: &str, body: Json) -> Result<Json, ProviderError> {
        self.send(Method::POST, path, &[], Payload::Json(body), Repeat::Safe)
            .await
    }

    /// A `POST` that adds something.
    pub(crate) async fn add(&self, path: &str, body: Json) -> Result<Json, ProviderError> {
        self.send(
            Method::POST,
            path,
            &[],
            Payload::Json(body),
            Repeat::Refused,
        )
        .await
    }

    pub(crate) async fn put(&self, path: &str, body: Json) -> Result<Json, ProviderError> {
        self.send(Method::PUT, path, &[], Payload::Json(body), Repeat::Safe)
            .await
    }

    pub(crate) async fn delete(
        &self,
        path: &str,
        query: &[(&str, &str)],
    ) -> Result<Json, ProviderError> {
        self.send(Method::DELETE, path, query, Payload::Nothing, Repeat::Safe)
            .await
    }

    /// A `DELETE` of something that the service may still be taking in: what is not there yet is waited for a while,
    /// and is gone when it never comes.
    pub(crate) async fn remove(&self, path: &str) -> Result<(), ProviderError> {
        for wait in WAITS_TO_REMOVE {
            match self
                .delete(path, &[])
                .await
                .map_err(|error| (status(&error), error))
            {
                Ok(_) => return Ok(()),
                Err((Some(404 | 409), _)) => tokio::time::sleep(wait).await,
                Err((_, error)) => return Err(error),
            }
        }
        match self.delete(path, &[]).await {
            Err(error) if status(&error) == Some(404) => Ok(()),
            removed => removed.map(drop),
        }
    }

    /// Makes a request and reads its answer; an empty one is `null`.
    pub(crate) async fn send(
        &self,
        method: Method,
        path: &str,
        query: &[(&str, &str)],
        payload: Payload,
        repeat: Repeat,
    ) -> Result<Json, ProviderError> {
        let mut wait = FIRST_WAIT;
        for attempt in 1.. {
            let made = self.once(&method, path, query, &payload).await;
            let error = match made {
                Ok(text) => return self.read(&text),
                Err(error) => error,
            };
            let again = match (&error, repeat) {
                (HttpError::Status(answer), _) if answer.status.as_u16() == 429 => true,
                (error, Repeat::Safe) => error.is_transient(),
                (_, Repeat::Refused) => false,
            };
            if !again || attempt >= ATTEMPTS {
                return Err(self.told(error));
            }
            tokio::time::sleep(self.wished(&error).unwrap_or(wait)).await;
            wait *= 2;
        }
        Err(ProviderError::Slow {
            provider: self.provider,
        })
    }

    async fn once(
        &self,
        method: &Method,
        path: &str,
        query: &[(&str, &str)],
        payload: &Payload,
    ) -> Result<String, HttpError> {
        let limits = Timeouts {
            first_byte: self.timeout,
            idle: self.timeout,
            total: self.timeout,
            ..Timeouts::default()
        };
        let mut request = self
            .client
            .request(method.clone(), self.base.join(path))
            .timeouts(limits);
        if !query.is_empty() {
            request = request.query(query.iter().copied());
        }
        for (name, value) in &self.headers {
            request = request.header(name.clone(), value.as_str());
        }
        request = match payload {
            Payload::Nothing => request,
            Payload::Json(body) => request.json(body),
            Payload::Bytes(kind, bytes) => request
                .header(header::CONTENT_TYPE, kind.as_str())
                .body(bytes.clone()),
        };
        if let Some((secret, scheme)) = &self.key {
            request = request.auth(secret, scheme.clone());
        }
        let answer = request.send().await?.require_success().await?;
        answer.text(LARGEST).await
    }

    /// What a service said. Some answer with nothing or with a word where there is nothing to say.
    fn read(&self, text: &str) -> Result<Json, ProviderError> {
        // A site greets every request with a page and success, and would pass for a memory that knows nothing.
        if text.trim_start().starts_with('<') {
            return Err(ProviderError::Page {
                provider: self.provider,
            });
        }
        Ok(serde_json::from_str(text).unwrap_or(Json::Null))
    }

    /// How long the service wants us to wait, within reason.
    fn wished(&self, error: &HttpError) -> Option<Duration> {
        let HttpError::Status(answer) = error else {
            return None;
        };
        let seconds = answer.headers.get(header::RETRY_AFTER)?;
        let seconds: u64 = seconds.to_str().ok()?.trim().parse().ok()?;
        Some(Duration::from_secs(seconds).min(LONGEST_WAIT))
    }

    fn told(&self, source: HttpError) -> ProviderError {
        let provider = self.provider;
        match &source {
            HttpError::Status(answer) if matches!(answer.status.as_u16(), 401 | 403) => {
                ProviderError::Key { provider }
            }
            error if error.is_transient() => ProviderError::Unreachable { provider, source },
            _ => ProviderError::Rejected { provider, source },
        }
    }
}

/// The status a service turned something down with.
fn status(error: &ProviderError) -> Option<u16> {
    match error {
        ProviderError::Rejected {
            source: HttpError::Status(answer),
            ..
        } => Some(answer.status.as_u16()),
        _ => None,
    }
}

/// A text as one segment of a path.
pub(crate) fn segment(text: &str) -> String {
    use std::fmt::Write as _;
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                out.push(char::from(byte));
            }
            other => {
                // Writing to a text cannot fail.
                let _ = write!(out, "%{other:02X}");
            }
        }
    }
    match out.as_str() {
        // These would climb, however they are written.
        "." => "_".to_owned(),
        ".." => "__".to_owned(),
        _ => out,
    }
}

/// The rows of an answer, whichever of these names they go by; an answer may also be the rows.
pub(crate) fn rows<'a>(answer: &'a Json, names: &[&str]) -> &'a [Json] {
    let found = names.iter().find_map(|name| answer.get(name)?.as_array());
    found
        .or_else(|| answer.as_array())
        .map_or(&[], Vec::as_slice)
}

/// The first of these fields that is a text with something in it.
pub(crate) fn text_of<'a>(row: &'a Json, names: &[&str]) -> Option<&'a str> {
    names
        .iter()
        .filter_map(|name| row.get(name)?.as_str())
        .map(str::trim)
        .find(|text| !text.is_empty())
}
