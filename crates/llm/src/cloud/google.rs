//! Tokens of Google Cloud: a service account signs for itself, a person who used `gcloud` has a refresh
//! token, a machine asks its metadata server.

use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use hermes_http::{AuthScheme, BaseUrl, RequestBuilder};
use http::{HeaderName, HeaderValue, Method};
use ring::rand::SystemRandom;
use ring::signature::{RSA_PKCS1_SHA256, RsaKeyPair};
use serde::Deserialize;
use serde_json::json;
use url::Url;

use super::exchange::{Exchange, Far, read, secret, small};
use super::{MintError, Minted};
use crate::oauth::{OAuthError, is_private};

const TOKEN_URL: &str = "https://oauth2.googleapis.com/token";
const SCOPE: &str = "https://www.googleapis.com/auth/cloud-platform";
const GRANT: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
/// Seconds that an assertion may be used; Google allows no more.
const ASSERTION_LIFE: i64 = 3_600;

/// What to do on a machine that has no account.
const WITHOUT_ACCOUNT: &str = "run `gcloud auth application-default login`, or name a service account's \
                               file with GOOGLE_APPLICATION_CREDENTIALS";

/// What to do on a machine whose project cannot be used.
const WITHOUT_PROJECT: &str = "set VERTEX_PROJECT_ID";

/// An account.
#[derive(Debug, Clone)]
pub(crate) enum Google {
    /// The one that a file describes.
    File(PathBuf),
    /// The one of the machine, which its metadata server speaks for.
    Machine { service: BaseUrl, project: Project },
}

/// Whether the project of the machine is wanted too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Project {
    /// It is known, or the address has no place for it.
    Known,
    /// It belongs into the address.
    Asked,
}

impl Google {
    pub(super) fn label(&self) -> String {
        match self {
            Self::File(file) => file.display().to_string(),
            Self::Machine {
                project: Project::Known,
                ..
            } => "account of the machine".to_owned(),
            Self::Machine {
                project: Project::Asked,
                ..
            } => "account and project of the machine".to_owned(),
        }
    }
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Account {
    #[serde(rename = "service_account")]
    Service {
        client_email: String,
        private_key: String,
        private_key_id: Option<String>,
        token_uri: Option<String>,
    },
    AuthorizedUser {
        client_id: String,
        client_secret: String,
        refresh_token: String,
        token_uri: Option<String>,
    },
    #[serde(other)]
    Other,
}

/// The project that a file of credentials belongs to.
pub(crate) fn project(file: &Path) -> Option<String> {
    #[derive(Deserialize)]
    struct Belongs {
        project_id: Option<String>,
        quota_project_id: Option<String>,
    }
    let belongs: Belongs = serde_json::from_str(&small(file).ok()?).ok()?;
    belongs.project_id.or(belongs.quota_project_id)
}

/// An access token for the account.
pub(super) async fn token(exchange: &Exchange<'_>, account: &Google) -> Result<Minted, MintError> {
    match account {
        Google::File(file) => of_file(exchange, file).await,
        Google::Machine { service, project } => {
            let server = service.join("").authority().to_owned();
            let minted = of_machine(exchange, service).await.map_err(|error| {
                let looked = format!(
                    "no file of Google credentials was found, and the metadata server at {server} gave none"
                );
                error.of_machine(looked, WITHOUT_ACCOUNT)
            })?;
            let project = match project {
                Project::Known => None,
                Project::Asked => {
                    let found = project_of_machine(exchange, service).await;
                    Some(found.map_err(|error| {
                        let looked =
                            format!("the metadata server at {server} gave no project to work in");
                        error.of_machine(looked, WITHOUT_PROJECT)
                    })?)
                }
            };
            Ok(Minted { project, ..minted })
        }
    }
}

/// The token of the machine's account.
async fn of_machine(exchange: &Exchange<'_>, service: &BaseUrl) -> Result<Minted, MintError> {
    let token = ask(exchange, service, "instance/service-accounts/default/token");
    exchange.token(token, None).await
}

/// The project of the machine. It becomes a part of an address, so not every answer will do.
async fn project_of_machine(
    exchange: &Exchange<'_>,
    service: &BaseUrl,
) -> Result<String, MintError> {
    let said = exchange.text(ask(exchange, service, "project/project-id"));
    let said = said.await?;
    let name = said.trim();
    match is_project(name) {
        true => Ok(name.to_owned()),
        false => Err(OAuthError::BadAnswer("project-id").into()),
    }
}

fn ask(exchange: &Exchange<'_>, service: &BaseUrl, path: &str) -> RequestBuilder {
    let url = service.join(&format!("computeMetadata/v1/{path}"));
    exchange.request(Method::GET, url, Far::Machine).header(
        HeaderName::from_static("metadata-flavor"),
        HeaderValue::from_static("Google"),
    )
}

/// Whether this can be the name of a project.
fn is_project(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-.:".contains(&byte);
    !name.is_empty() && name.len() <= 64 && name.bytes().all(fits)
}

fn wrong(file: &Path, why: &str) -> MintError {
    MintError::File {
        file: file.to_owned(),
        why: why.to_owned(),
    }
}

/// What a file of credentials says.
async fn account(file: &Path) -> Result<Account, MintError> {
    let text = read(file).await?;
    // The parser's words are left out, they may quote a key.
    serde_json::from_str(&text).map_err(|_| wrong(file, "it is not a file of Google credentials"))
}

async fn of_file(exchange: &Exchange<'_>, file: &Path) -> Result<Minted, MintError> {
    let account = account(file).await?;
    let wrong = |why: &str| wrong(file, why);
    let address = |said: Option<String>| {
        Url::parse(said.as_deref().unwrap_or(TOKEN_URL))
            .ok()
            .filter(is_private)
            .ok_or_else(|| wrong("its token_uri is not an https address"))
    };
    match account {
        Account::Service {
            client_email,
            private_key,
            private_key_id,
            token_uri,
        } => {
            let url = address(token_uri)?;
            let now = exchange.now.as_second();
            let claims = json!({
                "iss": client_email,
                "scope": SCOPE,
                "aud": url.as_str(),
                "iat": now,
                "exp": now + ASSERTION_LIFE,
            });
            let head = json!({"alg": "RS256", "typ": "JWT", "kid": private_key_id});
            let signed = sign(&head.to_string(), &claims.to_string(), &private_key)
                .ok_or_else(|| wrong("its private_key cannot be used"))?;
            let assertion = secret("assertion", signed, Some(&url))?;
            let request = exchange
                .request(Method::POST, url, Far::Network)
                .form([("grant_type", GRANT)])
                .auth(&assertion, AuthScheme::FormField("assertion".to_owned()));
            exchange.token(request, Some(&assertion)).await
        }
        Account::AuthorizedUser {
            client_id,
            client_secret,
            refresh_token,
            token_uri,
        } => {
            let url = address(token_uri)?;
            let refresh = secret("refresh_token", refresh_token, Some(&url))?;
            let request = exchange
                .request(Method::POST, url, Far::Network)
                .form([
                    ("grant_type", "refresh_token"),
                    ("client_id", client_id.as_str()),
                    ("client_secret", client_secret.as_str()),
                ])
                .auth(&refresh, AuthScheme::FormField("refresh_token".to_owned()));
            exchange.token(request, Some(&refresh)).await
        }
        Account::Other => Err(wrong(
            "it is neither a service account nor a sign-in of `gcloud auth application-default login`",
        )),
    }
}

/// A token that the account signs itself: RS256 over both parts.
fn sign(head: &str, claims: &str, pem: &str) -> Option<String> {
    let body: String = pem
        .lines()
        .map(str::trim)
        .filter(|line| !line.starts_with("-----"))
        .collect();
    let key = RsaKeyPair::from_pkcs8(&STANDARD.decode(body).ok()?).ok()?;
    let signed = format!(
        "{}.{}",
        URL_SAFE_NO_PAD.encode(head),
        URL_SAFE_NO_PAD.encode(claims)
    );
    let mut signature = vec![0; key.public().modulus_len()];
    key.sign(
        &RSA_PKCS1_SHA256,
        &SystemRandom::new(),
        signed.as_bytes(),
        &mut signature,
    )
    .ok()?;
    Some(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature)))
}
