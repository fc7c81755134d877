//! Tokens of Google Cloud: made out of the file that a variable names, or that `gcloud` keeps, else by the
//! metadata server of the machine.

use std::path::PathBuf;

use hermes_config::Variable;
use hermes_http::BaseUrl;
use url::Url;

use super::{Opened, minted};
use crate::cloud::Mint;
use crate::cloud::google::{Google, Project};
use crate::resolve::address::{Base, is_local};
use crate::resolve::error::ResolveError;
use crate::resolve::server::Server;
use crate::resolve::{CloudMachine, Request};
use crate::route::{Auth, PROJECT};

/// Variables that name a file of credentials, best first.
const FILES: [Variable; 2] = [
    Variable::VERTEX_CREDENTIALS_PATH,
    Variable::GOOGLE_APPLICATION_CREDENTIALS,
];
/// What `gcloud auth application-default login` writes.
const KEPT: &str = "application_default_credentials.json";
/// Where the metadata server is, and the variable that moves it.
const METADATA: Variable = Variable::GCE_METADATA_HOST;
const USUAL: &str = "169.254.169.254";
const NAME: &str = "metadata.google.internal";

/// The file that tokens are made out of, and who named it. One that `gcloud` keeps counts when it is there.
pub(in crate::resolve) fn file(request: &Request<'_>) -> Option<(PathBuf, String)> {
    let named = FILES.iter().find_map(|variable| {
        let path = request.variable(variable)?;
        Some((PathBuf::from(path), request.variable_origin(variable.name)))
    });
    named.or_else(|| {
        let folder = request.own_file(&Variable::CLOUDSDK_CONFIG, ".config/gcloud")?;
        let kept = folder.join(KEPT);
        let from = kept.display().to_string();
        kept.is_file().then_some((kept, from))
    })
}

/// What opens Vertex AI.
pub(super) fn open(
    request: &Request<'_>,
    server: &Server<'_>,
    base: &Base,
) -> Result<Opened, ResolveError> {
    // Where a project belongs and none is known.
    let open = base.url.path().contains(PROJECT);
    let (account, from) = match (file(request), machine(request)?) {
        (Some(_), _) if open => return Err(ResolveError::NoProject),
        (Some((file, from)), _) => (Google::File(file), from),
        (None, Some((service, from))) => {
            // The metadata server knows its own project; it is asked when a token is made.
            let project = match open {
                true => Project::Asked,
                false => Project::Known,
            };
            (Google::Machine { service, project }, from)
        }
        (None, None) => {
            return Err(ResolveError::MissingKey {
                name: server.name.clone(),
                variables: FILES.map(|variable| variable.name.to_owned()).to_vec(),
                signup: server.profile.signup.clone(),
            });
        }
    };
    minted(Mint::google(account), Auth::Bearer, &from, server, base)
}

/// What speaks for the account of the machine, where there is reason to believe that it has one.
fn machine(request: &Request<'_>) -> Result<Option<(BaseUrl, String)>, ResolveError> {
    let moved = request.variable(&METADATA);
    if moved.is_none() && request.machine != Some(CloudMachine::Google) {
        return Ok(None);
    }
    // The variable has no scheme, and may hold the name that only machines of Google can look up.
    let host = moved.filter(|host| *host != NAME).unwrap_or(USUAL);
    let url = Url::parse(&format!("http://{host}")).ok();
    let url = url.filter(is_local).ok_or(ResolveError::BadAddress {
        from: METADATA.name.to_owned(),
        why: "it is not on this machine",
    })?;
    let from = match moved {
        Some(_) => request.variable_origin(METADATA.name),
        None => "the account of this machine".to_owned(),
    };
    Ok(Some((BaseUrl::from(url), from)))
}
