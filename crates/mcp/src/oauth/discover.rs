//! Finding out who gives tokens for a server: RFC 9728, then RFC 8414.

use hermes_http::HttpClient;
use serde_json::{Map, Value as Json};
use url::Url;

use super::challenge::Challenge;
use super::error::OAuthError;
use super::metadata::Metadata;
use super::wire::{Reach, covers, document, same_origin};

/// What is known about signing in to a server.
#[derive(Debug)]
pub(super) struct Discovered {
    /// Who gives tokens.
    pub(super) metadata: Metadata,
    /// The rights that the server describes as usual.
    pub(super) scope: Option<String>,
}

/// Asks the server, then the authorization server it names. One that names none is taken for its own, as
/// the first version of the protocol had it.
pub(super) async fn discover(
    http: &HttpClient,
    server: &Url,
    challenge: &Challenge,
) -> Result<Discovered, OAuthError> {
    let reach = Reach::of(server);
    let described = describe(http, server, challenge, &reach).await?;
    let Some(described) = described else {
        let mut metadata = first_version(http, server, reach).await?;
        metadata.set_resource(&canonical(server));
        return Ok(Discovered {
            metadata,
            scope: None,
        });
    };
    let resource = resource_of(&described, server)?;
    let scope = texts(&described, "scopes_supported").join(" ");
    let scope = (!scope.is_empty()).then_some(scope);
    let named = texts(&described, "authorization_servers");
    let mut metadata = match named.first() {
        None => first_version(http, server, reach).await?,
        Some(issuer) => {
            let url = reach.allowed(issuer)?;
            let fields = found(http, &server_candidates(&url))
                .await?
                .ok_or(OAuthError::BadAnswer("authorization server metadata"))?;
            require_issuer(&fields, issuer)?;
            Metadata::new(fields, reach)
        }
    };
    metadata.set_resource(&resource);
    Ok(Discovered { metadata, scope })
}

/// The description of an identity provider or authorization server with this name.
pub(super) async fn issuer_metadata(
    http: &HttpClient,
    issuer: &Url,
) -> Result<Metadata, OAuthError> {
    let fields = found(http, &server_candidates(issuer))
        .await?
        .ok_or(OAuthError::BadAnswer("issuer metadata"))?;
    require_issuer(&fields, issuer.as_str())?;
    Ok(Metadata::new(fields, Reach::of(issuer)))
}

/// How the server describes itself.
async fn describe(
    http: &HttpClient,
    server: &Url,
    challenge: &Challenge,
    reach: &Reach,
) -> Result<Option<Map<String, Json>>, OAuthError> {
    if let Some(address) = &challenge.resource_metadata {
        let url = reach.allowed(address)?;
        return document(http, &url).await;
    }
    let path = server.path().trim_end_matches('/');
    let mut candidates = Vec::new();
    if !path.is_empty() {
        candidates.push(at(
            server,
            &format!("/.well-known/oauth-protected-resource{path}"),
        ));
    }
    candidates.push(at(server, "/.well-known/oauth-protected-resource"));
    found(http, &candidates).await
}

/// What the tokens will be for. It must be the server or something it is part of.
fn resource_of(described: &Map<String, Json>, server: &Url) -> Result<String, OAuthError> {
    let Some(named) = described.get("resource").and_then(Json::as_str) else {
        return Ok(canonical(server));
    };
    let mismatch = || OAuthError::Mismatch {
        what: "the server's description",
        expected: canonical(server),
        found: super::wire::quoted(named),
    };
    if covers(named, server) {
        Ok(named.to_owned())
    } else {
        Err(mismatch())
    }
}

/// Servers of the first protocol version are their own authorization server. Some serve an issuer below
/// their origin, so the same origin is enough.
async fn first_version(
    http: &HttpClient,
    server: &Url,
    reach: Reach,
) -> Result<Metadata, OAuthError> {
    let origin = at(server, "/");
    let Some(fields) = found(http, &server_candidates(&origin)).await? else {
        return Ok(Metadata::assumed(server, reach));
    };
    if let Some(issuer) = fields.get("issuer").and_then(Json::as_str) {
        let near = Url::parse(issuer).is_ok_and(|issuer| same_origin(&issuer, server));
        if !near {
            return Err(mismatched_issuer(&fields, origin.as_str()));
        }
    }
    Ok(Metadata::new(fields, reach))
}

fn require_issuer(fields: &Map<String, Json>, expected: &str) -> Result<(), OAuthError> {
    let issuer = fields.get("issuer").and_then(Json::as_str);
    let bare = |text: &str| text.trim_end_matches('/').to_owned();
    if issuer.map(bare) == Some(bare(expected)) {
        Ok(())
    } else {
        Err(mismatched_issuer(fields, expected))
    }
}

fn mismatched_issuer(fields: &Map<String, Json>, expected: &str) -> OAuthError {
    let issuer = fields.get("issuer").and_then(Json::as_str);
    OAuthError::Mismatch {
        what: "the authorization server's description",
        expected: expected.to_owned(),
        found: super::wire::quoted(issuer.unwrap_or_default()),
    }
}

/// Where an authorization server may describe itself, in the order to ask.
fn server_candidates(issuer: &Url) -> Vec<Url> {
    let path = issuer.path().trim_end_matches('/');
    if path.is_empty() {
        return vec![
            at(issuer, "/.well-known/oauth-authorization-server"),
            at(issuer, "/.well-known/openid-configuration"),
        ];
    }
    vec![
        at(
            issuer,
            &format!("/.well-known/oauth-authorization-server{path}"),
        ),
        at(issuer, &format!("/.well-known/openid-configuration{path}")),
        at(issuer, &format!("{path}/.well-known/openid-configuration")),
    ]
}

/// The first document there is. A server that cannot answer now is told from one that has nothing.
async fn found(
    http: &HttpClient,
    candidates: &[Url],
) -> Result<Option<Map<String, Json>>, OAuthError> {
    let mut trouble = None;
    for url in candidates {
        match document(http, url).await {
            Ok(Some(fields)) => return Ok(Some(fields)),
            Ok(None) => {}
            Err(error) => trouble = Some(error),
        }
    }
    trouble.map_or(Ok(None), Err)
}

fn at(base: &Url, path: &str) -> Url {
    let mut url = base.clone();
    url.set_path(path);
    url.set_query(None);
    url.set_fragment(None);
    url
}

/// The server's address as its name: no fragment, and no slash that says nothing.
pub(super) fn canonical(server: &Url) -> String {
    let mut url = server.clone();
    url.set_fragment(None);
    let text = url.as_str();
    if url.path() == "/" && url.query().is_none() {
        text.trim_end_matches('/').to_owned()
    } else {
        text.to_owned()
    }
}

fn texts<'j>(fields: &'j Map<String, Json>, name: &str) -> Vec<&'j str> {
    let list = fields.get(name).and_then(Json::as_array);
    list.into_iter()
        .flatten()
        .filter_map(Json::as_str)
        .collect()
}
