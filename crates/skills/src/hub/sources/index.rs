//! One list with the skills of several places, fetched as a whole and kept for hours.

use std::time::Duration;

use futures_core::future::BoxFuture;
use hermes_http::BaseUrl;
use serde::{Deserialize, Serialize};

use super::{Common, Harvest, Listing, Source, SourceName, matches};
use crate::guard::Trust;
use crate::hub::bundle::Bundle;
use crate::hub::error::{HubError, SourceError};
use crate::hub::identifier::Identifier;
use crate::hub::search::Query;
use crate::hub::trust;
use crate::hub::web::Ask;

/// How long the list is used before it is asked for again.
const LIFE: Duration = Duration::from_secs(6 * 3600);
/// What part of a search the list may take: with a third of it the other places still have time.
const SHARE: u32 = 3;
/// Most bytes of the list.
const LARGEST: usize = 15 * 1024 * 1024;
/// Most skills of the list that are kept.
const MOST: usize = 100_000;

pub(super) struct Index {
    common: Common,
    url: BaseUrl,
    /// How long the list is waited for while all other places wait for it.
    patience: Duration,
}

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    skills: Vec<Row>,
}

/// What is kept of a row.
#[derive(Clone, Serialize, Deserialize)]
struct Row {
    #[serde(default)]
    name: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    identifier: String,
    #[serde(default)]
    resolved_github_id: Option<String>,
    #[serde(default)]
    tags: Vec<String>,
}

impl Index {
    /// A search may take so long as a whole.
    pub(super) fn new(common: Common, url: BaseUrl, search: Duration) -> Self {
        Self {
            common,
            url,
            patience: search / SHARE,
        }
    }

    /// The list; an old one when it cannot be fetched in time.
    async fn rows(&self, patience: Duration) -> Result<Vec<Row>, SourceError> {
        let url = self.url.join("");
        let about = format!("hermes-index {url}");
        let state = &self.common.state;
        let kept = state.cached::<Vec<Row>>(&about, LIFE);
        if let Some(kept) = kept.as_ref().filter(|kept| kept.fresh) {
            return Ok(kept.body.clone());
        }
        let asked = Ask::json(url, LARGEST);
        let asking = self.common.web.json::<File>(&asked, "a list of skills");
        let fetched = match tokio::time::timeout(patience, asking).await {
            Ok(fetched) => fetched,
            Err(_) => Err(SourceError::Late(patience)),
        };
        match (fetched, kept) {
            (Ok(mut file), _) => {
                file.skills.truncate(MOST);
                state.keep(&about, &file.skills);
                Ok(file.skills)
            }
            (Err(error), Some(kept)) => {
                tracing::info!("an older list of skills is used: {error}");
                Ok(kept.body)
            }
            (Err(error), None) => Err(error),
        }
    }
}

/// A row as a listing of the place it is from. What cannot be fetched by its identifier is left out; the
/// official skills are those of this version.
fn listing(row: &Row) -> Option<Listing> {
    let identifier: Identifier = row
        .identifier
        .parse()
        .ok()
        .or_else(|| row.resolved_github_id.as_ref()?.parse().ok())?;
    let trust = match &identifier {
        Identifier::Official { .. } | Identifier::Folder { .. } => return None,
        Identifier::Github { repository, .. }
        | Identifier::SkillsSh { repository, .. }
        | Identifier::Marketplace { repository, .. } => trust::of_repository(repository),
        Identifier::WellKnown { .. }
        | Identifier::Url(_)
        | Identifier::Clawhub { .. }
        | Identifier::Lobehub { .. }
        | Identifier::BrowseSh { .. } => Trust::Community,
    };
    Some(Listing {
        name: row.name.clone(),
        description: row.description.clone(),
        source: identifier.source(),
        identifier,
        trust,
        tags: row.tags.clone(),
        installs: None,
    })
}

impl Source for Index {
    fn name(&self) -> SourceName {
        SourceName::HermesIndex
    }

    fn search<'a>(&'a self, query: &'a Query) -> BoxFuture<'a, Result<Harvest, SourceError>> {
        Box::pin(async move {
            // Who asks for this place alone has the whole time for it.
            let patience = match query.source {
                None => self.patience,
                Some(_) => self.patience * SHARE,
            };
            let rows = self.rows(patience).await?;
            let fits = |row: &&Row| {
                let tags = row.tags.join(" ");
                matches(
                    &query.words,
                    &[&row.name, &row.description, &row.identifier, &tags],
                )
            };
            Ok(rows.iter().filter(fits).filter_map(listing).collect())
        })
    }

    fn fetch<'a>(&'a self, identifier: &'a Identifier) -> BoxFuture<'a, Result<Bundle, HubError>> {
        // Its rows name other places, which are asked.
        Box::pin(async move {
            let what = identifier.to_string();
            let error = SourceError::NotFound { what };
            Err(HubError::of_source(SourceName::HermesIndex, identifier)(
                error,
            ))
        })
    }
}
