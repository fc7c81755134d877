//! The answer, read with a limit.

use bytes::{Bytes, BytesMut};
use encoding_rs::{Encoding, UTF_8};
use futures_util::stream::{self, Stream};
use hermes_secrets::Scope;
use http::{HeaderMap, StatusCode, header};
use http_body_util::BodyExt;
use serde::de::DeserializeOwned;
use url::Url;

use crate::failure::Target;
use crate::wait::Wait;
use crate::{DisplayUrl, HttpClient, HttpError, Stage, StatusError, failure};

/// How much of a failure's body is kept.
const EXCERPT: usize = 8 * 1024;
/// How much more of it is read, so that a key that begins in the excerpt is seen to its end and masked.
const MARGIN: usize = 4 * 1024;

/// The head of an answer, whose body is still to be read.
pub struct Response {
    client: HttpClient,
    url: Url,
    shown: DisplayUrl,
    wait: Wait,
    inner: reqwest::Response,
}

impl Response {
    pub(crate) fn new(
        client: HttpClient,
        url: Url,
        shown: DisplayUrl,
        wait: Wait,
        inner: reqwest::Response,
    ) -> Self {
        Self {
            client,
            url,
            shown,
            wait,
            inner,
        }
    }

    /// The status.
    pub fn status(&self) -> StatusCode {
        self.inner.status()
    }

    /// The headers.
    pub fn headers(&self) -> &HeaderMap {
        self.inner.headers()
    }

    /// What the connection has become, once the server agreed to that.
    pub(crate) async fn upgraded(self) -> Result<(reqwest::Upgraded, DisplayUrl, Wait), HttpError> {
        let Self {
            shown, wait, inner, ..
        } = self;
        let upgraded = wait.step(Stage::FirstByte, &shown, inner.upgrade()).await?;
        let upgraded = upgraded.map_err(|error| HttpError::Interrupted {
            url: shown.clone(),
            source: error.without_url().into(),
        })?;
        Ok((upgraded, shown, wait))
    }

    /// Where the answer came from after all redirects, without the credentials we attached.
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// Turns any status but 2xx into an error with the beginning of the body in it.
    pub async fn require_success(self) -> Result<Self, HttpError> {
        if self.status().is_success() {
            return Ok(self);
        }
        let (status, headers, url) = (self.status(), self.headers().clone(), self.shown.clone());
        let redactor = self.client.snapshot();
        let mut body = self.into_body(usize::MAX);
        let mut read = BytesMut::new();
        while read.len() < EXCERPT + MARGIN {
            match body.chunk().await {
                Ok(Some(chunk)) => read.extend_from_slice(&chunk),
                Err(HttpError::Cancelled) => return Err(HttpError::Cancelled),
                // The status says more than a body that broke off.
                Ok(None) | Err(_) => break,
            }
        }
        // Masked before it is cut, so that no key is cut in half and slips through.
        let text = redactor
            .redact_in(Scope::Log, &String::from_utf8_lossy(&read))
            .into_owned();
        let excerpt = text.chars().take(EXCERPT).collect();
        Err(HttpError::Status(Box::new(StatusError {
            url,
            status,
            headers,
            excerpt,
        })))
    }

    /// Reads the whole body, up to `max` bytes.
    pub async fn bytes(self, max: usize) -> Result<Bytes, HttpError> {
        let mut body = self.stream(max)?;
        let mut all = BytesMut::new();
        while let Some(chunk) = body.chunk().await? {
            all.extend_from_slice(&chunk);
        }
        Ok(all.freeze())
    }

    /// Reads the body as text in the encoding the server names, else UTF-8; wrong bytes are replaced.
    pub async fn text(self, max: usize) -> Result<String, HttpError> {
        let encoding = charset(self.headers()).unwrap_or(UTF_8);
        let bytes = self.bytes(max).await?;
        let (text, _, _) = encoding.decode(&bytes);
        Ok(text.into_owned())
    }

    /// Reads the body as JSON.
    pub async fn json<T: DeserializeOwned>(self, max: usize) -> Result<T, HttpError> {
        let url = self.shown.clone();
        let bytes = self.bytes(max).await?;
        serde_json::from_slice(&bytes).map_err(|source| HttpError::Decode { url, source })
    }

    /// Reads the body piece by piece, up to `max` bytes in all.
    pub fn stream(self, max: usize) -> Result<Body, HttpError> {
        let announced = self.inner.content_length().unwrap_or(0);
        if announced > u64::try_from(max).unwrap_or(u64::MAX) {
            return Err(HttpError::TooLarge {
                url: self.shown,
                limit: max,
            });
        }
        Ok(self.into_body(max))
    }

    fn into_body(self, limit: usize) -> Body {
        let Self {
            client: _,
            url,
            shown,
            wait,
            inner,
        } = self;
        let host = url.host_str().unwrap_or_default().to_owned();
        Body {
            inner: Some(http::Response::from(inner).into_body()),
            wait,
            shown,
            host,
            limit,
            seen: 0,
            trailers: None,
        }
    }
}

/// A body on its way. Dropping it closes the connection if the body is not at its end.
pub struct Body {
    /// `None` once the body has ended or failed.
    inner: Option<reqwest::Body>,
    wait: Wait,
    shown: DisplayUrl,
    host: String,
    limit: usize,
    seen: usize,
    trailers: Option<HeaderMap>,
}

impl Body {
    /// Waits for the next piece; `None` at the end and after an error. May be dropped and called again.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, HttpError> {
        let Some(inner) = &mut self.inner else {
            return Ok(None);
        };
        let read = loop {
            let frame = self
                .wait
                .step(Stage::Idle, &self.shown, inner.frame())
                .await
                .map(Option::transpose);
            break match frame {
                Err(error) => Err(error),
                Ok(Err(error)) => Err(failure::classify(
                    error,
                    Target {
                        host: &self.host,
                        url: self.shown.clone(),
                        connect: self.wait.timeouts().connect,
                        // It is connected.
                        proxy: None,
                    },
                )),
                Ok(Ok(None)) => Ok(None),
                Ok(Ok(Some(frame))) => match frame.into_data() {
                    Ok(data) => Ok(Some(data)),
                    Err(frame) => {
                        self.trailers = frame.into_trailers().ok();
                        continue;
                    }
                },
            };
        };
        let result = match read {
            Ok(Some(chunk)) => {
                self.seen = self.seen.saturating_add(chunk.len());
                if self.seen <= self.limit {
                    return Ok(Some(chunk));
                }
                Err(HttpError::TooLarge {
                    url: self.shown.clone(),
                    limit: self.limit,
                })
            }
            Ok(None) => Ok(None),
            Err(error) => Err(error),
        };
        self.inner = None;
        result
    }

    /// The headers that came after the body, once it has been read to its end.
    pub fn trailers(&self) -> Option<&HeaderMap> {
        self.trailers.as_ref()
    }

    /// The same as a stream that ends after the first error.
    pub fn into_stream(self) -> impl Stream<Item = Result<Bytes, HttpError>> + Send {
        stream::unfold(self, |mut body| async move {
            body.chunk().await.transpose().map(|item| (item, body))
        })
    }
}

fn charset(headers: &HeaderMap) -> Option<&'static Encoding> {
    let content_type = headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
    let parameter = content_type.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("charset").then_some(value)
    })?;
    Encoding::for_label(parameter.trim().trim_matches('"').as_bytes())
}
