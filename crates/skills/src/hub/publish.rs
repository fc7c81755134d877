//! Giving a skill to others.

mod clawhub;
mod pull_request;

use std::path::Path;

use hermes_http::BaseUrl;
use hermes_secrets::{Secret, SecretName};

use super::Hub;
use super::bundle::{Bundle, Origin};
use super::error::{HubError, SourceError};
use super::identifier::{Identifier, Repository};
use super::ignore;
use super::shelf;
use super::sources::SourceName;
use crate::guard::Trust;

/// Where a skill goes.
#[derive(Debug, Clone)]
pub enum Target {
    /// As a pull request for a repository.
    Github { repository: Repository },
    /// As a version on ClawHub.
    Clawhub { token: String, version: String },
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Published {
    /// Where it can be seen.
    pub address: String,
}

impl Hub {
    /// Reads a skill from a directory, as others would get it.
    pub fn read(&self, directory: &Path) -> Result<Bundle, HubError> {
        let shown = directory.display().to_string();
        let name = directory.file_name().unwrap_or_default().to_string_lossy();
        let identifier = Identifier::Official {
            path: name.into_owned(),
        };
        let files = shelf::read_directory(directory).map_err(|source| HubError::Source {
            source_name: SourceName::Folder,
            identifier: shown,
            source,
        })?;
        let origin = Origin {
            source: SourceName::Official,
            identifier,
            trust: Trust::Community,
            metadata: serde_json::Map::new(),
        };
        ignore::apply(Bundle::new(origin, files)?)
    }

    /// Sends a skill to where others find it.
    pub async fn publish(&self, bundle: &Bundle, target: &Target) -> Result<Published, HubError> {
        let (place, sent) = match target {
            Target::Github { repository } => {
                let github = self.sources.github();
                let key = github.key().await;
                let key = key.map_err(|source| not_taken(SourceName::Github, bundle, source))?;
                let key = key.ok_or(HubError::NeedsKey {
                    variable: "GITHUB_TOKEN",
                })?;
                let sent = pull_request::open(github, key, bundle, repository);
                (SourceName::Github, sent.await)
            }
            Target::Clawhub { token, version } => {
                let base: BaseUrl =
                    self.settings
                        .clawhub_url
                        .parse()
                        .map_err(|_| HubError::BadSetting {
                            setting: "skills.hub.clawhub_url",
                        })?;
                let token = bound(token, &base)?;
                let web = self.sources.github().web();
                let sent = clawhub::upload(web, &base, &token, bundle, version);
                (SourceName::Clawhub, sent.await)
            }
        };
        sent.map_err(|source| not_taken(place, bundle, source))
    }
}

fn not_taken(source_name: SourceName, bundle: &Bundle, source: SourceError) -> HubError {
    HubError::NotTaken {
        source_name,
        name: bundle.name.to_string(),
        source,
    }
}

fn bound(token: &str, base: &BaseUrl) -> Result<Secret, HubError> {
    let needed = HubError::NeedsKey {
        variable: "CLAWHUB_TOKEN",
    };
    let secret = SecretName::new("CLAWHUB_TOKEN").and_then(|name| {
        let origins = base.origin().ok().map(Into::into);
        Secret::new(name, token.to_owned(), origins)
    });
    secret.map_err(|_| needed)
}
