//! Messages that mean something alike, by their vectors.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use hermes_core::MessageId;
use rusqlite::types::{Value as Sql, ValueRef};
use rusqlite::{Connection, params_from_iter};

use super::filter::SearchFilter;
use super::hit::{Hit, Hits};
use super::query::Query;
use super::run::VISIBLE;
use super::vector::likeness;
use super::{snippet, terms};
use crate::error::StoreError;
use crate::lineage::session_id;
use crate::store::Store;
use crate::worker::Pending;

/// Vectors compared at most, newest first: about two hundred megabytes with a usual model.
const MOST_COMPARED: usize = 200_000;
/// The likest that are looked up, before the filter narrows them.
const MOST_CANDIDATES: usize = 1_000;
/// Less than this is chance.
const LEAST_ALIKE: f32 = 0.25;

impl Store {
    /// Finds messages whose vectors of a model point where `vector` points, the likest first. `text` is what the
    /// vector was made of; its words are marked where they occur.
    pub fn search_alike(
        &self,
        model: &str,
        vector: Vec<f32>,
        text: &str,
        filter: SearchFilter,
        limit: usize,
    ) -> Pending<Hits> {
        let (model, query) = (model.to_owned(), Query::parse(text));
        self.read_widely(move |connection| {
            let (likest, all) = likest(connection, &model, &vector)?;
            let hits = shown(connection, likest, &filter, &query, limit)?;
            Ok(Hits {
                stopped_early: !all && hits.len() < limit,
                hits,
            })
        })
    }
}

/// A message and how alike it is, ordered by that.
#[derive(PartialEq)]
struct Candidate {
    likeness: f32,
    message: i64,
}

impl Eq for Candidate {}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let likeness = self.likeness.total_cmp(&other.likeness);
        likeness.then(self.message.cmp(&other.message))
    }
}

/// The likest messages, best first, and whether all vectors were compared.
fn likest(
    connection: &Connection,
    model: &str,
    vector: &[f32],
) -> Result<(Vec<Candidate>, bool), StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT message_id, vector FROM embeddings WHERE model = ? ORDER BY message_id DESC",
    )?;
    let mut rows = statement.query([model])?;
    let mut best: BinaryHeap<Reverse<Candidate>> = BinaryHeap::new();
    let mut compared = 0;
    while let Some(row) = rows.next()? {
        if compared >= MOST_COMPARED {
            return Ok((sorted(best), false));
        }
        compared += 1;
        let ValueRef::Blob(stored) = row.get_ref(1)? else {
            continue;
        };
        let likeness = likeness(vector, stored);
        if likeness < LEAST_ALIKE {
            continue;
        }
        best.push(Reverse(Candidate {
            likeness,
            message: row.get(0)?,
        }));
        if best.len() > MOST_CANDIDATES {
            best.pop();
        }
    }
    Ok((sorted(best), true))
}

fn sorted(best: BinaryHeap<Reverse<Candidate>>) -> Vec<Candidate> {
    let sorted = best.into_sorted_vec().into_iter();
    sorted.map(|Reverse(candidate)| candidate).collect()
}

fn shown(
    connection: &Connection,
    likest: Vec<Candidate>,
    filter: &SearchFilter,
    query: &Query,
    limit: usize,
) -> Result<Vec<Hit>, StoreError> {
    let (conditions, values) = filter.conditions();
    let sql = format!(
        "SELECT m.session_id, m.role, coalesce(m.content, ''), m.tool_name, m.timestamp, s.source, s.title, \
         s.started_at FROM messages m JOIN sessions s ON s.id = m.session_id WHERE m.id = ? {VISIBLE}{conditions}"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut hits = Vec::new();
    for candidate in likest {
        if hits.len() >= limit {
            break;
        }
        let values = std::iter::once(Sql::Integer(candidate.message)).chain(values.iter().cloned());
        let mut rows = statement.query(params_from_iter(values))?;
        let Some(row) = rows.next()? else { continue };
        let (role, content): (String, String) = (row.get(1)?, row.get(2)?);
        let text = terms::search_text(&role, &content, None);
        hits.push(Hit {
            session: session_id(row.get(0)?)?,
            message: MessageId(candidate.message),
            snippet: snippet::snippet(query, &text),
            role,
            score: f64::from(candidate.likeness),
            tool_name: row.get(3)?,
            timestamp: row.get(4)?,
            source: row.get(5)?,
            title: row.get(6)?,
            started_at: row.get(7)?,
        });
    }
    Ok(hits)
}
