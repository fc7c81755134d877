//! Tokens of Microsoft Entra for Azure: for an application with a secret, for a workload with a token of
//! its platform, for the identity of the machine, for whoever signed in with `az login`.

use std::path::PathBuf;

use hermes_http::{AuthScheme, BaseUrl};
use hermes_secrets::Secret;
use http::{HeaderName, HeaderValue, Method};
use jiff::Timestamp;
use serde::Deserialize;
use url::Url;

use super::exchange::{Exchange, Far, read, secret};
use super::program::Program;
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
        /// Azure's own program, for machines that turn out to have no identity.
        otherwise: Option<Program>,
    },
    /// Whoever signed in to Azure's own program.
    CommandLine(Program),
}

/// What to do on a machine that has no identity.
const WITHOUT_IDENTITY: &str = "run `az login`, or set AZURE_TENANT_ID, AZURE_CLIENT_ID and \
                                AZURE_CLIENT_SECRET";

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
            Self::CommandLine(_) => "sign-in of az".to_owned(),
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
        Entra::Managed {
            service,
            client,
            otherwise,
        } => {
            let client = client.as_deref();
            of_machine(exchange, service, client, otherwise.as_ref()).await
        }
        Entra::CommandLine(program) => printed(exchange, program).await,
    }
}

/// A token for the identity of the machine, or for whoever signed in on it.
async fn of_machine(
    exchange: &Exchange<'_>,
    service: &ManagedService,
    client: Option<&str>,
    otherwise: Option<&Program>,
) -> Result<Minted, MintError> {
    let error = match managed(exchange, service, client).await {
        Ok(minted) => return Ok(minted),
        Err(error) => error,
    };
    let looked = match otherwise {
        Some(az) => match printed(exchange, az).await {
            Ok(minted) => return Ok(minted),
            Err(_) => {
                "Azure's credentials were looked for in variables, at the identity service of \
                 this machine and in the sign-in of az"
            }
        },
        None => {
            "Azure's credentials were looked for in variables and at the identity service of \
             this machine"
        }
    };
    Err(error.of_machine(looked, WITHOUT_IDENTITY))
}

/// The token of a machine or an app.
async fn managed(
    exchange: &Exchange<'_>,
    service: &ManagedService,
    client: Option<&str>,
) -> Result<Minted, MintError> {
    let mut query = vec![("resource", RESOURCE)];
    query.extend(client.map(|client| ("client_id", client)));
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

/// The token that `az` prints. Its older versions say when it ends in local time only, so theirs is asked
/// for again when it is turned down.
async fn printed(exchange: &Exchange<'_>, program: &Program) -> Result<Minted, MintError> {
    #[derive(Deserialize)]
    struct Printed {
        #[serde(rename = "accessToken")]
        access_token: String,
        expires_on: Option<i64>,
    }
    let wrong = |why: &str| MintError::File {
        file: program.file().to_owned(),
        why: format!("{why}; run `az login`"),
    };
    let text = match program.output().await {
        Ok(text) => text,
        Err(MintError::File { why, .. }) => return Err(wrong(&why)),
        Err(error) => return Err(error),
    };
    // The parser's words are left out, they may quote the token.
    let printed: Printed =
        serde_json::from_str(&text).map_err(|_| wrong("it prints no token as JSON"))?;
    let until = printed
        .expires_on
        .and_then(|seconds| Timestamp::from_second(seconds).ok());
    if until.is_some_and(|until| until <= exchange.now) {
        return Err(wrong("the token it prints has ended"));
    }
    Ok(Minted {
        secret: secret("access_token", printed.access_token, None)?,
        until,
        project: None,
    })
}

/// What makes `az` print a token.
pub(crate) const PRINT: [&str; 6] = [
    "account",
    "get-access-token",
    "--resource",
    RESOURCE,
    "--output",
    "json",
];

fn tokens_at(authority: &BaseUrl, tenant: &str) -> Url {
    authority.join(&format!("{tenant}/oauth2/v2.0/token"))
}
