//! Key pairs that a service hands out without a key of ours: for a sign-in, a container or a machine.

use std::path::Path;

use hermes_http::{AuthScheme, BaseUrl};
use http::{HeaderName, HeaderValue, Method, header};
use jiff::Timestamp;
use serde::Deserialize;
use url::Url;

use super::{ContainerToken, Pair};
use crate::cloud::MintError;
use crate::cloud::exchange::{Exchange, Far, read, secret};
use crate::cloud::program::Program;
use crate::oauth::OAuthError;

/// Seconds that a token of the machine's service may be used.
const MACHINE_TOKEN_LIFE: &str = "300";

/// The key pair of a role for somebody who signed in.
pub(super) async fn signed_in(
    exchange: &Exchange<'_>,
    portal: &BaseUrl,
    kept: &Path,
    account: &str,
    role: &str,
) -> Result<Pair, MintError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Kept {
        access_token: String,
        expires_at: String,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Given {
        role_credentials: RoleCredentials,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct RoleCredentials {
        access_key_id: String,
        secret_access_key: String,
        session_token: String,
        expiration: i64,
    }
    let wrong = |why: &str| MintError::File {
        file: kept.to_owned(),
        why: format!("{why}; run `aws sso login`"),
    };
    let text = match read(kept).await {
        Ok(text) => text,
        Err(MintError::File { .. }) => return Err(wrong("nobody has signed in")),
        Err(error) => return Err(error),
    };
    let found: Kept = serde_json::from_str(&text).map_err(|_| wrong("it holds no sign-in"))?;
    // Some versions of the program write `UTC` where others write `Z`.
    let ends: Option<Timestamp> = found.expires_at.replace("UTC", "Z").parse().ok();
    if ends.is_none_or(|ends| ends <= exchange.now) {
        return Err(wrong("the sign-in has ended"));
    }
    let url = portal.join("federation/credentials");
    let token = secret("sso_token", found.access_token, Some(&url))?;
    let request = exchange
        .request(Method::GET, url, Far::Network)
        .query([("role_name", role), ("account_id", account)])
        .auth(
            &token,
            AuthScheme::Header(HeaderName::from_static("x-amz-sso_bearer_token")),
        );
    let given: Given = serde_json::from_str(&exchange.text(request).await?)
        .map_err(|_| OAuthError::BadAnswer("roleCredentials"))?;
    let given = given.role_credentials;
    Ok(Pair {
        id: given.access_key_id,
        secret: given.secret_access_key,
        session: Some(given.session_token),
        until: Timestamp::from_millisecond(given.expiration).ok(),
    })
}

/// The key pair that a program prints.
pub(super) async fn printed(exchange: &Exchange<'_>, program: &Program) -> Result<Pair, MintError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "PascalCase")]
    struct Printed {
        version: u32,
        access_key_id: String,
        secret_access_key: String,
        session_token: Option<String>,
        expiration: Option<String>,
    }
    let wrong = |why: &str| MintError::File {
        file: program.file().to_owned(),
        why: why.to_owned(),
    };
    // The parser's words are left out, they may quote a key.
    let printed: Printed = serde_json::from_str(&program.output().await?)
        .map_err(|_| wrong("it prints no key pair of AWS as JSON"))?;
    if printed.version != 1 {
        return Err(wrong("it prints a version of the format other than 1"));
    }
    let until = match &printed.expiration {
        Some(time) => Some(
            time.parse()
                .map_err(|_| wrong("its `Expiration` is no time"))?,
        ),
        None => None,
    };
    if until.is_some_and(|until: Timestamp| until <= exchange.now) {
        return Err(wrong("the key pair it prints has ended"));
    }
    Ok(Pair {
        id: printed.access_key_id,
        secret: printed.secret_access_key,
        session: printed.session_token,
        until,
    })
}

/// The key pair of the container's role.
pub(super) async fn container(
    exchange: &Exchange<'_>,
    url: &Url,
    token: &ContainerToken,
) -> Result<Pair, MintError> {
    let proof = match token {
        ContainerToken::None => None,
        ContainerToken::Value(value) => Some(value.clone()),
        ContainerToken::File(file) => {
            let value = read(file).await?.trim().to_owned();
            Some(secret("container_token", value, Some(url))?)
        }
    };
    let mut request = exchange.request(Method::GET, url.clone(), Far::Machine);
    if let Some(proof) = &proof {
        request = request.auth(proof, AuthScheme::Header(header::AUTHORIZATION));
    }
    given(&exchange.text(request).await?)
}

/// The key pair of the machine's role: a token first, which only something on the machine can get.
pub(super) async fn instance(
    exchange: &Exchange<'_>,
    service: &BaseUrl,
) -> Result<Pair, MintError> {
    let url = service.join("latest/api/token");
    let request = exchange
        .request(Method::PUT, url.clone(), Far::Machine)
        .header(
            HeaderName::from_static("x-aws-ec2-metadata-token-ttl-seconds"),
            HeaderValue::from_static(MACHINE_TOKEN_LIFE),
        );
    let token = exchange.text(request).await?.trim().to_owned();
    let token = secret("metadata_token", token, Some(&url))?;
    let ask = |path: String| {
        let request = exchange.request(Method::GET, service.join(&path), Far::Machine);
        let name = HeaderName::from_static("x-aws-ec2-metadata-token");
        exchange.text(request.auth(&token, AuthScheme::Header(name)))
    };
    const ROLES: &str = "latest/meta-data/iam/security-credentials/";
    let roles = ask(ROLES.to_owned()).await?;
    let role = roles
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty())
        .ok_or(OAuthError::BadAnswer("role"))?;
    given(&ask(format!("{ROLES}{role}")).await?)
}

/// What containers and machines answer with.
fn given(text: &str) -> Result<Pair, MintError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "PascalCase")]
    struct Given {
        access_key_id: String,
        secret_access_key: String,
        token: Option<String>,
        expiration: Option<String>,
    }
    let given: Given =
        serde_json::from_str(text).map_err(|_| OAuthError::BadAnswer("AccessKeyId"))?;
    Ok(Pair {
        id: given.access_key_id,
        secret: given.secret_access_key,
        session: given.token,
        until: given.expiration.and_then(|time| time.parse().ok()),
    })
}
