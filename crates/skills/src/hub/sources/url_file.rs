//! A single Markdown file at an address.

use futures_core::future::BoxFuture;
use serde_json::{Map, json};

use super::{Common, Harvest, Listing, Source, SourceName};
use crate::guard::Trust;
use crate::hub::bundle::{Bundle, File, Files, LARGEST_FILE, Origin};
use crate::hub::error::{HubError, SourceError};
use crate::hub::file_path::FilePath;
use crate::hub::identifier::Identifier;
use crate::hub::search::Query;
use crate::hub::web::{Ask, shown};

pub(super) struct UrlFile {
    common: Common,
}

impl UrlFile {
    pub(super) fn new(common: Common) -> Self {
        Self { common }
    }
}

impl Source for UrlFile {
    fn name(&self) -> SourceName {
        SourceName::Url
    }

    /// An address lists nothing; one that is a skill's is its own answer.
    fn search<'a>(&'a self, query: &'a Query) -> BoxFuture<'a, Result<Harvest, SourceError>> {
        Box::pin(async move {
            let identifier = query.text.trim().parse();
            let Ok(identifier @ Identifier::Url(_)) = identifier else {
                return Ok(Harvest::default());
            };
            Ok(Harvest::from(vec![Listing {
                name: identifier.last_part().to_owned(),
                description: String::new(),
                source: SourceName::Url,
                identifier,
                trust: Trust::Community,
                tags: Vec::new(),
                installs: None,
            }]))
        })
    }

    fn fetch<'a>(&'a self, identifier: &'a Identifier) -> BoxFuture<'a, Result<Bundle, HubError>> {
        Box::pin(async move {
            let failed = HubError::of_source(SourceName::Url, identifier);
            let Identifier::Url(url) = identifier else {
                let what = identifier.to_string();
                return Err(failed(SourceError::NotFound { what }));
            };
            let asked = Ask::text(url.clone(), LARGEST_FILE);
            let got = match self.common.web.get(&asked).await {
                Ok(got) => got,
                Err(error) => return Err(failed(error)),
            };
            // A page about a skill is not the skill.
            let start = String::from_utf8_lossy(&got.bytes);
            if start.trim_start().starts_with('<') {
                let expected = "a Markdown file";
                let source = None;
                return Err(failed(SourceError::Unexpected { expected, source }));
            }
            let file = File {
                bytes: got.bytes.to_vec(),
                executable: false,
            };
            let mut files = Files::default();
            files.add(FilePath::skill(), file).map_err(failed)?;
            let mut metadata = Map::new();
            metadata.insert("url".to_owned(), json!(shown(url)));
            let origin = Origin {
                source: SourceName::Url,
                identifier: identifier.clone(),
                trust: Trust::Community,
                metadata,
            };
            Bundle::new(origin, files)
        })
    }
}
