//! Which redirects are followed, and what goes along.

use hermes_secrets::Origin;
use http::{HeaderMap, HeaderName, Method, StatusCode, header};
use url::Url;

use crate::Refusal;

/// How many redirects a request follows.
pub(crate) const MAX_HOPS: usize = 10;

/// What a request does about redirects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RedirectRule {
    /// Follows up to ten; credentials, cookies and other private headers stay behind when the origin changes.
    #[default]
    Follow,
    /// Follows within the origin and refuses to leave it: for requests whose body is confidential.
    SameOrigin,
    /// Returns the redirect itself.
    Stop,
}

/// The next hop.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Next {
    pub(crate) url: Url,
    pub(crate) method: Method,
    pub(crate) keeps_body: bool,
    pub(crate) leaves_origin: bool,
}

/// The only headers that go along to another origin: anything else may be private.
const TRAVELLING: &[HeaderName] = &[
    header::ACCEPT,
    header::ACCEPT_ENCODING,
    header::ACCEPT_LANGUAGE,
    header::CACHE_CONTROL,
    header::CONTENT_TYPE,
    header::RANGE,
    header::USER_AGENT,
];

/// Headers that describe a body.
const ABOUT_BODY: &[HeaderName] = &[
    header::CONTENT_TYPE,
    header::CONTENT_LENGTH,
    header::CONTENT_ENCODING,
    header::TRANSFER_ENCODING,
];

/// Decides what an answer means for the request: `None` when it is to be returned as it is.
pub(crate) fn next(
    rule: RedirectRule,
    method: &Method,
    from: &Url,
    status: StatusCode,
    headers: &HeaderMap,
) -> Result<Option<Next>, (Url, Refusal)> {
    let keeps_body = match status {
        StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND | StatusCode::SEE_OTHER => false,
        StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT => true,
        _ => return Ok(None),
    };
    let location = headers
        .get(header::LOCATION)
        .and_then(|location| std::str::from_utf8(location.as_bytes()).ok());
    let target = location.and_then(|location| from.join(location).ok());
    let Some(mut url) = target.filter(|_| rule != RedirectRule::Stop) else {
        return Ok(None);
    };
    url.set_fragment(None);
    if !matches!(url.scheme(), "http" | "https") {
        let scheme = url.scheme().to_owned();
        return Err((url, Refusal::Scheme { scheme }));
    }
    if from.scheme() == "https" && url.scheme() == "http" {
        return Err((url, Refusal::Downgrade));
    }
    let leaves_origin = match (Origin::of(from), Origin::of(&url)) {
        (Ok(from), Ok(to)) => from != to,
        (Err(_), _) | (_, Err(_)) => true,
    };
    if leaves_origin && rule == RedirectRule::SameOrigin {
        return Err((url, Refusal::LeavesOrigin));
    }
    // A server must not make us log in somewhere with a user it made up.
    if url.set_username("").is_err() || url.set_password(None).is_err() {
        return Err((url, Refusal::CredentialsInUrl));
    }
    let method = if keeps_body || *method == Method::HEAD {
        method.clone()
    } else {
        Method::GET
    };
    Ok(Some(Next {
        url,
        method,
        keeps_body,
        leaves_origin,
    }))
}

/// Drops the headers that must not go along.
pub(crate) fn strip(headers: &mut HeaderMap, next: &Next) {
    let names: Vec<HeaderName> = headers.keys().cloned().collect();
    for name in names {
        let goes = (!next.leaves_origin || TRAVELLING.contains(&name))
            && (next.keeps_body || !ABOUT_BODY.contains(&name));
        if !goes {
            headers.remove(&name);
        }
    }
}
