//! A skill as a place lists it.

use serde::Serialize;

use super::SourceName;
use crate::guard::Trust;
use crate::hub::error::SourceError;
use crate::hub::identifier::Identifier;

/// What is known of a skill before it is fetched. Everything but the trust is the word of a stranger.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Listing {
    pub name: String,
    pub description: String,
    pub source: SourceName,
    #[serde(serialize_with = "as_text")]
    pub identifier: Identifier,
    pub trust: Trust,
    pub tags: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub installs: Option<u64>,
}

/// What a place gave, and which of its parts gave nothing.
#[derive(Debug, Default)]
pub(in crate::hub) struct Harvest {
    pub(in crate::hub) listings: Vec<Listing>,
    pub(in crate::hub) failed: Vec<(String, SourceError)>,
}

impl From<Vec<Listing>> for Harvest {
    fn from(listings: Vec<Listing>) -> Self {
        Self {
            listings,
            failed: Vec::new(),
        }
    }
}

impl FromIterator<Listing> for Harvest {
    fn from_iter<I: IntoIterator<Item = Listing>>(listings: I) -> Self {
        Self::from(listings.into_iter().collect::<Vec<_>>())
    }
}

fn as_text<S: serde::Serializer>(
    identifier: &Identifier,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_str(identifier)
}

/// Whether all words of a query stand in a text about a skill.
pub(in crate::hub) fn matches(words: &[String], texts: &[&str]) -> bool {
    words.iter().all(|word| {
        texts
            .iter()
            .any(|text| text.to_lowercase().contains(word.as_str()))
    })
}
