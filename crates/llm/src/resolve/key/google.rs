//! Tokens of Google Cloud: made out of the file that a variable names, or that `gcloud` keeps.

use std::path::PathBuf;

use super::{Opened, minted};
use crate::cloud::Mint;
use crate::cloud::google::Google;
use crate::resolve::Request;
use crate::resolve::address::{Base, vertex_project};
use crate::resolve::error::ResolveError;
use crate::resolve::server::Server;
use crate::route::Auth;

/// Variables that name a file of credentials, best first.
const FILES: [&str; 2] = ["VERTEX_CREDENTIALS_PATH", "GOOGLE_APPLICATION_CREDENTIALS"];
/// What `gcloud auth application-default login` writes.
const KEPT: &str = "application_default_credentials.json";

/// The file that tokens are made out of, and who named it. One that `gcloud` keeps counts when it is there.
pub(in crate::resolve) fn file(request: &Request<'_>) -> Option<(PathBuf, String)> {
    let named = FILES.iter().find_map(|name| {
        let path = request.variable(name)?;
        Some((PathBuf::from(path), request.variable_origin(name)))
    });
    named.or_else(|| {
        let folder = request.own_file("CLOUDSDK_CONFIG", ".config/gcloud")?;
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
    let Some((file, from)) = file(request) else {
        return Err(ResolveError::MissingKey {
            name: server.name.clone(),
            variables: FILES.map(str::to_owned).to_vec(),
            signup: server.profile.signup.clone(),
        });
    };
    if base.url.path().contains("%7Bproject%7D") && vertex_project(request).is_none() {
        return Err(ResolveError::NoProject);
    }
    minted(
        Mint::google(Google { file }),
        Auth::Bearer,
        &from,
        server,
        base,
    )
}
