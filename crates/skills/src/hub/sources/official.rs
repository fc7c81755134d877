//! The shelf of official skills that are not installed from the start.

use futures_core::future::BoxFuture;
use serde_json::{Map, json};

use super::{Harvest, Listing, Source, SourceName, matches};
use crate::guard::Trust;
use crate::hub::bundle::{Bundle, Origin};
use crate::hub::error::{HubError, SourceError};
use crate::hub::identifier::Identifier;
use crate::hub::search::Query;
use crate::hub::shelf::Shelf;
use crate::skill::Skill;

pub(super) struct Official {
    shelf: Shelf,
}

impl Official {
    pub(super) fn new(shelf: Shelf) -> Self {
        Self { shelf }
    }

    fn listings(&self, query: &Query) -> Vec<Listing> {
        self.shelf
            .list()
            .into_iter()
            .filter_map(|shelved| {
                let name = shelved.path.rsplit('/').next()?.to_owned();
                let skill = Skill::parse(&shelved.text, &name);
                let texts = [&shelved.path, &skill.description, &skill.tags.join(" ")];
                matches(&query.words, &texts.map(String::as_str)).then_some(Listing {
                    name: skill.name,
                    description: skill.description,
                    source: SourceName::Official,
                    identifier: Identifier::Official { path: shelved.path },
                    trust: Trust::Builtin,
                    tags: skill.tags,
                    installs: None,
                })
            })
            .collect()
    }
}

impl Source for Official {
    fn name(&self) -> SourceName {
        SourceName::Official
    }

    fn search<'a>(&'a self, query: &'a Query) -> BoxFuture<'a, Result<Harvest, SourceError>> {
        Box::pin(async move { Ok(self.listings(query).into()) })
    }

    fn fetch<'a>(&'a self, identifier: &'a Identifier) -> BoxFuture<'a, Result<Bundle, HubError>> {
        Box::pin(async move {
            let failed = HubError::of_source(SourceName::Official, identifier);
            let Identifier::Official { path } = identifier else {
                return Err(failed(SourceError::NotFound {
                    what: identifier.to_string(),
                }));
            };
            let (path, files) = self.shelf.take(path).map_err(failed)?;
            let mut metadata = Map::new();
            metadata.insert("path".to_owned(), json!(path));
            let origin = Origin {
                source: SourceName::Official,
                identifier: Identifier::Official { path },
                trust: Trust::Builtin,
                metadata,
            };
            Bundle::new(origin, files)
        })
    }
}
