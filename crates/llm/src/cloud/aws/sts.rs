//! Taking on roles.

use std::path::Path;

use hermes_http::{AuthScheme, BaseUrl};
use http::{HeaderName, HeaderValue, Method, header};
use url::form_urlencoded;

use super::{Pair, Role, element};
use crate::cloud::MintError;
use crate::cloud::exchange::{Exchange, Far, read, secret};
use crate::oauth::OAuthError;
use crate::wire::converse::sigv4::{self, Signer};

const VERSION: &str = "2011-06-15";
const FORM: &str = "application/x-www-form-urlencoded";

/// The key pair of a role, taken on with another one.
pub(super) async fn assume(
    exchange: &Exchange<'_>,
    role: &Role,
    with: &Pair,
) -> Result<Pair, MintError> {
    let seconds = role.seconds.map(|seconds| seconds.to_string());
    let mut fields = vec![
        ("Action", "AssumeRole"),
        ("Version", VERSION),
        ("RoleArn", role.arn.as_str()),
        ("RoleSessionName", role.session.as_str()),
    ];
    fields.extend(role.external_id.as_deref().map(|id| ("ExternalId", id)));
    fields.extend(
        seconds
            .as_deref()
            .map(|seconds| ("DurationSeconds", seconds)),
    );
    let body = form_urlencoded::Serializer::new(String::new())
        .extend_pairs(fields)
        .finish();
    let url = role.sts.join("");
    let host = match (url.host_str().unwrap_or_default(), url.port()) {
        (host, Some(port)) => format!("{host}:{port}"),
        (host, None) => host.to_owned(),
    };
    let signed = sigv4::sign(
        &Signer {
            access_key: &with.id,
            secret_key: &with.secret,
            session_token: with.session.as_deref(),
            region: &role.region,
            service: "sts",
        },
        &sigv4::Request {
            method: "POST",
            path: url.path(),
            query: &[],
            headers: &[("host", &host), ("content-type", FORM)],
            body: body.as_bytes(),
        },
        exchange.now,
    );
    let mut request = exchange
        .request(Method::POST, url, Far::Network)
        .header(header::CONTENT_TYPE, HeaderValue::from_static(FORM))
        .body(body);
    for (name, value) in signed {
        request = request.header(HeaderName::from_static(name), value);
    }
    answered(&exchange.text(request).await?)
}

/// The key pair of a role, taken on with a token of the platform, which no key signs for.
pub(super) async fn with_token(
    exchange: &Exchange<'_>,
    sts: &BaseUrl,
    arn: &str,
    session: &str,
    token: &Path,
) -> Result<Pair, MintError> {
    let url = sts.join("");
    let token = read(token).await?.trim().to_owned();
    let token = secret("web_identity_token", token, Some(&url))?;
    let request = exchange
        .request(Method::POST, url, Far::Network)
        .form([
            ("Action", "AssumeRoleWithWebIdentity"),
            ("Version", VERSION),
            ("RoleArn", arn),
            ("RoleSessionName", session),
        ])
        .auth(&token, AuthScheme::FormField("WebIdentityToken".to_owned()));
    answered(&exchange.text(request).await?)
}

fn answered(text: &str) -> Result<Pair, MintError> {
    let part = |name: &'static str| {
        element(text, name)
            .filter(|value| !value.is_empty())
            .map(str::to_owned)
            .ok_or(OAuthError::BadAnswer(name))
    };
    Ok(Pair {
        id: part("AccessKeyId")?,
        secret: part("SecretAccessKey")?,
        session: Some(part("SessionToken")?),
        until: element(text, "Expiration").and_then(|time| time.parse().ok()),
    })
}
