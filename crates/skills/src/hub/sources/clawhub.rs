//! ClawHub: skills with versions, packed as zip files.

use futures_core::future::BoxFuture;
use hermes_http::BaseUrl;
use serde::Deserialize;
use serde_json::{Map, json};

use super::{Common, Harvest, Listing, Source, SourceName, path_of};
use crate::guard::Trust;
use crate::hub::archive;
use crate::hub::bundle::{Bundle, LARGEST_TOTAL, Origin};
use crate::hub::error::{HubError, SourceError};
use crate::hub::identifier::Identifier;
use crate::hub::search::Query;
use crate::hub::web::Ask;

/// Most bytes of a list.
const LARGEST: usize = 2 * 1024 * 1024;

pub(super) struct Clawhub {
    common: Common,
    base: BaseUrl,
}

/// A row, of a search or of the whole list.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    #[serde(default)]
    slug: String,
    #[serde(default)]
    display_name: Option<String>,
    #[serde(default)]
    summary: Option<String>,
    #[serde(default)]
    stats: Option<Stats>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Stats {
    #[serde(default)]
    downloads: Option<u64>,
}

#[derive(Deserialize)]
struct Rows {
    #[serde(default, alias = "items", alias = "skills")]
    results: Vec<Row>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Detail {
    #[serde(default)]
    latest_version: Option<Version>,
    #[serde(default)]
    owner: Option<Owner>,
}

#[derive(Deserialize)]
struct Owner {
    #[serde(default)]
    handle: Option<String>,
}

#[derive(Deserialize)]
struct Version {
    version: String,
}

#[derive(Deserialize)]
struct Versions {
    #[serde(default)]
    items: Vec<Version>,
}

impl Clawhub {
    pub(super) fn new(common: Common, base: BaseUrl) -> Self {
        Self { common, base }
    }

    async fn rows(&self, query: &Query) -> Result<Vec<Row>, SourceError> {
        let words = query.words.join(" ");
        let mut url = match words.as_str() {
            "" => self.base.join("skills"),
            _ => self.base.join("search"),
        };
        if !words.is_empty() {
            url.query_pairs_mut().append_pair("q", &words);
        }
        let limit = query.limit.min(200).to_string();
        url.query_pairs_mut().append_pair("limit", &limit);
        let asked = Ask::json(url, LARGEST);
        let rows: Rows = self.common.web.json(&asked, "a list of skills").await?;
        Ok(rows.results)
    }

    /// The newest version and who published it.
    async fn newest(&self, slug: &str) -> Result<(String, Option<String>), SourceError> {
        let path = path_of(["skills"].into_iter().chain(slug.split('/')));
        let asked = Ask::json(self.base.join(&path), LARGEST);
        let detail: Detail = self.common.web.json(&asked, "a skill").await?;
        let owner = detail.owner.and_then(|owner| owner.handle);
        if let Some(newest) = detail.latest_version {
            return Ok((newest.version, owner));
        }
        let asked = Ask::json(self.base.join(&format!("{path}/versions")), LARGEST);
        let versions: Versions = self.common.web.json(&asked, "a list of versions").await?;
        let newest = versions.items.into_iter().next();
        let newest = newest.ok_or_else(|| SourceError::NotFound {
            what: format!("a version of {slug}"),
        })?;
        Ok((newest.version, owner))
    }

    async fn bundle(&self, slug: &str, identifier: &Identifier) -> Result<Bundle, HubError> {
        let failed = |error| HubError::of_source(SourceName::Clawhub, identifier)(error);
        let (version, owner) = self.newest(slug).await.map_err(failed)?;
        let mut url = self.base.join("download");
        url.query_pairs_mut()
            .append_pair("slug", slug)
            .append_pair("version", &version);
        let asked = Ask {
            url,
            accept: "application/zip, application/octet-stream",
            key: None,
            limit: LARGEST_TOTAL,
        };
        let got = self.common.web.get(&asked).await.map_err(failed)?;
        let mut files = archive::unzip(&got.bytes).map_err(failed)?;
        // What the hub itself writes into every archive is not the author's.
        files.retain(|path| path.as_str() != "_meta.json");
        let mut metadata = Map::new();
        metadata.insert("version".to_owned(), json!(version));
        if let Some(owner) = owner {
            metadata.insert("owner".to_owned(), json!(owner));
        }
        let origin = Origin {
            source: SourceName::Clawhub,
            identifier: identifier.clone(),
            trust: Trust::Community,
            metadata,
        };
        Bundle::new(origin, files)
    }
}

impl Source for Clawhub {
    fn name(&self) -> SourceName {
        SourceName::Clawhub
    }

    fn search<'a>(&'a self, query: &'a Query) -> BoxFuture<'a, Result<Harvest, SourceError>> {
        Box::pin(async move {
            let rows = self.rows(query).await?;
            let listings = rows.into_iter().filter_map(|row| {
                Some(Listing {
                    identifier: format!("clawhub/{}", row.slug).parse().ok()?,
                    name: row.slug,
                    description: row.summary.or(row.display_name).unwrap_or_default(),
                    source: SourceName::Clawhub,
                    trust: Trust::Community,
                    tags: Vec::new(),
                    installs: row.stats.and_then(|stats| stats.downloads),
                })
            });
            Ok(listings.take(query.limit).collect())
        })
    }

    fn fetch<'a>(&'a self, identifier: &'a Identifier) -> BoxFuture<'a, Result<Bundle, HubError>> {
        Box::pin(async move {
            match identifier {
                Identifier::Clawhub { slug } => self.bundle(slug, identifier).await,
                _ => {
                    let what = identifier.to_string();
                    let error = SourceError::NotFound { what };
                    Err(HubError::of_source(SourceName::Clawhub, identifier)(error))
                }
            }
        })
    }
}
