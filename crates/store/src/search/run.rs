//! Running a search: candidates from the index, newest first, judged on their text.

use std::collections::{HashMap, HashSet};

use hermes_core::{MessageId, SessionId};
use rusqlite::types::{Value as Sql, ValueRef};
use rusqlite::{Connection, Row, params_from_iter};

use super::filter::SearchFilter;
use super::fold::{Folded, normalize};
use super::query::{Atom, Query};
use super::rank::{self, Need, Weights};
use super::{snippet, terms};
use crate::error::StoreError;
use crate::lineage::session_id;
use crate::store::Store;
use crate::worker::Pending;

/// Matches kept at most, and bytes of text looked at at most, for one search.
const MOST_CANDIDATES: usize = 600;
const MOST_BYTES: usize = 24 * 1024 * 1024;
/// More than this is not read at once, whatever the caller asks for.
const MOST_ASKED: usize = 10_000;
/// Candidates that turn out not to hold the phrase are skipped up to this many times.
const MOST_SKIPPED: usize = 20_000;
/// Candidates for each word when some words may be missing.
const RELAXED_CANDIDATES: usize = 150;

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

impl Store {
    /// Finds messages. No query is an error; one without words finds nothing.
    pub fn search(
        &self,
        text: &str,
        filter: SearchFilter,
        order: SearchOrder,
        limit: usize,
    ) -> Pending<Vec<Hit>> {
        let query = Query::parse(text);
        let now = self.now();
        self.read_widely(move |connection| {
            if query.is_empty() {
                return Ok(Vec::new());
            }
            let search = Search {
                connection,
                query: &query,
                filter: &filter,
                now,
            };
            search.run(order, limit)
        })
    }
}

struct Search<'a> {
    connection: &'a Connection,
    query: &'a Query,
    filter: &'a SearchFilter,
    now: f64,
}

struct Found {
    hit: Hit,
    text: String,
}

/// What a hit says about its session.
#[derive(Clone)]
struct Place {
    source: String,
    title: Option<String>,
    started_at: f64,
}

/// Sessions that were looked up before; many hits share few of them.
type Places = HashMap<String, Place>;

impl Search<'_> {
    fn run(&self, order: SearchOrder, limit: usize) -> Result<Vec<Hit>, StoreError> {
        let most = limit.clamp(MOST_CANDIDATES, MOST_ASKED);
        let mut found = self.candidates(order, most)?;
        sort(&mut found, order);
        if found.is_empty() && self.query.only_words {
            found = self.relaxed()?;
            if order != SearchOrder::Relevance {
                sort(&mut found, order);
            }
        }
        found.truncate(limit);
        Ok(found
            .into_iter()
            .map(|found| Hit {
                snippet: snippet::snippet(self.query, &found.text),
                ..found.hit
            })
            .collect())
    }

    /// When no message holds every word: those that hold all but one, else those that hold one at all.
    ///
    /// Words that rarely meet tell more than words that often do, so the smallest sets come first.
    fn relaxed(&self) -> Result<Vec<Found>, StoreError> {
        let expressions: Vec<_> = self.query.atoms().map(Atom::expression).collect();
        if expressions.len() < 2 {
            return Ok(Vec::new());
        }
        let total = self.newest_id()?;
        let mut frequencies = Vec::new();
        let mut with_one = Vec::new();
        for expression in &expressions {
            let matches = self.newest_matches(expression)?;
            frequencies.push(estimated_frequency(&matches, total));
            with_one.push(matches);
        }
        let weights = Weights::by_rarity(&frequencies, total);
        let mut with_most = Vec::new();
        for left_out in 0..expressions.len() {
            let kept = expressions.iter().enumerate();
            let kept = kept.filter(|(index, _)| *index != left_out);
            let kept: Vec<_> = kept.map(|(_, expression)| expression.as_str()).collect();
            with_most.push(self.newest_matches(&kept.join(" AND "))?);
        }
        let found = self.judge_sets(with_most, &weights)?;
        if found.is_empty() {
            return self.judge_sets(with_one, &weights);
        }
        Ok(found)
    }

    /// The rows of some sets, each set sorted, the smallest set first, every row once.
    fn judge_sets(
        &self,
        mut sets: Vec<Vec<i64>>,
        weights: &Weights,
    ) -> Result<Vec<Found>, StoreError> {
        sets.sort_by_key(Vec::len);
        let mut seen = HashSet::new();
        let mut all = Vec::new();
        for set in sets {
            let fresh: Vec<_> = set.into_iter().filter(|row| seen.insert(*row)).collect();
            let mut found = self.judge_rows(&fresh, weights)?;
            sort(&mut found, SearchOrder::Relevance);
            all.extend(found);
        }
        Ok(all)
    }

    fn newest_id(&self) -> Result<f64, StoreError> {
        let id: i64 = self
            .connection
            .prepare_cached("SELECT coalesce(max(id), 0) FROM messages")?
            .query_row([], |row| row.get(0))?;
        Ok(id as f64)
    }

    fn newest_matches(&self, expression: &str) -> Result<Vec<i64>, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT rowid FROM search WHERE search MATCH ? ORDER BY rowid DESC LIMIT ?",
        )?;
        let limit = i64::try_from(RELAXED_CANDIDATES).unwrap_or(i64::MAX);
        let rows = statement.query_map((expression, limit), |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn judge_rows(&self, rowids: &[i64], weights: &Weights) -> Result<Vec<Found>, StoreError> {
        let (conditions, values) = self.filter.conditions();
        let sql = format!("{SELECT} FROM messages m WHERE m.id = ? {VISIBLE}{conditions}");
        let mut statement = self.connection.prepare_cached(&sql)?;
        let mut places = Places::new();
        let mut found = Vec::new();
        for rowid in rowids {
            let values = std::iter::once(Sql::Integer(*rowid)).chain(values.iter().cloned());
            let mut rows = statement.query(params_from_iter(values))?;
            if let Some(row) = rows.next()? {
                found.extend(self.judge(row, weights, Need::Some, &mut places)?);
            }
        }
        Ok(found)
    }

    fn candidates(&self, order: SearchOrder, most: usize) -> Result<Vec<Found>, StoreError> {
        let (conditions, values) = self.filter.conditions();
        let direction = if order == SearchOrder::Oldest {
            "ASC"
        } else {
            "DESC"
        };
        // CROSS JOIN keeps the index on the outside, so rows stream in order and nothing is sorted.
        let sql = format!(
            "{SELECT} FROM search f CROSS JOIN messages m ON m.id = f.rowid \
             WHERE f.search MATCH ? {VISIBLE}{conditions} ORDER BY f.rowid {direction}"
        );
        let mut statement = self.connection.prepare_cached(&sql)?;
        let values = std::iter::once(Sql::Text(self.query.expression())).chain(values);
        let mut rows = statement.query(params_from_iter(values))?;
        let weights = Weights::equal(self.query);
        let mut places = Places::new();
        let (mut found, mut skipped, mut bytes) = (Vec::new(), 0, 0);
        while let Some(row) = rows.next()? {
            bytes += text_of(row)?.len();
            match self.judge(row, &weights, Need::All, &mut places)? {
                Some(hit) => found.push(hit),
                None => skipped += 1,
            }
            if found.len() >= most || skipped >= MOST_SKIPPED || bytes >= MOST_BYTES {
                break;
            }
        }
        Ok(found)
    }

    fn judge(
        &self,
        row: &Row<'_>,
        weights: &Weights,
        need: Need,
        places: &mut Places,
    ) -> Result<Option<Found>, StoreError> {
        let role: String = row.get(2)?;
        let tool = row
            .get_ref(4)?
            .as_str_or_null()
            .map_err(rusqlite::Error::from)?;
        let text = terms::search_text(&role, text_of(row)?, tool);
        let folded = Folded::new(&normalize(&text));
        let Some(relevance) = rank::relevance(self.query, weights, &text, &folded, need) else {
            return Ok(None);
        };
        let session: String = row.get(1)?;
        let timestamp: f64 = row.get(5)?;
        let place = self.place(&session, places)?;
        let score = rank::score(relevance, self.now - timestamp, &place.source, &role);
        let hit = Hit {
            session: session_id(session)?,
            message: MessageId(row.get(0)?),
            role,
            snippet: String::new(),
            score,
            title: place.title,
            source: place.source,
            tool_name: row.get(4)?,
            timestamp,
            started_at: place.started_at,
        };
        Ok(Some(Found {
            hit,
            text: text.into_owned(),
        }))
    }

    fn place(&self, session: &str, places: &mut Places) -> Result<Place, StoreError> {
        if let Some(place) = places.get(session) {
            return Ok(place.clone());
        }
        let place = self
            .connection
            .prepare_cached("SELECT source, title, started_at FROM sessions WHERE id = ?")?
            .query_row([session], |row| {
                Ok(Place {
                    source: row.get(0)?,
                    title: row.get(1)?,
                    started_at: row.get(2)?,
                })
            })?;
        places.insert(session.to_owned(), place.clone());
        Ok(place)
    }
}

const SELECT: &str = "SELECT m.id, m.session_id, m.role, m.content, m.tool_name, m.timestamp";

/// The text of a row, where it lies; most rows are looked at and left.
fn text_of<'r>(row: &'r Row<'_>) -> Result<&'r str, StoreError> {
    match row.get_ref(3)? {
        ValueRef::Text(bytes) => Ok(std::str::from_utf8(bytes).unwrap_or_default()),
        _ => Ok(""),
    }
}

/// Taken-back messages are never found; compacted ones are.
const VISIBLE: &str = "AND (m.active = 1 OR m.compacted = 1)";

/// Few matches are all there are; many are projected from how densely the newest ones lie.
fn estimated_frequency(newest_first: &[i64], total: f64) -> f64 {
    let count = newest_first.len() as f64;
    match newest_first.last() {
        Some(&oldest) if newest_first.len() >= RELAXED_CANDIDATES => {
            let span = (total - oldest as f64).max(1.0);
            (count / span * total).max(count)
        }
        _ => count,
    }
}

fn sort(found: &mut [Found], order: SearchOrder) {
    found.sort_by(|a, b| match order {
        SearchOrder::Relevance => b
            .hit
            .score
            .total_cmp(&a.hit.score)
            .then(b.hit.message.cmp(&a.hit.message)),
        SearchOrder::Newest => b.hit.message.cmp(&a.hit.message),
        SearchOrder::Oldest => a.hit.message.cmp(&b.hit.message),
    });
}
