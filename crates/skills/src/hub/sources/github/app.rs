//! Signing in as a GitHub App: a signed statement is changed for a token that ends soon.

use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hermes_http::BaseUrl;
use hermes_secrets::Secret;
use jiff::Timestamp;
use ring::rand::SystemRandom;
use ring::rsa::KeyPair;
use ring::signature::RSA_PKCS1_SHA256;
use rustls_pki_types::PrivateKeyDer;
use rustls_pki_types::pem::PemObject as _;
use serde::Deserialize;
use serde_json::json;

use super::key::bound;
use crate::hub::error::SourceError;
use crate::hub::sources::path_of;
use crate::hub::web::Web;

/// How long a statement is good; GitHub accepts ten minutes at most.
const LIFE_SECONDS: i64 = 540;
/// Their clock may be behind ours.
const SLACK_SECONDS: i64 = 60;

/// A GitHub App.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppLogin {
    pub id: String,
    pub installation: String,
    /// The file with its key, in PEM.
    pub key: PathBuf,
}

#[derive(Deserialize)]
struct Token {
    token: String,
    expires_at: String,
}

/// A token of the app, and until when it is good.
pub(super) async fn token(
    app: &AppLogin,
    base: &BaseUrl,
    web: &Web,
    now: Timestamp,
) -> Result<(Secret, Timestamp), SourceError> {
    let statement = statement(app, now)?;
    let unfit = || SourceError::AppKey("it cannot be bound to the address of GitHub");
    let statement = bound("GITHUB_APP_STATEMENT", &statement, base).ok_or_else(unfit)?;
    let path = path_of(["app", "installations", &app.installation, "access_tokens"]);
    let answer = web
        .post(
            base.join(&path),
            &statement,
            "application/json",
            b"{}".to_vec(),
        )
        .await?;
    let token: Token =
        serde_json::from_slice(&answer).map_err(|source| SourceError::Unexpected {
            expected: "a token",
            source: Some(source),
        })?;
    let secret = bound("GITHUB_APP_TOKEN", &token.token, base).ok_or_else(unfit)?;
    // Without a time that can be read it is used once.
    Ok((secret, token.expires_at.parse().unwrap_or(now)))
}

fn statement(app: &AppLogin, now: Timestamp) -> Result<String, SourceError> {
    let read = hermes_config::read_file(&app.key)?;
    let pem = read.ok_or(SourceError::AppKey("the file is not there"))?;
    let key = PrivateKeyDer::from_pem_slice(&pem)
        .map_err(|_| SourceError::AppKey("the file holds no private key in PEM"))?;
    let pair = match &key {
        PrivateKeyDer::Pkcs1(der) => KeyPair::from_der(der.secret_pkcs1_der()).ok(),
        PrivateKeyDer::Pkcs8(der) => KeyPair::from_pkcs8(der.secret_pkcs8_der()).ok(),
        _ => None,
    };
    let pair = pair.ok_or(SourceError::AppKey("it is no RSA key"))?;
    let begun = now.as_second();
    let head = json!({ "alg": "RS256", "typ": "JWT" });
    let claims = json!({
        "iat": begun.saturating_sub(SLACK_SECONDS),
        "exp": begun.saturating_add(LIFE_SECONDS),
        "iss": app.id,
    });
    let encoded = |part: &serde_json::Value| URL_SAFE_NO_PAD.encode(part.to_string());
    let message = format!("{}.{}", encoded(&head), encoded(&claims));
    let mut signature = vec![0; pair.public().modulus_len()];
    pair.sign(
        &RSA_PKCS1_SHA256,
        &SystemRandom::new(),
        message.as_bytes(),
        &mut signature,
    )
    .map_err(|_| SourceError::AppKey("signing failed"))?;
    Ok(format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature)))
}
