//! Running a search: candidates from the index, newest first, judged on their text.

use std::collections::{HashMap, HashSet};

use hermes_core::MessageId;
use rusqlite::types::{Value as Sql, ValueRef};
use rusqlite::{Connection, Row, params_from_iter};

use super::filter::SearchFilter;
use super::fold::{Folded, normalize};
use super::hit::{Hit, Hits, SearchOrder};
use super::query::{Atom, Query};
use super::rank::{self, Need, Weights};
use super::{snippet, terms};
use crate::error::StoreError;
use crate::lineage::session_id;
use crate::store::Store;
use crate::worker::Pending;

/// Matches kept at most, and bytes of text looked at at most, for one search.
const MOST_CANDIDATES: usize = 600;
const MOST_BYTES: usize = 96 * 1024 * 1024;
/// More than this is not read at once, whatever the caller asks for.
const MOST_ASKED: usize = 10_000;
/// Candidates that turn out not to match are skipped up to this many times. The index leaves only a
/// few: two words whose neighbours share a bucket with those of the phrase, or an excluded phrase.
const MOST_SKIPPED: usize = 200_000;
/// Candidates for each word when some words may be missing.
const RELAXED_CANDIDATES: usize = 150;

impl Store {
    /// Finds messages. No query is an error; one without words finds nothing.
    pub fn search(
        &self,
        text: &str,
        filter: SearchFilter,
        order: SearchOrder,
        limit: usize,
    ) -> Pending<Hits> {
        let query = Query::parse(text);
        let now = self.now();
        self.read_widely(move |connection| {
            if query.is_empty() {
                return Ok(Hits::default());
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

/// A message that matches. Its session is looked up only when it may be among the best.
struct Found {
    message: MessageId,
    session: String,
    role: String,
    tool_name: Option<String>,
    timestamp: f64,
    text: String,
    /// The score where nothing is held against the session's source: the most it can be.
    score: f64,
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
    fn run(&self, order: SearchOrder, limit: usize) -> Result<Hits, StoreError> {
        let most = limit.clamp(MOST_CANDIDATES, MOST_ASKED);
        let mut places = Places::new();
        let (found, read_all) = self.candidates(order, most)?;
        let stopped_early = !read_all && found.len() < limit.min(MOST_ASKED);
        let mut hits = if found.is_empty() && self.query.only_words {
            self.relaxed(order, limit, &mut places)?
        } else {
            self.best(found, order, limit, &mut places)?
        };
        for (hit, text) in &mut hits {
            hit.snippet = snippet::snippet(self.query, text);
        }
        Ok(Hits {
            hits: hits.into_iter().map(|(hit, _)| hit).collect(),
            stopped_early,
        })
    }

    /// The first `limit` in the order that was asked for, with their texts.
    fn best(
        &self,
        mut found: Vec<Found>,
        order: SearchOrder,
        limit: usize,
        places: &mut Places,
    ) -> Result<Vec<(Hit, String)>, StoreError> {
        found.sort_by(|a, b| match order {
            SearchOrder::Relevance => b.score.total_cmp(&a.score),
            SearchOrder::Newest => b.message.cmp(&a.message),
            SearchOrder::Oldest => a.message.cmp(&b.message),
        });
        let mut hits: Vec<(Hit, String)> = Vec::new();
        let mut worst = f64::INFINITY;
        for mut found in found {
            // Nothing behind this one can be better than what is there.
            if hits.len() >= limit && (order != SearchOrder::Relevance || found.score < worst) {
                break;
            }
            let text = std::mem::take(&mut found.text);
            let hit = self.hit(found, places)?;
            if hits.len() < limit {
                worst = worst.min(hit.score);
            }
            hits.push((hit, text));
        }
        if order == SearchOrder::Relevance {
            hits.sort_by(|(a, _), (b, _)| {
                b.score.total_cmp(&a.score).then(b.message.cmp(&a.message))
            });
        }
        hits.truncate(limit);
        Ok(hits)
    }

    fn hit(&self, found: Found, places: &mut Places) -> Result<Hit, StoreError> {
        let place = self.place(&found.session, places)?;
        Ok(Hit {
            session: session_id(found.session)?,
            message: found.message,
            role: found.role,
            snippet: String::new(),
            score: found.score * rank::source_weight(&place.source),
            title: place.title,
            source: place.source,
            tool_name: found.tool_name,
            timestamp: found.timestamp,
            started_at: place.started_at,
        })
    }

    /// When no message holds every word: those that hold all but one, else those that hold one at all.
    ///
    /// Words that rarely meet tell more than words that often do, so the smallest sets come first.
    fn relaxed(
        &self,
        order: SearchOrder,
        limit: usize,
        places: &mut Places,
    ) -> Result<Vec<(Hit, String)>, StoreError> {
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
        for sets in [with_most, with_one] {
            let hits = self.best_of_sets(sets, &weights, order, limit, places)?;
            if !hits.is_empty() {
                return Ok(hits);
            }
        }
        Ok(Vec::new())
    }

    /// The best of some sets, the smallest set first, every row once.
    fn best_of_sets(
        &self,
        mut sets: Vec<Vec<i64>>,
        weights: &Weights,
        order: SearchOrder,
        limit: usize,
        places: &mut Places,
    ) -> Result<Vec<(Hit, String)>, StoreError> {
        sets.sort_by_key(Vec::len);
        if order != SearchOrder::Relevance {
            // By time there is no better set.
            sets = vec![sets.concat()];
        }
        let mut seen = HashSet::new();
        let mut hits = Vec::new();
        for set in sets {
            if hits.len() >= limit {
                break;
            }
            let fresh: Vec<_> = set.into_iter().filter(|row| seen.insert(*row)).collect();
            let found = self.judge_rows(&fresh, weights)?;
            hits.extend(self.best(found, order, limit - hits.len(), places)?);
        }
        Ok(hits)
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
        let mut found = Vec::new();
        for rowid in rowids {
            let values = std::iter::once(Sql::Integer(*rowid)).chain(values.iter().cloned());
            let mut rows = statement.query(params_from_iter(values))?;
            if let Some(row) = rows.next()? {
                found.extend(self.judge(row, weights, Need::Some)?);
            }
        }
        Ok(found)
    }

    /// What matches, and whether every candidate was looked at.
    fn candidates(
        &self,
        order: SearchOrder,
        most: usize,
    ) -> Result<(Vec<Found>, bool), StoreError> {
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
        let (mut found, mut skipped, mut bytes) = (Vec::new(), 0, 0);
        while let Some(row) = rows.next()? {
            bytes += text_of(row)?.len();
            match self.judge(row, &weights, Need::All)? {
                Some(hit) => found.push(hit),
                None => skipped += 1,
            }
            if found.len() >= most || skipped >= MOST_SKIPPED || bytes >= MOST_BYTES {
                return Ok((found, false));
            }
        }
        Ok((found, true))
    }

    fn judge(
        &self,
        row: &Row<'_>,
        weights: &Weights,
        need: Need,
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
        let timestamp: f64 = row.get(5)?;
        Ok(Some(Found {
            message: MessageId(row.get(0)?),
            session: row.get(1)?,
            score: rank::score(relevance, self.now - timestamp, &role),
            role,
            tool_name: row.get(4)?,
            timestamp,
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
pub(super) const VISIBLE: &str = "AND (m.active = 1 OR m.compacted = 1)";

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
