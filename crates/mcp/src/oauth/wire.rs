//! Requests to authorization servers.

use std::time::Duration;

use hermes_http::{HttpClient, RedirectRule, RequestBuilder, Timeouts};
use hermes_secrets::{Origin, Redactor, Scope};
use http::{HeaderValue, StatusCode, header};
use serde_json::{Map, Value as Json};
use url::{Host, Url};

use super::error::OAuthError;

/// More than any token answer or description has.
const MOST_BYTES: usize = 512 * 1024;
/// Shorter than other processes wait for the lock that is held meanwhile.
const LONGEST_EXCHANGE: Duration = Duration::from_secs(10);
/// How long an answer with tokens is waited for: the request may have used up what it was made with, so that giving
/// it up costs the login.
const LONGEST_GRANT: Duration = Duration::from_secs(60);
/// Most characters of an explanation that are shown.
const MOST_QUOTED: usize = 200;

/// Which addresses a server may send us to. It names them itself, so it must not be able to point us at
/// other machines of the user's network.
#[derive(Debug, Clone)]
pub(super) struct Reach {
    server: Url,
}

impl Reach {
    pub(super) fn of(server: &Url) -> Self {
        Self {
            server: server.clone(),
        }
    }

    /// An address that a secret may be sent to: encrypted, or where the server itself is, or on this
    /// machine when the server is.
    pub(super) fn allowed(&self, text: &str) -> Result<Url, OAuthError> {
        let refused = || OAuthError::Unsafe(text.chars().take(MOST_QUOTED).collect());
        let url = Url::parse(text).map_err(|_| refused())?;
        let plain = url.scheme() == "http"
            && (same_origin(&url, &self.server) || is_local(&url) && is_local(&self.server));
        let clean = url.username().is_empty() && url.password().is_none() && url.has_host();
        if clean && (url.scheme() == "https" || plain) {
            Ok(url)
        } else {
            Err(refused())
        }
    }
}

pub(super) fn same_origin(one: &Url, other: &Url) -> bool {
    match (Origin::of(one), Origin::of(other)) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}

/// Whether what is for one address is for a server too: it is the server, or what the server is part of.
pub(super) fn covers(resource: &str, server: &Url) -> bool {
    let folder = |url: &Url| format!("{}/", url.path().trim_end_matches('/'));
    Url::parse(resource).is_ok_and(|resource| {
        same_origin(&resource, server) && folder(server).starts_with(&folder(&resource))
    })
}

/// Whether an address is on this machine.
pub(super) fn is_local(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// A document of a server; `None` when there is none at this address.
pub(super) async fn document(
    http: &HttpClient,
    url: &Url,
) -> Result<Option<Map<String, Json>>, OAuthError> {
    let response = bounded(http.get(url.clone()), LONGEST_EXCHANGE)
        .send()
        .await?;
    let status = response.status();
    if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS {
        return Err(OAuthError::Refused {
            status: status.as_u16(),
            code: status.as_u16().to_string(),
            said: status.canonical_reason().unwrap_or_default().to_owned(),
        });
    }
    if !status.is_success() {
        return Ok(None);
    }
    let bytes = response.bytes(MOST_BYTES).await?;
    // A page for people at that address is no document.
    Ok(serde_json::from_slice(&bytes).ok())
}

/// A request with limits that stays with its server: its body is confidential.
pub(super) fn post(http: &HttpClient, url: &Url) -> RequestBuilder {
    bounded(http.post(url.clone()), LONGEST_EXCHANGE).redirects(RedirectRule::SameOrigin)
}

/// The same, for tokens.
pub(super) fn ask_for_tokens(http: &HttpClient, url: &Url) -> RequestBuilder {
    bounded(http.post(url.clone()), LONGEST_GRANT).redirects(RedirectRule::SameOrigin)
}

fn bounded(request: RequestBuilder, limit: Duration) -> RequestBuilder {
    request
        .timeouts(Timeouts {
            total: limit,
            first_byte: limit,
            ..Timeouts::default()
        })
        .header(header::ACCEPT, HeaderValue::from_static("application/json"))
}

/// Sends a request and reads its answer or refusal.
pub(super) async fn answer(request: RequestBuilder) -> Result<Json, OAuthError> {
    let response = request.send().await?;
    let status = response.status();
    let body = response.bytes(MOST_BYTES).await?;
    let json: Option<Json> = serde_json::from_slice(&body).ok();
    // Some servers refuse with a success.
    if let Some(code) = json.as_ref().and_then(|json| json.get("error")?.as_str()) {
        let said = json
            .as_ref()
            .and_then(|json| json.get("error_description")?.as_str());
        return Err(OAuthError::Refused {
            status: status.as_u16(),
            code: quoted(code),
            said: quoted(said.unwrap_or_default()),
        });
    }
    match json {
        Some(json) if status.is_success() => Ok(json),
        // The parser's words are left out, they may quote a token.
        None if status.is_success() => Err(OAuthError::BadAnswer("fields")),
        Some(_) | None => Err(OAuthError::Refused {
            status: status.as_u16(),
            code: status.as_u16().to_string(),
            said: status.canonical_reason().unwrap_or_default().to_owned(),
        }),
    }
}

/// What a server said, without anything that looks like a key, in few words.
pub(super) fn quoted(text: &str) -> String {
    let masked = Redactor::default().redact_in(Scope::Log, text).into_owned();
    masked
        .chars()
        .filter(|c| !c.is_control())
        .take(MOST_QUOTED)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_cannot_send_us_anywhere() {
        let remote = Reach::of(&Url::parse("https://mcp.example.test/mcp").unwrap());
        assert!(remote.allowed("https://login.example.test/token").is_ok());
        for bad in [
            "http://login.example.test/token",
            "http://127.0.0.1:8080/token",
            "file:///etc/passwd",
            "javascript:alert(1)",
            "https://user:pw@login.example.test/",
            "nonsense",
        ] {
            assert!(remote.allowed(bad).is_err(), "{bad}");
        }
        let here = Reach::of(&Url::parse("http://localhost:3000/mcp").unwrap());
        assert!(here.allowed("http://127.0.0.1:4000/token").is_ok());
        let nearby = Reach::of(&Url::parse("http://10.0.0.5/mcp").unwrap());
        assert!(nearby.allowed("http://10.0.0.5/token").is_ok());
        assert!(nearby.allowed("http://10.0.0.6/token").is_err());
    }
}
