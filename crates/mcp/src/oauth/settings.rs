//! What the settings of a server say about signing in.

use std::path::{Path, PathBuf};
use std::time::Duration;

use hermes_config::{McpGrant, McpOAuth, McpServer, SecretText};
use url::Url;

/// Why the settings cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadOAuth {
    /// An address is none.
    #[error("{key} is not a valid address")]
    Address {
        /// Which key.
        key: &'static str,
    },
    /// A key is missing that another one needs.
    #[error("{needs} needs {missing}")]
    Missing {
        /// What was asked for.
        needs: &'static str,
        /// What is not there.
        missing: &'static str,
    },
    /// A word is none of those that are understood.
    #[error("{key} cannot be `{word}`")]
    Word {
        /// Which key.
        key: &'static str,
        /// What it says.
        word: String,
    },
}

/// How to sign in to one server.
#[derive(Debug, Clone)]
pub struct OAuthSettings {
    /// The server's name in the settings.
    pub server: String,
    /// Its address.
    pub url: Url,
    pub(super) client_id: Option<String>,
    pub(super) client_secret: SecretText,
    pub(super) scope: Option<String>,
    pub(super) redirect_port: u16,
    pub(super) redirect_uri: Option<Url>,
    pub(super) redirect_host: String,
    pub(super) client_name: String,
    pub(super) timeout: Duration,
    pub(super) client_metadata_url: Option<Url>,
    pub(super) method: Option<Method>,
    pub(super) grant: Grant,
    pub(super) key: Option<KeyFile>,
}

/// Where tokens come from.
#[derive(Debug, Clone)]
pub(super) enum Grant {
    /// A person with a browser.
    Person,
    /// The client itself.
    Client,
    /// An identity provider that knows the person.
    IdentityProvider(Box<IdentityProvider>),
}

/// An identity provider.
#[derive(Debug, Clone)]
pub(super) struct IdentityProvider {
    pub(super) issuer: Option<Url>,
    pub(super) token_endpoint: Option<Url>,
    pub(super) client_id: String,
    pub(super) client_secret: SecretText,
    pub(super) id_token: SecretText,
}

/// A key to sign with.
#[derive(Debug, Clone)]
pub(super) struct KeyFile {
    pub(super) path: PathBuf,
    pub(super) algorithm: Option<Algorithm>,
}

/// How a client signs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Algorithm {
    Es256,
    Rs256,
    EdDsa,
}

impl Algorithm {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Es256 => "ES256",
            Self::Rs256 => "RS256",
            Self::EdDsa => "EdDSA",
        }
    }
}

/// How a client shows who it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    /// By its id alone.
    Public,
    /// By its secret in the form.
    SecretPost,
    /// By its secret in a header.
    SecretBasic,
    /// By a signature.
    Signed,
}

impl Method {
    const ALL: [Self; 4] = [
        Self::Public,
        Self::SecretPost,
        Self::SecretBasic,
        Self::Signed,
    ];

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Public => "none",
            Self::SecretPost => "client_secret_post",
            Self::SecretBasic => "client_secret_basic",
            Self::Signed => "private_key_jwt",
        }
    }

    pub(super) fn read(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.word() == word)
    }
}

impl OAuthSettings {
    /// Reads the entry of a server. `home` is where `~` points to.
    pub fn new(server: &str, entry: &McpServer, home: Option<&Path>) -> Result<Self, BadOAuth> {
        let oauth = entry.oauth.clone().unwrap_or_default();
        let url = address("url", &entry.url)?.ok_or(BadOAuth::Address { key: "url" })?;
        let grant = grant(&oauth)?;
        let settings = Self {
            server: server.to_owned(),
            url,
            client_id: filled(&oauth.client_id),
            scope: filled(&oauth.scope),
            redirect_port: oauth.redirect_port,
            redirect_uri: address("oauth.redirect_uri", &oauth.redirect_uri)?,
            redirect_host: oauth.redirect_host.trim().to_owned(),
            client_name: oauth.client_name.clone(),
            timeout: oauth.timeout,
            client_metadata_url: address("oauth.client_metadata_url", &oauth.client_metadata_url)?,
            method: method(&oauth)?,
            key: key(&oauth, home)?,
            client_secret: oauth.client_secret,
            grant,
        };
        if !matches!(settings.grant, Grant::Person) && settings.client_id.is_none() {
            return Err(BadOAuth::Missing {
                needs: "signing in without a browser",
                missing: "oauth.client_id",
            });
        }
        if settings.method == Some(Method::Signed) && settings.key.is_none() {
            return Err(BadOAuth::Missing {
                needs: "private_key_jwt",
                missing: "oauth.private_key_path",
            });
        }
        Ok(settings)
    }
}

fn grant(oauth: &McpOAuth) -> Result<Grant, BadOAuth> {
    let Some(idp) = &oauth.idp else {
        return Ok(match oauth.grant_type {
            McpGrant::AuthorizationCode => Grant::Person,
            McpGrant::ClientCredentials => Grant::Client,
        });
    };
    let missing = |missing| {
        Err(BadOAuth::Missing {
            needs: "oauth.idp",
            missing,
        })
    };
    let provider = IdentityProvider {
        issuer: address("oauth.idp.issuer", &idp.issuer)?,
        token_endpoint: address("oauth.idp.token_endpoint", &idp.token_endpoint)?,
        client_id: idp.client_id.clone(),
        client_secret: idp.client_secret.clone(),
        id_token: idp.id_token.clone(),
    };
    if provider.issuer.is_none() && provider.token_endpoint.is_none() {
        return missing("issuer or token_endpoint");
    }
    if provider.id_token.is_empty() {
        return missing("id_token");
    }
    Ok(Grant::IdentityProvider(Box::new(provider)))
}

fn method(oauth: &McpOAuth) -> Result<Option<Method>, BadOAuth> {
    let Some(word) = filled(&oauth.token_endpoint_auth_method) else {
        return Ok(None);
    };
    match Method::read(&word) {
        Some(method) => Ok(Some(method)),
        None => Err(BadOAuth::Word {
            key: "oauth.token_endpoint_auth_method",
            word,
        }),
    }
}

fn key(oauth: &McpOAuth, home: Option<&Path>) -> Result<Option<KeyFile>, BadOAuth> {
    let Some(path) = filled(&oauth.private_key_path) else {
        return Ok(None);
    };
    let path = match (path.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        (_, _) => PathBuf::from(path),
    };
    let algorithm = match filled(&oauth.signing_algorithm) {
        None => None,
        Some(word) => {
            let all = [Algorithm::Es256, Algorithm::Rs256, Algorithm::EdDsa];
            let known = all
                .into_iter()
                .find(|known| known.word().eq_ignore_ascii_case(&word));
            Some(known.ok_or(BadOAuth::Word {
                key: "oauth.signing_algorithm",
                word,
            })?)
        }
    };
    Ok(Some(KeyFile { path, algorithm }))
}

fn filled(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

fn address(key: &'static str, text: &str) -> Result<Option<Url>, BadOAuth> {
    match filled(text) {
        None => Ok(None),
        Some(text) => match Url::parse(&text) {
            Ok(url) if url.has_host() => Ok(Some(url)),
            Ok(_) | Err(_) => Err(BadOAuth::Address { key }),
        },
    }
}
