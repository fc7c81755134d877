//! What a search answers.

use std::ops::Deref;

use hermes_core::{MessageId, SessionId};

/// How results are sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SearchOrder {
    /// Best first.
    #[default]
    Relevance,
    /// Newest first.
    Newest,
    /// Oldest first.
    Oldest,
}

/// A message that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    pub session: SessionId,
    pub message: MessageId,
    pub role: String,
    pub snippet: String,
    pub score: f64,
    pub title: Option<String>,
    pub source: String,
    pub tool_name: Option<String>,
    pub timestamp: f64,
    pub started_at: f64,
}

/// What a search found, in the order that was asked for.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Hits {
    pub hits: Vec<Hit>,
    /// Fewer were found than asked for, and the rest of the messages was not looked at because too
    /// many that were looked at did not match.
    pub stopped_early: bool,
}

impl Deref for Hits {
    type Target = [Hit];

    fn deref(&self) -> &[Hit] {
        &self.hits
    }
}

impl IntoIterator for Hits {
    type Item = Hit;
    type IntoIter = std::vec::IntoIter<Hit>;

    fn into_iter(self) -> Self::IntoIter {
        self.hits.into_iter()
    }
}
