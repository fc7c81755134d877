//! browse.sh: how to use single websites with a browser.

use futures_core::future::BoxFuture;
use hermes_http::BaseUrl;
use serde::{Deserialize, Serialize};
use serde_json::{Map, json};
use url::Url;

use super::{Common, Harvest, Listing, Source, SourceName, matches, path_of};
use crate::guard::Trust;
use crate::hub::bundle::{Bundle, File, Files, LARGEST_FILE, Origin};
use crate::hub::error::{HubError, SourceError};
use crate::hub::file_path::FilePath;
use crate::hub::identifier::Identifier;
use crate::hub::search::Query;
use crate::hub::web::Ask;

/// Most bytes of the list.
const LARGEST: usize = 8 * 1024 * 1024;

pub(super) struct BrowseSh {
    common: Common,
    base: BaseUrl,
}

#[derive(Deserialize)]
struct Catalog {
    #[serde(default)]
    skills: Vec<Row>,
}

#[derive(Clone, Serialize, Deserialize)]
struct Row {
    #[serde(default)]
    slug: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    title: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    tags: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Detail {
    /// The text itself, or where it is.
    #[serde(default)]
    skill_md: Option<String>,
    #[serde(default)]
    skill_md_url: Option<String>,
}

impl BrowseSh {
    pub(super) fn new(common: Common, base: BaseUrl) -> Self {
        Self { common, base }
    }

    async fn rows(&self) -> Result<Vec<Row>, SourceError> {
        let url = self.base.join("api/skills");
        let about = format!("browse-sh {url}");
        let state = &self.common.state;
        if let Some(kept) = state.cached::<Vec<Row>>(&about, self.common.life)
            && kept.fresh
        {
            return Ok(kept.body);
        }
        let asked = Ask::json(url, LARGEST);
        let catalog: Catalog = self.common.web.json(&asked, "a list of skills").await?;
        state.keep(&about, &catalog.skills);
        Ok(catalog.skills)
    }

    async fn text(&self, slug: &str) -> Result<Vec<u8>, SourceError> {
        let path = path_of(["api", "skills"].into_iter().chain(slug.split('/')));
        let asked = Ask::json(self.base.join(&path), LARGEST_FILE);
        let detail: Detail = self.common.web.json(&asked, "a skill").await?;
        match (detail.skill_md_url, detail.skill_md) {
            (Some(address), _) => {
                let url: Url = address.parse().map_err(|_| SourceError::NotAnAddress {
                    url: address.clone(),
                })?;
                let got = self.common.web.get(&Ask::text(url, LARGEST_FILE)).await?;
                Ok(got.bytes.to_vec())
            }
            (None, Some(text)) => Ok(text.into_bytes()),
            (None, None) => Err(SourceError::Unexpected {
                expected: "a skill",
                source: None,
            }),
        }
    }
}

impl Source for BrowseSh {
    fn name(&self) -> SourceName {
        SourceName::BrowseSh
    }

    fn search<'a>(&'a self, query: &'a Query) -> BoxFuture<'a, Result<Harvest, SourceError>> {
        Box::pin(async move {
            let rows = self.rows().await?;
            let listings = rows.into_iter().filter_map(|row| {
                let texts = [
                    row.slug.as_str(),
                    &row.name,
                    &row.title,
                    &row.description,
                    &row.tags.join(" "),
                ];
                if !matches(&query.words, &texts) {
                    return None;
                }
                let identifier: Identifier = format!("browse-sh/{}", row.slug).parse().ok()?;
                let name = match row.name {
                    name if name.is_empty() => identifier.last_part().to_owned(),
                    name => name,
                };
                Some(Listing {
                    name,
                    description: row.description,
                    source: SourceName::BrowseSh,
                    identifier,
                    trust: Trust::Community,
                    tags: row.tags,
                    installs: None,
                })
            });
            Ok(listings.collect())
        })
    }

    fn fetch<'a>(&'a self, identifier: &'a Identifier) -> BoxFuture<'a, Result<Bundle, HubError>> {
        Box::pin(async move {
            let failed = |error| HubError::of_source(SourceName::BrowseSh, identifier)(error);
            let Identifier::BrowseSh { slug } = identifier else {
                let what = identifier.to_string();
                return Err(failed(SourceError::NotFound { what }));
            };
            let bytes = self.text(slug).await.map_err(failed)?;
            let executable = false;
            let mut files = Files::default();
            files
                .add(FilePath::skill(), File { bytes, executable })
                .map_err(failed)?;
            let mut metadata = Map::new();
            metadata.insert("slug".to_owned(), json!(slug));
            let origin = Origin {
                source: SourceName::BrowseSh,
                identifier: identifier.clone(),
                trust: Trust::Community,
                metadata,
            };
            Bundle::new(origin, files)
        })
    }
}
