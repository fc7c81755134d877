//! skills.sh: a list of skills whose files are on GitHub.

use std::sync::Arc;

use futures_core::future::BoxFuture;
use hermes_http::BaseUrl;
use serde::Deserialize;

use super::github::Github;
use super::{Common, Harvest, Listing, Source, SourceName};
use crate::hub::bundle::Bundle;
use crate::hub::error::{HubError, SourceError};
use crate::hub::identifier::Identifier;
use crate::hub::search::Query;
use crate::hub::trust;
use crate::hub::web::Ask;

/// Most bytes of an answer.
const LARGEST: usize = 2 * 1024 * 1024;
/// It answers nothing to shorter questions.
const SHORTEST: usize = 2;

pub(super) struct SkillsSh {
    common: Common,
    base: BaseUrl,
    github: Arc<Github>,
}

#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    skills: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    #[serde(default)]
    id: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    installs: Option<u64>,
}

impl SkillsSh {
    pub(super) fn new(common: Common, base: BaseUrl, github: Arc<Github>) -> Self {
        Self {
            common,
            base,
            github,
        }
    }

    async fn rows(&self, query: &Query) -> Result<Vec<Row>, SourceError> {
        let words = query.words.join(" ");
        if words.chars().count() < SHORTEST {
            return Ok(Vec::new());
        }
        let mut url = self.base.join("api/search");
        url.query_pairs_mut()
            .append_pair("q", &words)
            .append_pair("limit", &query.limit.to_string());
        let asked = Ask::json(url, LARGEST);
        let answer: Answer = self.common.web.json(&asked, "a list of skills").await?;
        Ok(answer.skills)
    }
}

impl Source for SkillsSh {
    fn name(&self) -> SourceName {
        SourceName::SkillsSh
    }

    fn search<'a>(&'a self, query: &'a Query) -> BoxFuture<'a, Result<Harvest, SourceError>> {
        Box::pin(async move {
            let rows = self.rows(query).await?;
            let listings = rows.into_iter().filter_map(|row| {
                let identifier: Identifier = format!("skills-sh/{}", row.id).parse().ok()?;
                let Identifier::SkillsSh { repository, skill } = &identifier else {
                    return None;
                };
                let name = if row.name.is_empty() {
                    skill.clone()
                } else {
                    row.name
                };
                Some(Listing {
                    name,
                    description: format!("in {repository}"),
                    source: SourceName::SkillsSh,
                    trust: trust::of_repository(repository),
                    identifier,
                    tags: Vec::new(),
                    installs: row.installs,
                })
            });
            Ok(listings.take(query.limit).collect())
        })
    }

    fn fetch<'a>(&'a self, identifier: &'a Identifier) -> BoxFuture<'a, Result<Bundle, HubError>> {
        Box::pin(async move {
            let Identifier::SkillsSh { repository, skill } = identifier else {
                let what = identifier.to_string();
                let error = SourceError::NotFound { what };
                return Err(HubError::of_source(SourceName::SkillsSh, identifier)(error));
            };
            let found = self
                .github
                .skill(repository, skill, None, identifier)
                .await?;
            found.bundle(SourceName::SkillsSh, identifier.clone())
        })
    }
}
