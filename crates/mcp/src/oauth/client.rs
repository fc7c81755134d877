//! Who we are at an authorization server.

use std::fmt;

use serde_json::{Map, Value as Json, json};

use hermes_http::HttpClient;

use super::error::OAuthError;
use super::metadata::Metadata;
use super::settings::{Method, OAuthSettings};
use super::wire::{answer, post};

/// Names in a registration whom it was made with.
const ISSUER: &str = "issuer";

/// A client as an authorization server knows it.
#[derive(Clone)]
pub(super) struct Client {
    pub(super) id: String,
    pub(super) secret: Option<String>,
    pub(super) method: Method,
    /// The registration, when it was made by ourselves: it may be made again.
    pub(super) registration: Option<Map<String, Json>>,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("id", &self.id)
            .field("method", &self.method)
            .finish_non_exhaustive()
    }
}

impl Client {
    /// The client of the settings.
    pub(super) fn configured(settings: &OAuthSettings, metadata: &Metadata) -> Option<Self> {
        let id = settings.client_id.clone()?;
        let secret = settings.client_secret.expose();
        let secret = (!secret.is_empty()).then(|| secret.to_owned());
        let method = settings.method.unwrap_or_else(|| {
            if settings.key.is_some() {
                Method::Signed
            } else if secret.is_some() {
                with_secret(metadata)
            } else {
                Method::Public
            }
        });
        Some(Self {
            id,
            secret,
            method,
            registration: None,
        })
    }

    /// The client of an earlier registration, unless it was made with somebody else.
    pub(super) fn registered(
        kept: Map<String, Json>,
        settings: &OAuthSettings,
        metadata: &Metadata,
    ) -> Option<Self> {
        let text = |name: &str| kept.get(name).and_then(Json::as_str);
        let issuer = text(ISSUER);
        if issuer.is_some() && metadata.issuer().is_some() && issuer != metadata.issuer() {
            return None;
        }
        let id = text("client_id").filter(|id| !id.is_empty())?.to_owned();
        let secret = text("client_secret")
            .filter(|secret| !secret.is_empty())
            .map(str::to_owned);
        let method = settings
            .method
            .or_else(|| text("token_endpoint_auth_method").and_then(Method::read))
            .unwrap_or(match secret {
                Some(_) => with_secret(metadata),
                None => Method::Public,
            });
        Some(Self {
            id,
            secret,
            method,
            registration: Some(kept),
        })
    }

    /// The addresses the browser may come back to.
    pub(super) fn redirect_uris(&self) -> Vec<&str> {
        let list = self.registration.as_ref().and_then(|kept| {
            let list = kept.get("redirect_uris")?;
            list.as_array()
        });
        list.into_iter()
            .flatten()
            .filter_map(Json::as_str)
            .collect()
    }

    /// A client whose id is the address of its description.
    pub(super) fn described(
        settings: &OAuthSettings,
        metadata: &Metadata,
        redirect: &str,
    ) -> Option<Self> {
        let url = settings.client_metadata_url.as_ref()?;
        if !metadata.takes_metadata_documents() {
            return None;
        }
        let mut kept = wishes(settings, redirect, Method::Public, None);
        kept.insert("client_id".to_owned(), json!(url.as_str()));
        note_issuer(&mut kept, metadata);
        Some(Self {
            id: url.to_string(),
            secret: None,
            method: Method::Public,
            registration: Some(kept),
        })
    }

    /// Registers a new client (RFC 7591).
    pub(super) async fn register(
        http: &HttpClient,
        settings: &OAuthSettings,
        metadata: &Metadata,
        redirect: &str,
        scope: Option<&str>,
    ) -> Result<Self, OAuthError> {
        let endpoint = metadata
            .registration_endpoint()?
            .ok_or(OAuthError::NoRegistration)?;
        let supported = metadata.methods();
        let method = settings.method.unwrap_or(match &supported {
            Some(methods) if !methods.contains(&Method::Public) => with_secret(metadata),
            Some(_) | None => Method::Public,
        });
        let mut kept = wishes(settings, redirect, method, scope);
        let given = answer(post(http, &endpoint).json(&Json::Object(kept.clone()))).await?;
        let Json::Object(given) = given else {
            return Err(OAuthError::BadAnswer("client"));
        };
        // What the server says counts, it may grant less than was asked for.
        kept.extend(given);
        note_issuer(&mut kept, metadata);
        Self::registered(kept, settings, metadata).ok_or(OAuthError::BadAnswer("client_id"))
    }
}

fn note_issuer(kept: &mut Map<String, Json>, metadata: &Metadata) {
    if let Some(issuer) = metadata.issuer() {
        kept.insert(ISSUER.to_owned(), json!(issuer));
    }
}

/// What a registration asks for.
fn wishes(
    settings: &OAuthSettings,
    redirect: &str,
    method: Method,
    scope: Option<&str>,
) -> Map<String, Json> {
    let wishes = json!({
        "client_name": settings.client_name,
        "redirect_uris": [redirect],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": method.word(),
        "application_type": "native",
        "scope": scope,
    });
    let Json::Object(mut wishes) = wishes else {
        return Map::new();
    };
    wishes.retain(|_, value| !value.is_null());
    wishes
}

/// How a secret is shown to a server: in the form, unless it wants it elsewhere.
fn with_secret(metadata: &Metadata) -> Method {
    match metadata.methods() {
        Some(methods)
            if methods.contains(&Method::SecretBasic) && !methods.contains(&Method::SecretPost) =>
        {
            Method::SecretBasic
        }
        Some(_) | None => Method::SecretPost,
    }
}
