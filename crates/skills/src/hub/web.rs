//! Fetching, within our rules about addresses, sizes and time.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hermes_core::Clock;
use hermes_http::{
    AuthScheme, HttpClient, HttpError, RedirectRule, Refusal, RequestBuilder, Response, Timeouts,
};
use hermes_policy::Blocklist;
use hermes_secrets::{Origin, Secret};
use http::{HeaderMap, StatusCode, header};
use serde::de::DeserializeOwned;
use url::Url;

use super::error::SourceError;

/// Most redirects that are followed.
const MOST_REDIRECTS: usize = 5;
/// Most attempts at one address.
const ATTEMPTS: usize = 2;
/// Longest that a place may make us wait before it is asked again.
const LONGEST_WAIT: Duration = Duration::from_secs(15);
/// The wait when it broke off without saying how long.
const SHORT_WAIT: Duration = Duration::from_millis(300);
const SILENCE: Duration = Duration::from_secs(20);
const WHOLE: Duration = Duration::from_secs(60);

/// How addresses are reached.
pub struct Reach {
    /// For addresses that others choose.
    pub public: HttpClient,
    /// For addresses the user wrote into the settings.
    pub configured: HttpClient,
    /// Websites the user does not want visited.
    pub blocklist: Blocklist,
}

/// Fetches. Clones share connections.
#[derive(Clone)]
pub(super) struct Web {
    reach: Arc<Reach>,
    /// Origins that stand in the settings.
    own: Vec<Origin>,
    clock: Arc<dyn Clock>,
}

/// One thing to fetch.
pub(super) struct Ask<'a> {
    pub(super) url: Url,
    pub(super) accept: &'static str,
    /// Goes only to the origin it is bound to.
    pub(super) key: Option<&'a Secret>,
    /// Most bytes of the answer.
    pub(super) limit: usize,
}

/// What came back.
pub(super) struct Got {
    pub(super) bytes: Bytes,
    /// Whether it came from another address than the one that was asked.
    pub(super) redirected: bool,
}

impl<'a> Ask<'a> {
    pub(super) fn json(url: Url, limit: usize) -> Self {
        Self {
            url,
            accept: "application/json",
            key: None,
            limit,
        }
    }

    pub(super) fn text(url: Url, limit: usize) -> Self {
        Self {
            url,
            accept: "text/markdown, text/plain;q=0.9, */*;q=0.5",
            key: None,
            limit,
        }
    }

    pub(super) fn with_key(mut self, key: Option<&'a Secret>) -> Self {
        self.key = key;
        self
    }
}

impl Web {
    pub(super) fn new(reach: Reach, clock: Arc<dyn Clock>) -> Self {
        Self {
            reach: Arc::new(reach),
            own: Vec::new(),
            clock,
        }
    }

    /// Treats an origin as one the user chose.
    pub(super) fn trust(&mut self, origin: Origin) {
        self.own.push(origin);
    }

    /// Fetches an address.
    pub(super) async fn get(&self, ask: &Ask<'_>) -> Result<Got, SourceError> {
        for _ in 1..ATTEMPTS {
            match self.once(ask).await {
                Err(error) => match self.wait(&error) {
                    Some(wait) => tokio::time::sleep(wait).await,
                    None => return Err(error),
                },
                got => return got,
            }
        }
        self.once(ask).await
    }

    /// Fetches JSON.
    pub(super) async fn json<T: DeserializeOwned>(
        &self,
        ask: &Ask<'_>,
        expected: &'static str,
    ) -> Result<T, SourceError> {
        let got = self.get(ask).await?;
        serde_json::from_slice(&got.bytes).map_err(|source| SourceError::Unexpected {
            expected,
            source: Some(source),
        })
    }

    /// How long to wait before a failure is worth another attempt.
    fn wait(&self, error: &SourceError) -> Option<Duration> {
        match error {
            SourceError::RateLimited { wait: Some(wait) } if *wait <= LONGEST_WAIT => Some(*wait),
            SourceError::Http(HttpError::Connect { .. } | HttpError::Interrupted { .. }) => {
                Some(SHORT_WAIT)
            }
            SourceError::Http(HttpError::Status(status)) if status.status.is_server_error() => {
                Some(SHORT_WAIT)
            }
            _ => None,
        }
    }

    async fn once(&self, ask: &Ask<'_>) -> Result<Got, SourceError> {
        let mut url = ask.url.clone();
        for hop in 0..=MOST_REDIRECTS {
            self.check(&url)?;
            let request = self
                .client(&url)
                .get(url.clone())
                .header(header::ACCEPT, ask.accept);
            let response = self.prepared(request, &url, ask.key).send().await?;
            if let Some(next) = next(&url, &response)? {
                url = next;
                continue;
            }
            let response = self.judged(response, &ask.url).await?;
            let bytes = response
                .bytes(ask.limit)
                .await
                .map_err(|error| match error {
                    HttpError::TooLarge { limit, .. } => SourceError::TooLarge {
                        what: shown(&ask.url),
                        limit,
                    },
                    other => SourceError::Http(other),
                })?;
            return Ok(Got {
                bytes,
                redirected: hop > 0,
            });
        }
        Err(SourceError::TooManyRedirects {
            most: MOST_REDIRECTS,
        })
    }

    /// Sends something to an address of the user's own. Never repeated: it may have had an effect.
    pub(super) async fn post(
        &self,
        url: Url,
        key: &Secret,
        content_type: &str,
        body: Vec<u8>,
    ) -> Result<Bytes, SourceError> {
        self.check(&url)?;
        let request = self
            .client(&url)
            .post(url.clone())
            .header(header::ACCEPT, "application/json")
            .header(header::CONTENT_TYPE, content_type)
            .body(body);
        let response = self.prepared(request, &url, Some(key)).send().await?;
        let response = self.judged(response, &url).await?;
        Ok(response.bytes(1024 * 1024).await?)
    }

    fn prepared(&self, request: RequestBuilder, url: &Url, key: Option<&Secret>) -> RequestBuilder {
        let request = request.redirects(RedirectRule::Stop).timeouts(Timeouts {
            first_byte: SILENCE,
            idle: SILENCE,
            total: WHOLE,
            ..Timeouts::default()
        });
        // After a redirect the key stays behind.
        match key.filter(|key| may_see(key, url)) {
            Some(key) => request.auth(key, AuthScheme::Bearer),
            None => request,
        }
    }

    fn client(&self, url: &Url) -> &HttpClient {
        let is_own = Origin::of(url).is_ok_and(|origin| self.own.contains(&origin));
        if is_own {
            &self.reach.configured
        } else {
            &self.reach.public
        }
    }

    fn check(&self, url: &Url) -> Result<(), SourceError> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(SourceError::NotAnAddress { url: shown(url) });
        }
        match self.reach.blocklist.check(url.as_str()) {
            Some(_) => Err(SourceError::Blocked {
                host: url.host_str().unwrap_or_default().to_owned(),
            }),
            None => Ok(()),
        }
    }

    /// Turns answers that are none into what they mean.
    async fn judged(&self, response: Response, asked: &Url) -> Result<Response, SourceError> {
        let status = response.status();
        if status == StatusCode::NOT_FOUND || status == StatusCode::GONE {
            return Err(SourceError::NotFound { what: shown(asked) });
        }
        let limited = status == StatusCode::TOO_MANY_REQUESTS
            || (status == StatusCode::FORBIDDEN && is_used_up(response.headers()));
        if limited {
            let now = self.clock.now();
            let wait = hermes_http::retry_after(response.headers(), now)
                .or_else(|| until_reset(response.headers(), now.as_second()));
            return Err(SourceError::RateLimited { wait });
        }
        Ok(response.require_success().await?)
    }
}

fn may_see(key: &Secret, url: &Url) -> bool {
    Origin::of(url).is_ok_and(|origin| key.expose_for(&origin).is_ok())
}

/// Where a redirect leads; nothing when it is none.
fn next(from: &Url, response: &Response) -> Result<Option<Url>, SourceError> {
    if !response.status().is_redirection() {
        return Ok(None);
    }
    let location = response
        .headers()
        .get(header::LOCATION)
        .and_then(|location| location.to_str().ok());
    let Some(next) = location.and_then(|location| from.join(location).ok()) else {
        return Ok(None);
    };
    if from.scheme() == "https" && next.scheme() == "http" {
        return Err(SourceError::Http(HttpError::Refused {
            url: hermes_http::DisplayUrl::new(&next, hermes_secrets::Redactor::default()),
            refusal: Refusal::Downgrade,
        }));
    }
    Ok(Some(next))
}

/// GitHub says no with 403 when the hour's requests are used up.
fn is_used_up(headers: &HeaderMap) -> bool {
    let left = headers.get("x-ratelimit-remaining");
    left.is_some_and(|left| left == "0") || headers.contains_key(header::RETRY_AFTER)
}

fn until_reset(headers: &HeaderMap, now: i64) -> Option<Duration> {
    let at: i64 = headers
        .get("x-ratelimit-reset")?
        .to_str()
        .ok()?
        .parse()
        .ok()?;
    u64::try_from(at.checked_sub(now)?)
        .ok()
        .map(Duration::from_secs)
}

/// An address without what may be private in it.
pub(super) fn shown(url: &Url) -> String {
    hermes_http::DisplayUrl::new(url, hermes_secrets::Redactor::default()).to_string()
}
