//! Tokens: asking for them, reading them, knowing when they end.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hermes_http::{AuthScheme, HttpClient, HttpError, RedirectRule, RequestBuilder, Timeouts};
use hermes_secrets::{Origin, Redactor, Scope, Secret, SecretName};
use http::StatusCode;
use jiff::Timestamp;
use serde::Deserialize;
use url::Url;

use super::flow::{Flow, RefreshPlace};

/// More than any token answer has.
const MOST_BYTES: usize = 64 * 1024;
/// Shorter than others wait for the lock that is held meanwhile.
const LONGEST_EXCHANGE: Duration = Duration::from_secs(12);
/// Most characters of a provider's explanation that are shown.
const MOST_QUOTED: usize = 200;

/// Why tokens were not given.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OAuthError {
    /// The exchange failed.
    #[error(transparent)]
    Http(#[from] HttpError),
    /// The provider said no.
    #[error("the provider answered `{code}`{}", explained(said))]
    Refused {
        /// The status.
        status: u16,
        /// The provider's code, such as `invalid_grant`.
        code: String,
        /// What it said besides.
        said: String,
    },
    /// The answer cannot be used.
    #[error("the provider's answer has no usable `{0}`")]
    BadAnswer(&'static str),
    /// The user said no.
    #[error("the login was denied")]
    Denied,
    /// Nobody confirmed the code in time.
    #[error("the code expired before it was confirmed")]
    Expired,
    /// Somebody stopped it.
    #[error("cancelled")]
    Cancelled,
}

impl OAuthError {
    /// Whether the same may succeed a little later.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Http(error) => error.is_transient(),
            Self::Refused { status, .. } => *status == 429 || *status >= 500,
            Self::BadAnswer(_) | Self::Denied | Self::Expired | Self::Cancelled => false,
        }
    }
}

fn explained(said: &str) -> String {
    if said.is_empty() {
        String::new()
    } else {
        format!(" ({said})")
    }
}

/// Tokens that were given. Nobody may be shown the access token until it is bound to an origin; the
/// refresh token is bound to the server that gave it.
#[derive(Debug, Clone)]
pub struct Granted {
    /// The token for calls.
    pub access: Secret,
    /// The token for the next tokens; most are good for one use.
    pub refresh: Option<Secret>,
    /// When it was given and when it ends.
    pub life: Life,
    /// What it is good for, when the provider says so.
    pub scope: Option<String>,
}

/// When a token was given and when it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Life {
    /// When it was given, if that is known.
    pub from: Option<Timestamp>,
    /// When it ends, if that is known.
    pub until: Option<Timestamp>,
}

/// Whether a token should be renewed before it is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Due {
    /// It is good.
    No,
    /// It ends soon, but can still be used.
    Soon,
    /// It has ended, or will while it is used.
    Now,
}

impl Life {
    /// When the token itself says; only some do.
    pub(crate) fn claimed(token: &str) -> Self {
        #[derive(Deserialize)]
        struct Claims {
            iat: Option<f64>,
            exp: Option<f64>,
        }
        let claims = token
            .split('.')
            .nth(1)
            .and_then(|part| URL_SAFE_NO_PAD.decode(part.trim_end_matches('=')).ok())
            .and_then(|bytes| serde_json::from_slice::<Claims>(&bytes).ok());
        let time = |seconds: Option<f64>| Timestamp::from_second(seconds? as i64).ok();
        Self {
            from: claims.as_ref().and_then(|claims| time(claims.iat)),
            until: claims.as_ref().and_then(|claims| time(claims.exp)),
        }
    }

    /// Whether it is time for a new one. A token that never lives as long as we would like is renewed
    /// after half its life.
    pub(crate) fn due(&self, flow: &Flow, now: Timestamp) -> Due {
        let Some(until) = self.until else {
            return Due::No;
        };
        let left = between(now, until);
        let wanted = match self.from {
            Some(from) => flow.least_life.min(between(from, until) / 2),
            None => flow.skew,
        };
        if left <= flow.skew {
            Due::Now
        } else if left <= wanted {
            Due::Soon
        } else {
            Due::No
        }
    }
}

fn between(from: Timestamp, until: Timestamp) -> Duration {
    Duration::try_from(until.duration_since(from)).unwrap_or(Duration::ZERO)
}

/// Turns a refresh token into new tokens.
pub(crate) async fn refresh(
    http: &HttpClient,
    flow: &Flow,
    refresh: &Secret,
    now: Timestamp,
) -> Result<Granted, OAuthError> {
    let scheme = match &flow.refresh_place {
        RefreshPlace::Form => AuthScheme::FormField("refresh_token".to_owned()),
        RefreshPlace::Header(name) => AuthScheme::Header(name.clone()),
    };
    let request = request(http, flow, &flow.token_url)
        .form([
            ("grant_type", "refresh_token"),
            ("client_id", flow.client_id.as_str()),
        ])
        .auth(refresh, scheme);
    let tokens: Tokens = answer(request, Some(refresh)).await?;
    let mut granted = tokens.granted(flow, now)?;
    // Some providers let a refresh token live on.
    granted.refresh.get_or_insert_with(|| refresh.clone());
    Ok(granted)
}

/// A request of the flow; its body is confidential and stays with its server.
pub(super) fn request(http: &HttpClient, flow: &Flow, url: &Url) -> RequestBuilder {
    let mut request = http
        .post(url.clone())
        .redirects(RedirectRule::SameOrigin)
        .timeouts(Timeouts {
            total: LONGEST_EXCHANGE,
            ..Timeouts::default()
        })
        .header(
            http::header::ACCEPT,
            http::HeaderValue::from_static("application/json"),
        );
    for (name, value) in &flow.headers {
        request = request.header(name.clone(), value.clone());
    }
    request
}

/// Sends a request and reads its answer or refusal.
pub(crate) async fn answer<T: for<'de> Deserialize<'de>>(
    request: RequestBuilder,
    sent: Option<&Secret>,
) -> Result<T, OAuthError> {
    let response = request.send().await?;
    let status = response.status();
    let body = response.bytes(MOST_BYTES).await?;
    // Some servers refuse with a success.
    let refusal = serde_json::from_slice::<Refusal>(&body).ok();
    match refusal {
        Some(refusal) => Err(refusal.error(status, sent)),
        None if status.is_success() => {
            // The parser's words are left out, they may quote a token.
            serde_json::from_slice(&body).map_err(|_| OAuthError::BadAnswer("fields"))
        }
        None => Err(OAuthError::Refused {
            status: status.as_u16(),
            code: status.as_u16().to_string(),
            said: status.canonical_reason().unwrap_or_default().to_owned(),
        }),
    }
}

#[derive(Deserialize)]
struct Refusal {
    error: String,
    #[serde(default)]
    error_description: String,
}

impl Refusal {
    fn error(self, status: StatusCode, sent: Option<&Secret>) -> OAuthError {
        // A server may quote what it was sent.
        let redactor = Redactor::new(sent.cloned());
        let clean = |text: &str| -> String {
            let text = redactor.redact_in(Scope::Log, text);
            text.chars().take(MOST_QUOTED).collect()
        };
        OAuthError::Refused {
            status: status.as_u16(),
            code: clean(&self.error),
            said: clean(&self.error_description),
        }
    }
}

#[derive(Deserialize)]
pub(super) struct Tokens {
    access_token: String,
    refresh_token: Option<String>,
    expires_in: Option<f64>,
    scope: Option<String>,
}

impl Tokens {
    pub(super) fn granted(self, flow: &Flow, now: Timestamp) -> Result<Granted, OAuthError> {
        let claimed = Life::claimed(&self.access_token);
        let told = self
            .expires_in
            .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
            .and_then(|left| now.checked_add(left).ok());
        let life = Life {
            from: Some(now),
            // The token itself knows best, except for a clock that differs from ours.
            until: match (claimed.until, told) {
                (Some(claimed), Some(told)) => Some(claimed.min(told)),
                (claimed, told) => claimed.or(told),
            },
        };
        let refresh = match self.refresh_token.filter(|token| !token.is_empty()) {
            Some(token) => Some(for_server(flow, "refresh_token", token)?),
            None => None,
        };
        Ok(Granted {
            access: secret("access_token", self.access_token, None)?,
            refresh,
            life,
            scope: self.scope,
        })
    }
}

/// A secret for the server of a flow.
pub(crate) fn for_server(
    flow: &Flow,
    name: &'static str,
    value: String,
) -> Result<Secret, OAuthError> {
    let origin = Origin::of(&flow.token_url).map_err(|_| OAuthError::BadAnswer(name))?;
    secret(name, value, Some(origin))
}

fn secret(name: &'static str, value: String, origin: Option<Origin>) -> Result<Secret, OAuthError> {
    SecretName::new(name)
        .and_then(|label| Secret::new(label, value, origin.map(Into::into)))
        .map_err(|_| OAuthError::BadAnswer(name))
}
