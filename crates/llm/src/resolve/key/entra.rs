//! Tokens of Microsoft Entra: for an application, for a workload, for the identity of the machine, for the
//! sign-in of `az`.

use hermes_config::Variable;
use hermes_http::BaseUrl;
use hermes_secrets::{Origin, Secret, SecretName};
use url::Url;

use super::passed_on::passed_on;
use super::search::usable;
use super::{Opened, minted};
use crate::cloud::Mint;
use crate::cloud::entra::{Entra, ManagedService, PRINT};
use crate::cloud::program::Program;
use crate::oauth::is_private;
use crate::resolve::address::{Base, is_local};
use crate::resolve::error::ResolveError;
use crate::resolve::server::Server;
use crate::resolve::{CloudMachine, Request};
use crate::route::Auth;

const AUTHORITY: Variable = Variable::AZURE_AUTHORITY_HOST;
const USUAL_AUTHORITY: &str = "https://login.microsoftonline.com";
/// Where the service of a virtual machine is, and the variable that moves it.
const MACHINE: Variable = Variable::AZURE_POD_IDENTITY_AUTHORITY_HOST;
const USUAL_MACHINE: &str = "http://169.254.169.254";
const APP: Variable = Variable::IDENTITY_ENDPOINT;
const APP_HEADER: Variable = Variable::IDENTITY_HEADER;
const AZ: &str = "az";
const TENANT: Variable = Variable::AZURE_TENANT_ID;
const CLIENT: Variable = Variable::AZURE_CLIENT_ID;
const SECRET: Variable = Variable::AZURE_CLIENT_SECRET;
const TOKEN_FILE: Variable = Variable::AZURE_FEDERATED_TOKEN_FILE;

/// What opens Azure when `model.auth_mode` is `entra_id`.
pub(super) fn open(
    request: &Request<'_>,
    server: &Server<'_>,
    base: &Base,
) -> Result<Opened, ResolveError> {
    let text = |variable: &Variable| request.variable(variable).map(str::to_owned);
    let (tenant, client) = (text(&TENANT), text(&CLIENT));
    let (identity, from) = match (tenant, client) {
        (Some(tenant), Some(client)) if request.variable(&SECRET).and_then(usable).is_some() => {
            let authority = authority(request)?;
            let identity = Entra::Application {
                secret: bound(request, &SECRET, &authority.join(""))?,
                authority,
                tenant,
                client,
            };
            (identity, Some(SECRET))
        }
        (Some(tenant), Some(client)) if request.variable(&TOKEN_FILE).is_some() => {
            let identity = Entra::Workload {
                authority: authority(request)?,
                tenant,
                client,
                token: text(&TOKEN_FILE).unwrap_or_default().into(),
            };
            (identity, Some(TOKEN_FILE))
        }
        (_, client) => match az(request) {
            Some(az) if !has_identity(request) => (Entra::CommandLine(az), None),
            az => (managed(request, client, az)?, Some(CLIENT)),
        },
    };
    let from = match from {
        None => "the sign-in of az".to_owned(),
        Some(from) if request.variable(&from).is_some() => request.variable_origin(from.name),
        Some(_) => "the identity of this machine".to_owned(),
    };
    minted(Mint::entra(identity), Auth::Bearer, &from, server, base)
}

/// Azure's own program, which knows who signed in with it.
fn az(request: &Request<'_>) -> Option<Program> {
    Program::installed(AZ, &PRINT, passed_on(request, None))
}

/// Whether there is reason to believe that the machine or the app has an identity, which is asked first.
fn has_identity(request: &Request<'_>) -> bool {
    request.machine == Some(CloudMachine::Azure)
        || [APP, MACHINE, CLIENT]
            .iter()
            .any(|variable| request.variable(variable).is_some())
}

fn managed(
    request: &Request<'_>,
    client: Option<String>,
    otherwise: Option<Program>,
) -> Result<Entra, ResolveError> {
    let service = match request.variable(&APP) {
        Some(endpoint) if request.variable(&APP_HEADER).is_some() => {
            let url = nearby(endpoint, &APP)?;
            ManagedService::App {
                header: bound(request, &APP_HEADER, &url)?,
                endpoint: url,
            }
        }
        Some(_) | None => {
            let host = request.variable(&MACHINE).unwrap_or(USUAL_MACHINE);
            let host = BaseUrl::from(nearby(host, &MACHINE)?);
            ManagedService::Machine(host.join("metadata/identity/oauth2/token"))
        }
    };
    Ok(Entra::Managed {
        service,
        client,
        otherwise,
    })
}

fn authority(request: &Request<'_>) -> Result<BaseUrl, ResolveError> {
    let said = request.variable(&AUTHORITY).unwrap_or(USUAL_AUTHORITY);
    let url = Url::parse(said).ok().filter(is_private);
    url.map(BaseUrl::from)
        .ok_or_else(|| bad(AUTHORITY.name, "it is not an https address"))
}

/// A service of the machine itself; it speaks without encryption, so it must be near.
fn nearby(said: &str, from: &Variable) -> Result<Url, ResolveError> {
    let url = Url::parse(said).ok();
    url.filter(|url| url.scheme() == "https" || is_local(url))
        .ok_or_else(|| bad(from.name, "it is neither https nor on this machine"))
}

fn bad(from: &str, why: &'static str) -> ResolveError {
    ResolveError::BadAddress {
        from: from.to_owned(),
        why,
    }
}

/// The value of a variable for this server only.
fn bound(request: &Request<'_>, variable: &Variable, url: &Url) -> Result<Secret, ResolveError> {
    let name = variable.name;
    let value = request.variable(variable).unwrap_or_default().to_owned();
    let origin = Origin::of(url).map_err(|_| bad(name, "it has no host"))?;
    SecretName::new(name)
        .and_then(|label| Secret::new(label, value, [origin.into()]))
        .map_err(|_| bad(name, "its key cannot be used"))
}
