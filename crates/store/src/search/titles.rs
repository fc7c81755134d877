//! Conversations whose title holds what is searched for.

use super::fold::{Folded, normalize};
use super::query::Query;
use super::rank::{self, Need, Weights};
use crate::record::{SESSION_COLUMNS, Session};
use crate::store::Store;
use crate::worker::Pending;

/// Titles looked at, of those last active.
const MOST_TITLES: u32 = 10_000;

impl Store {
    /// Sessions whose title matches a query, the very title before those that only hold its words, the last
    /// active first.
    pub fn titled(
        &self,
        text: &str,
        hidden_sources: Vec<String>,
        most: usize,
    ) -> Pending<Vec<Session>> {
        let (query, wanted) = (Query::parse(text), folded(text));
        self.read_widely(move |connection| {
            if query.is_empty() {
                return Ok(Vec::new());
            }
            let sql = format!(
                "SELECT {SESSION_COLUMNS} FROM sessions s WHERE s.title IS NOT NULL \
                 ORDER BY s.last_active_at DESC, s.id DESC LIMIT ?"
            );
            let mut statement = connection.prepare_cached(&sql)?;
            let mut rows = statement.query([MOST_TITLES])?;
            let weights = Weights::equal(&query);
            let (mut same, mut others) = (Vec::new(), Vec::new());
            while let Some(row) = rows.next()? {
                let (source, title): (String, String) = (row.get(1)?, row.get(9)?);
                if hidden_sources.contains(&source) {
                    continue;
                }
                let words = Folded::new(&normalize(&title));
                if rank::relevance(&query, &weights, &title, &words, Need::All).is_none() {
                    continue;
                }
                match folded(&title) == wanted {
                    true => same.push(Session::read(row)?),
                    false if others.len() < most => others.push(Session::read(row)?),
                    false => {}
                }
            }
            same.append(&mut others);
            same.truncate(most);
            Ok(same)
        })
    }
}

fn folded(text: &str) -> String {
    let folded = Folded::new(&normalize(text)).text;
    folded.split_whitespace().collect::<Vec<_>>().join(" ")
}
