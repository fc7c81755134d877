//! Repositories that list plugins for Claude; the skills in them are skills here too.

use std::sync::Arc;

use futures_core::future::BoxFuture;
use futures_util::stream::{self, StreamExt as _};
use serde::Deserialize;

use super::github::Github;
use super::{Harvest, Listing, Source, SourceName, matches};
use crate::hub::bundle::Bundle;
use crate::hub::error::{HubError, SourceError};
use crate::hub::identifier::{Identifier, Repository};
use crate::hub::search::Query;
use crate::hub::trust;

const LIST: &str = ".claude-plugin/marketplace.json";
/// Most bytes of a list.
const LARGEST: usize = 4 * 1024 * 1024;
const AT_ONCE: usize = 4;

pub(super) struct Marketplace {
    github: Arc<Github>,
    repositories: Vec<String>,
}

#[derive(Deserialize)]
struct List {
    #[serde(default)]
    plugins: Vec<Plugin>,
}

#[derive(Deserialize)]
struct Plugin {
    #[serde(default)]
    name: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    source: Option<Place>,
    /// Directories of its skills, when it has several.
    #[serde(default)]
    skills: Vec<String>,
}

/// Where a plugin is: a directory of the same repository, or another one.
#[derive(Deserialize)]
#[serde(untagged)]
enum Place {
    Directory(String),
    Elsewhere {
        #[serde(default)]
        repo: Option<String>,
        #[serde(default)]
        path: Option<String>,
    },
}

/// A skill of a plugin, in a repository.
struct Offer {
    name: String,
    description: String,
    repository: Repository,
    path: String,
}

impl Marketplace {
    pub(super) fn new(github: Arc<Github>, repositories: &[String]) -> Self {
        Self {
            github,
            repositories: repositories.to_vec(),
        }
    }

    async fn offers(&self, repository: &Repository) -> Result<Vec<Offer>, SourceError> {
        let got = self.github.file(repository, LIST, None, LARGEST).await?;
        let list: List =
            serde_json::from_slice(&got.bytes).map_err(|source| SourceError::Unexpected {
                expected: "a list of plugins",
                source: Some(source),
            })?;
        Ok(list
            .plugins
            .into_iter()
            .flat_map(|plugin| of_plugin(plugin, repository))
            .collect())
    }
}

fn of_plugin(plugin: Plugin, own: &Repository) -> Vec<Offer> {
    let (repository, directory) = match plugin.source {
        None => (Some(own.clone()), String::new()),
        Some(Place::Directory(directory)) => (Some(own.clone()), clean(&directory)),
        Some(Place::Elsewhere { repo, path }) => (
            repo.and_then(|repo| repo.parse().ok()),
            path.map(|path| clean(&path)).unwrap_or_default(),
        ),
    };
    let Some(repository) = repository else {
        return Vec::new();
    };
    if plugin.skills.is_empty() {
        return vec![Offer {
            name: plugin.name,
            description: plugin.description,
            repository,
            path: directory,
        }];
    }
    plugin
        .skills
        .iter()
        .map(|skill| {
            let path = [directory.as_str(), &clean(skill)]
                .into_iter()
                .filter(|part| !part.is_empty())
                .collect::<Vec<_>>()
                .join("/");
            Offer {
                name: path.rsplit('/').next().unwrap_or_default().to_owned(),
                description: plugin.description.clone(),
                repository: repository.clone(),
                path,
            }
        })
        .collect()
}

fn clean(path: &str) -> String {
    path.trim_start_matches("./").trim_matches('/').to_owned()
}

impl Source for Marketplace {
    fn name(&self) -> SourceName {
        SourceName::Marketplace
    }

    fn search<'a>(&'a self, query: &'a Query) -> BoxFuture<'a, Result<Harvest, SourceError>> {
        Box::pin(async move {
            let asked = stream::iter(self.repositories.clone()).map(|repo| async move {
                let offers = match repo.parse::<Repository>() {
                    Ok(repository) => self.offers(&repository).await,
                    Err(_) => Err(SourceError::NotFound { what: repo.clone() }),
                };
                (repo, offers)
            });
            let answers: Vec<_> = asked.buffered(AT_ONCE).collect().await;
            let mut harvest = Harvest::default();
            for (repo, offers) in answers {
                match offers {
                    Ok(offers) => {
                        let found = offers
                            .into_iter()
                            .filter_map(|offer| listing(offer, &repo, query));
                        harvest.listings.extend(found);
                    }
                    Err(error) => harvest.failed.push((repo, error)),
                }
            }
            Ok(harvest)
        })
    }

    fn fetch<'a>(&'a self, identifier: &'a Identifier) -> BoxFuture<'a, Result<Bundle, HubError>> {
        Box::pin(async move {
            let failed = |error| HubError::of_source(SourceName::Marketplace, identifier)(error);
            let Identifier::Marketplace { repository, plugin } = identifier else {
                let what = identifier.to_string();
                return Err(failed(SourceError::NotFound { what }));
            };
            let offers = self.offers(repository).await.map_err(failed)?;
            let offer = offers.iter().find(|offer| offer.name == *plugin);
            let offer = offer.ok_or_else(|| {
                let what = format!("{plugin} in the list of {repository}");
                failed(SourceError::NotFound { what })
            })?;
            let found = self
                .github
                .skill_below(&offer.repository, &offer.path, &offer.name, identifier)
                .await?;
            found.bundle(SourceName::Marketplace, identifier.clone())
        })
    }
}

fn listing(offer: Offer, repo: &str, query: &Query) -> Option<Listing> {
    if !matches(&query.words, &[&offer.name, &offer.description]) {
        return None;
    }
    let identifier = format!("claude-marketplace/{repo}/{}", offer.name);
    Some(Listing {
        identifier: identifier.parse().ok()?,
        name: offer.name,
        description: offer.description,
        source: SourceName::Marketplace,
        trust: trust::of_repository(&offer.repository),
        tags: Vec::new(),
        installs: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plugins_offer_their_skills_wherever_they_are() {
        let list: List = serde_json::from_str(
            r#"{"plugins": [
                {"name": "docs", "source": "./", "skills": ["./skills/pdf", "./skills/docx"]},
                {"name": "one", "source": "./plugins/one", "description": "d"},
                {"name": "far", "source": {"source": "github", "repo": "x/y"}},
                {"name": "git", "source": {"source": "url", "url": "https://x.test/r.git"}}
            ]}"#,
        )
        .unwrap();
        let own: Repository = "a/b".parse().unwrap();
        let offers: Vec<String> = list
            .plugins
            .into_iter()
            .flat_map(|plugin| of_plugin(plugin, &own))
            .map(|offer| format!("{} {}:{}", offer.name, offer.repository, offer.path))
            .collect();
        assert_eq!(
            offers,
            [
                "pdf a/b:skills/pdf",
                "docx a/b:skills/docx",
                "one a/b:plugins/one",
                "far x/y:"
            ]
        );
    }
}
