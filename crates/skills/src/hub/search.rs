//! All places at once.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{self, StreamExt as _};
use tokio::time::Instant;

use super::Hub;
use super::error::{HubError, SourceError};
use super::identifier::Identifier;
use super::sources::{Listing, Source, SourceName};

/// Places that are asked at once.
const AT_ONCE: usize = 8;

/// What is looked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    /// As it was typed.
    pub text: String,
    /// Its words, in lower case.
    pub words: Vec<String>,
    /// The words behind an address that was typed.
    pub narrowing: Vec<String>,
    /// Most skills a service is asked for. A list that is held whole gives all that fit: which of them are the best
    /// is seen when all are there.
    pub limit: usize,
    /// Only this place.
    pub source: Option<SourceName>,
}

impl Query {
    pub fn new(text: &str, source: Option<SourceName>, limit: usize) -> Self {
        let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
        let mut parts = text.split_whitespace();
        let address = parts.next().unwrap_or_default();
        let is_address = address.starts_with("http://") || address.starts_with("https://");
        let (text, narrowing) = if is_address {
            (address, words.iter().skip(1).cloned().collect())
        } else {
            (text, Vec::new())
        };
        Self {
            text: text.to_owned(),
            words,
            narrowing,
            limit,
            source,
        }
    }

    /// How well a name fits: word for word, by all words, or not.
    pub(super) fn fit(&self, name: &str) -> u8 {
        let name = name.to_lowercase();
        if name == self.words.join("-") {
            return 2;
        }
        let all = self.words.iter().all(|word| name.contains(word.as_str()));
        u8::from(all && !self.words.is_empty())
    }

    fn is_address(&self) -> bool {
        self.text.starts_with("http://") || self.text.starts_with("https://")
    }
}

/// What one place said.
#[derive(Debug)]
pub struct Answer {
    pub source: SourceName,
    /// How many it found, or why none.
    pub outcome: Result<usize, SourceError>,
    /// Parts of it that did not answer.
    pub failed: Vec<(String, SourceError)>,
}

/// What was found, the best first.
#[derive(Debug, Default)]
pub struct Found {
    pub listings: Vec<Listing>,
    pub answers: Vec<Answer>,
    /// Places that were not asked, because the list has what they have.
    pub covered: Vec<SourceName>,
}

impl Hub {
    /// Asks all places, or the one that is named. A place that fails is told of and costs nothing else.
    pub async fn search(&self, query: &Query) -> Found {
        let until = Instant::now() + self.settings.search_timeout;
        let mut found = Found::default();
        let mut waiting: Vec<Arc<dyn Source>> = self.sources.all().to_vec();
        match query.source {
            Some(wanted) => waiting.retain(|source| source.name() == wanted),
            None if query.is_address() => waiting
                .retain(|source| matches!(source.name(), SourceName::WellKnown | SourceName::Url)),
            None => {
                self.ask_list_first(query, &mut waiting, &mut found, until)
                    .await
            }
        }
        let answers: Vec<_> = stream::iter(waiting)
            .map(|source| ask(source, query, until, self.settings.search_timeout))
            .buffered(AT_ONCE)
            .collect()
            .await;
        for (listings, answer) in answers {
            found.listings.extend(listings);
            found.answers.push(answer);
        }
        rank(&mut found.listings, query);
        found
    }

    /// The list of many places makes asking them one by one unnecessary.
    async fn ask_list_first(
        &self,
        query: &Query,
        waiting: &mut Vec<Arc<dyn Source>>,
        found: &mut Found,
        until: Instant,
    ) {
        let at = waiting
            .iter()
            .position(|source| source.name() == SourceName::HermesIndex);
        let Some(at) = at else { return };
        let list = waiting.remove(at);
        let (listings, answer) = ask(list, query, until, self.settings.search_timeout).await;
        if answer.outcome.is_ok() {
            let covers = |source: SourceName| match source {
                SourceName::SkillsSh
                | SourceName::Clawhub
                | SourceName::Marketplace
                | SourceName::Lobehub
                | SourceName::BrowseSh => true,
                // The user's own taps are in no list, and the rest asks nobody.
                SourceName::Github
                | SourceName::Official
                | SourceName::HermesIndex
                | SourceName::WellKnown
                | SourceName::Url
                | SourceName::Folder => false,
            };
            found.covered = waiting
                .iter()
                .map(|source| source.name())
                .filter(|name| covers(*name))
                .collect();
            let no_taps = self.taps().is_ok_and(|taps| taps.taps.is_empty());
            if no_taps {
                found.covered.push(SourceName::Github);
            }
            waiting.retain(|source| !found.covered.contains(&source.name()));
        }
        found.listings.extend(listings);
        found.answers.push(answer);
    }

    /// The skill a word means: an identifier as it is, else the one skill of that name.
    pub async fn resolve(&self, text: &str) -> Result<Identifier, HubError> {
        let parsed = text.parse::<Identifier>();
        if text.contains(['/', ':']) || text.trim().is_empty() {
            return parsed;
        }
        let query = Query::new(text, None, 50);
        let found = self.search(&query).await;
        let wanted = text.trim().to_lowercase();
        let is_it = |listing: &&Listing| {
            listing.name.to_lowercase() == wanted
                || listing.identifier.last_part().to_lowercase() == wanted
        };
        let mut exact: Vec<&Listing> = found.listings.iter().filter(is_it).collect();
        // What came with the program is what such a name means first.
        if let Some(first) = exact.first()
            && first.source == SourceName::Official
        {
            return Ok(first.identifier.clone());
        }
        exact.dedup_by(|a, b| a.identifier == b.identifier);
        match exact.as_slice() {
            [one] => Ok(one.identifier.clone()),
            [] => match found
                .answers
                .into_iter()
                .find(|answer| answer.outcome.is_err())
            {
                // It may well be there: a place that could have it did not answer.
                Some(Answer {
                    source,
                    outcome: Err(error),
                    ..
                }) => Err(HubError::Source {
                    source_name: source,
                    identifier: text.to_owned(),
                    source: error,
                }),
                _ => Err(HubError::Unknown {
                    name: text.to_owned(),
                }),
            },
            several => Err(HubError::Ambiguous {
                what: text.to_owned(),
                candidates: several
                    .iter()
                    .take(8)
                    .map(|listing| listing.identifier.to_string())
                    .collect(),
            }),
        }
    }
}

async fn ask(
    source: Arc<dyn Source>,
    query: &Query,
    until: Instant,
    limit: Duration,
) -> (Vec<Listing>, Answer) {
    let asked = tokio::time::timeout_at(until, source.search(query)).await;
    let (listings, outcome, failed) = match asked {
        Ok(Ok(harvest)) => {
            let count = harvest.listings.len();
            (harvest.listings, Ok(count), harvest.failed)
        }
        Ok(Err(error)) => (Vec::new(), Err(error), Vec::new()),
        Err(_) => (Vec::new(), Err(SourceError::Late(limit)), Vec::new()),
    };
    let answer = Answer {
        source: source.name(),
        outcome,
        failed,
    };
    (listings, answer)
}

/// Puts the best first and leaves out what is there twice.
fn rank(listings: &mut Vec<Listing>, query: &Query) {
    listings.sort_by_cached_key(|listing| {
        (
            Reverse(query.fit(&listing.name)),
            listing.trust,
            listing.source,
            Reverse(listing.installs.unwrap_or(0)),
            listing.identifier.to_string(),
        )
    });
    let mut seen = BTreeSet::new();
    listings.retain(|listing| seen.insert(listing.identifier.to_string()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::Trust;

    fn listing(identifier: &str, name: &str, trust: Trust) -> Listing {
        let identifier: Identifier = identifier.parse().unwrap();
        Listing {
            name: name.to_owned(),
            description: String::new(),
            source: identifier.source(),
            identifier,
            trust,
            tags: Vec::new(),
            installs: None,
        }
    }

    #[test]
    fn the_best_comes_first_and_nothing_twice() {
        let mut listings = vec![
            listing("clawhub/pdf-tools", "pdf-tools", Trust::Community),
            listing("a/b/notes", "notes", Trust::Community),
            listing("clawhub/pdf", "pdf", Trust::Community),
            listing("openai/skills/pdf", "pdf", Trust::Trusted),
            listing("clawhub/pdf", "pdf", Trust::Community),
        ];
        rank(&mut listings, &Query::new("PDF", None, 10));
        let order: Vec<String> = listings
            .iter()
            .map(|one| one.identifier.to_string())
            .collect();
        assert_eq!(
            order,
            [
                "openai/skills/pdf",
                "clawhub/pdf",
                "clawhub/pdf-tools",
                "a/b/notes"
            ]
        );
    }

    #[test]
    fn an_address_is_kept_apart_from_the_words_behind_it() {
        let query = Query::new("https://x.test/Docs pdf Tools", None, 5);
        assert_eq!(query.text, "https://x.test/Docs");
        assert_eq!(query.narrowing, ["pdf", "tools"]);
        assert!(query.is_address());
    }
}
