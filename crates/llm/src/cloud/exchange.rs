//! One exchange with whoever makes credentials, and reading the files they are made from.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hermes_http::{HttpClient, RedirectRule, RequestBuilder, Timeouts};
use hermes_secrets::{Origin, Secret, SecretName};
use http::{HeaderValue, Method, header};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value as Json;
use url::Url;

use super::{MintError, Minted};
use crate::oauth::OAuthError;

/// More than any answer or file here has.
const MOST_BYTES: usize = 256 * 1024;
/// For a whole exchange over the network.
const LONGEST: Duration = Duration::from_secs(12);
/// For one with a service of the machine itself, which answers at once or is not there.
const LONGEST_NEARBY: Duration = Duration::from_secs(3);

/// What every exchange needs.
pub(super) struct Exchange<'a> {
    pub(super) http: &'a HttpClient,
    pub(super) now: Timestamp,
}

/// Whether the other side is a service of the machine itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Far {
    Network,
    Machine,
}

impl Exchange<'_> {
    /// A request that stays with its server.
    pub(super) fn request(&self, method: Method, url: Url, far: Far) -> RequestBuilder {
        self.http
            .request(method, url)
            .redirects(RedirectRule::SameOrigin)
            .timeouts(Timeouts {
                total: match far {
                    Far::Network => LONGEST,
                    Far::Machine => LONGEST_NEARBY,
                },
                ..Timeouts::default()
            })
            .header(header::ACCEPT, HeaderValue::from_static("application/json"))
    }

    /// A token as OAuth servers answer with it. Some write numbers as text.
    pub(super) async fn token(
        &self,
        request: RequestBuilder,
        sent: Option<&Secret>,
    ) -> Result<Minted, MintError> {
        #[derive(Deserialize)]
        struct Tokens {
            access_token: String,
            expires_in: Option<Json>,
            expires_on: Option<Json>,
        }
        let tokens: Tokens = crate::oauth::answer(request, sent).await?;
        let left = tokens.expires_in.as_ref().and_then(number);
        let until = match left {
            Some(seconds) => Duration::try_from_secs_f64(seconds)
                .ok()
                .and_then(|left| self.now.checked_add(left).ok()),
            None => tokens
                .expires_on
                .as_ref()
                .and_then(number)
                .and_then(|seconds| Timestamp::from_second(seconds as i64).ok()),
        };
        Ok(Minted {
            secret: secret("access_token", tokens.access_token, None)?,
            until,
            project: None,
        })
    }

    /// The text of an answer that must be a success.
    pub(super) async fn text(&self, request: RequestBuilder) -> Result<String, MintError> {
        let response = request.send().await.map_err(OAuthError::from)?;
        let status = response.status();
        let body = response.text(MOST_BYTES).await.map_err(OAuthError::from)?;
        if status.is_success() {
            return Ok(body);
        }
        // AWS says what is wrong in an element or a field of this name; the rest may quote what was sent.
        let code = super::aws::element(&body, "Code")
            .map(str::to_owned)
            .or_else(|| {
                let said: Json = serde_json::from_str(&body).ok()?;
                let code = said.get("code").or_else(|| said.get("Code"))?;
                code.as_str().map(str::to_owned)
            });
        Err(OAuthError::Refused {
            status: status.as_u16(),
            code: code
                .map(|code| code.chars().take(80).collect())
                .unwrap_or_else(|| status.as_u16().to_string()),
            said: status.canonical_reason().unwrap_or_default().to_owned(),
        }
        .into())
    }
}

fn number(value: &Json) -> Option<f64> {
    value
        .as_f64()
        .or_else(|| value.as_str()?.trim().parse().ok())
}

/// A secret that only this server may see, or nobody.
pub(super) fn secret(
    name: &'static str,
    value: String,
    url: Option<&Url>,
) -> Result<Secret, MintError> {
    let bad = || OAuthError::BadAnswer(name);
    let origin = match url {
        Some(url) => Some(Origin::of(url).map_err(|_| bad())?),
        None => None,
    };
    let made = SecretName::new(name)
        .and_then(|label| Secret::new(label, value, origin.map(Into::into)))
        .map_err(|_| bad())?;
    Ok(made)
}

/// Reads a small file off the threads of the runtime.
pub(super) async fn read(file: &Path) -> Result<String, MintError> {
    let path = file.to_owned();
    let failed = |file: PathBuf, why: String| MintError::File { file, why };
    match tokio::task::spawn_blocking(move || small(&path)).await {
        Ok(Ok(text)) => Ok(text),
        Ok(Err(error)) => Err(failed(file.to_owned(), error.to_string())),
        Err(error) => Err(failed(file.to_owned(), error.to_string())),
    }
}

/// Reads a file that must be small.
pub(crate) fn small(file: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    let most = u64::try_from(MOST_BYTES).unwrap_or(u64::MAX);
    std::fs::File::open(file)?
        .take(most + 1)
        .read_to_string(&mut text)?;
    if text.len() > MOST_BYTES {
        return Err(std::io::Error::other(
            "it is too large for what it should be",
        ));
    }
    Ok(text)
}
