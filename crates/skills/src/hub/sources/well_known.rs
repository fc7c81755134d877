//! Websites that offer skills at a well-known address.

use futures_core::future::BoxFuture;
use serde::Deserialize;
use serde_json::{Map, json};
use url::Url;

use super::{Common, Harvest, Listing, Source, SourceName, matches, path_of};
use crate::guard::Trust;
use crate::hub::bundle::{Bundle, File, Files, LARGEST_FILE, Origin};
use crate::hub::error::{HubError, SourceError};
use crate::hub::file_path::FilePath;
use crate::hub::identifier::Identifier;
use crate::hub::search::Query;
use crate::hub::web::{Ask, shown};

/// Most bytes of a list.
const LARGEST: usize = 2 * 1024 * 1024;
const DIRECTORY: &str = ".well-known/skills";

pub(super) struct WellKnown {
    common: Common,
}

#[derive(Deserialize)]
struct Index {
    #[serde(default)]
    skills: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    #[serde(default)]
    name: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    files: Vec<String>,
}

impl WellKnown {
    pub(super) fn new(common: Common) -> Self {
        Self { common }
    }

    async fn rows(&self, base: &Url) -> Result<Vec<Row>, SourceError> {
        let url = below(base, "index.json");
        let asked = Ask::json(url, LARGEST);
        let index: Index = self.common.web.json(&asked, "a list of skills").await?;
        Ok(index.skills)
    }

    async fn files(&self, base: &Url, name: &str) -> Result<Files, SourceError> {
        let rows = self.rows(base).await?;
        let row = rows.into_iter().find(|row| row.name == name);
        let row = row.ok_or_else(|| SourceError::NotFound {
            what: format!("{name} in the list of {}", shown(base)),
        })?;
        let mut names = row.files;
        if !names.iter().any(|file| file == "SKILL.md") {
            names.insert(0, "SKILL.md".to_owned());
        }
        names.dedup();
        let mut files = Files::default();
        for file in names {
            let path = FilePath::new(&file).map_err(|fault| SourceError::BadPath {
                entry: file.clone(),
                fault,
            })?;
            let parts = std::iter::once(name).chain(file.split('/'));
            let url = below(base, &path_of(parts));
            let got = self.common.web.get(&Ask::text(url, LARGEST_FILE)).await?;
            let bytes = got.bytes.to_vec();
            let executable = false;
            files.add(path, File { bytes, executable })?;
        }
        Ok(files)
    }
}

/// An address below the directory of skills of a site.
fn below(base: &Url, path: &str) -> Url {
    let mut url = base.clone();
    let before = base.path().trim_end_matches('/');
    url.set_path(&format!("{before}/{DIRECTORY}/{path}"));
    url
}

/// A site that a query names, without what stands behind its own path.
fn site(query: &Query) -> Option<Url> {
    let text = query.text.trim();
    if !text.starts_with("https://") && !text.starts_with("http://") {
        return None;
    }
    let text = text.split("/.well-known/").next().unwrap_or(text);
    let mut url = Url::parse(text.trim_end_matches('/')).ok()?;
    url.set_query(None);
    url.set_fragment(None);
    Some(url)
}

impl Source for WellKnown {
    fn name(&self) -> SourceName {
        SourceName::WellKnown
    }

    /// Only sites that are named are asked: there is no list of all.
    fn search<'a>(&'a self, query: &'a Query) -> BoxFuture<'a, Result<Harvest, SourceError>> {
        Box::pin(async move {
            let Some(base) = site(query) else {
                return Ok(Harvest::default());
            };
            let listings = self.rows(&base).await?.into_iter().filter_map(|row| {
                let text = format!(
                    "well-known:{}/{}",
                    base.as_str().trim_end_matches('/'),
                    row.name
                );
                Some(Listing {
                    identifier: text.parse().ok()?,
                    name: row.name,
                    description: row.description,
                    source: SourceName::WellKnown,
                    trust: Trust::Community,
                    tags: Vec::new(),
                    installs: None,
                })
            });
            let narrowed = |listing: &Listing| {
                matches(&query.narrowing, &[&listing.name, &listing.description])
            };
            Ok(listings.filter(narrowed).collect())
        })
    }

    fn fetch<'a>(&'a self, identifier: &'a Identifier) -> BoxFuture<'a, Result<Bundle, HubError>> {
        Box::pin(async move {
            let failed = HubError::of_source(SourceName::WellKnown, identifier);
            let Identifier::WellKnown { base, name } = identifier else {
                let what = identifier.to_string();
                return Err(failed(SourceError::NotFound { what }));
            };
            let files = self.files(base, name).await.map_err(failed)?;
            let mut metadata = Map::new();
            metadata.insert(
                "index".to_owned(),
                json!(below(base, "index.json").as_str()),
            );
            let origin = Origin {
                source: SourceName::WellKnown,
                identifier: identifier.clone(),
                trust: Trust::Community,
                metadata,
            };
            Bundle::new(origin, files)
        })
    }
}
