//! Tokens of Microsoft Entra for Azure: for an application with a secret, for a workload with a token of
//! its platform, for the identity of the machine.

use std::path::PathBuf;

use hermes_http::{AuthScheme, BaseUrl};
use hermes_secrets::Secret;
use http::{HeaderName, HeaderValue, Method};
use url::Url;

use super::exchange::{Exchange, Far, read, secret};
use super::{MintError, Minted};

/// What tokens are asked for.
const SCOPE: &str = "https://ai.azure.com/.default";
const RESOURCE: &str = "https://ai.azure.com";
const ASSERTION: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// Who asks for tokens.
#[derive(Debug, Clone)]
pub(crate) enum Entra {
    /// An application with a secret, bound to the authority.
    Application {
        authority: BaseUrl,
        tenant: String,
        client: String,
        secret: Secret,
    },
    /// A workload whose platform vouches for it with a token in a file.
    Workload {
        authority: BaseUrl,
        tenant: String,
        client: String,
        token: PathBuf,
    },
    /// The identity of a machine or an app, given by a service of the machine.
    Managed {
        service: ManagedService,
        client: Option<String>,
    },
}

/// The service that gives a machine's identity.
#[derive(Debug, Clone)]
pub(crate) enum ManagedService {
    /// Of a virtual machine.
    Machine(Url),
    /// Of an app, with the header that proves that the app asks.
    App { endpoint: Url, header: Secret },
}

impl Entra {
    pub(super) fn label(&self) -> String {
        match self {
            Self::Application { client, .. } => format!("application {client}"),
            Self::Workload { client, .. } => format!("workload {client}"),
            Self::Managed {
                client: Some(client),
                ..
            } => format!("managed identity {client}"),
            Self::Managed { client: None, .. } => "managed identity".to_owned(),
        }
    }
}

/// An access token for the identity.
pub(super) async fn token(exchange: &Exchange<'_>, identity: &Entra) -> Result<Minted, MintError> {
    match identity {
        Entra::Application {
            authority,
            tenant,
            client,
            secret,
        } => {
            let request = exchange
                .request(Method::POST, tokens_at(authority, tenant), Far::Network)
                .form([
                    ("grant_type", "client_credentials"),
                    ("client_id", client.as_str()),
                    ("scope", SCOPE),
                ])
                .auth(secret, AuthScheme::FormField("client_secret".to_owned()));
            exchange.token(request, Some(secret)).await
        }
        Entra::Workload {
            authority,
            tenant,
            client,
            token,
        } => {
            let url = tokens_at(authority, tenant);
            let proof = read(token).await?.trim().to_owned();
            let proof = secret("client_assertion", proof, Some(&url))?;
            let request = exchange
                .request(Method::POST, url, Far::Network)
                .form([
                    ("grant_type", "client_credentials"),
                    ("client_id", client.as_str()),
                    ("scope", SCOPE),
                    ("client_assertion_type", ASSERTION),
                ])
                .auth(&proof, AuthScheme::FormField("client_assertion".to_owned()));
            exchange.token(request, Some(&proof)).await
        }
        Entra::Managed { service, client } => {
            let mut query = vec![("resource", RESOURCE)];
            query.extend(client.as_deref().map(|client| ("client_id", client)));
            let request = match service {
                ManagedService::Machine(endpoint) => exchange
                    .request(Method::GET, endpoint.clone(), Far::Machine)
                    .query([("api-version", "2018-02-01")])
                    .header(
                        HeaderName::from_static("metadata"),
                        HeaderValue::from_static("true"),
                    ),
                ManagedService::App { endpoint, header } => exchange
                    .request(Method::GET, endpoint.clone(), Far::Machine)
                    .query([("api-version", "2019-08-01")])
                    .auth(
                        header,
                        AuthScheme::Header(HeaderName::from_static("x-identity-header")),
                    ),
            };
            exchange.token(request.query(query), None).await
        }
    }
}

fn tokens_at(authority: &BaseUrl, tenant: &str) -> Url {
    authority.join(&format!("{tenant}/oauth2/v2.0/token"))
}
