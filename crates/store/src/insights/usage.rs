//! Tokens and costs, from the ledger.

use std::collections::BTreeMap;

use hermes_core::{CostStatus, Usage};
use rusqlite::{Connection, params_from_iter};

use super::totals::Overview;
use super::{CHOSEN, Period, usage_at};
use crate::error::StoreError;

/// What calls cost together, as far as that is known.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Cost {
    /// From price lists; `None` when no call has one.
    pub estimated_usd: Option<f64>,
    /// As providers said; `None` when none did.
    pub actual_usd: Option<f64>,
    /// Each call by the better of the two; `None` when nothing is known of any.
    pub known_usd: Option<f64>,
    /// Calls by how far their cost can be trusted.
    pub actual_calls: u64,
    pub estimated_calls: u64,
    pub included_calls: u64,
    pub unknown_calls: u64,
}

impl Cost {
    /// How far the whole can be trusted: as far as its weakest part.
    pub fn status(&self) -> CostStatus {
        match self {
            Self {
                unknown_calls: 1.., ..
            } => CostStatus::Unknown,
            Self {
                estimated_calls: 1..,
                ..
            } => CostStatus::Estimated,
            Self {
                actual_calls: 1.., ..
            } => CostStatus::Actual,
            Self {
                included_calls: 1..,
                ..
            } => CostStatus::Included,
            // Nothing was called, so nothing is known.
            Self { .. } => CostStatus::Unknown,
        }
    }

    pub(super) fn add(&mut self, other: &Self) {
        let sum = |one: Option<f64>, two: Option<f64>| match (one, two) {
            (Some(one), Some(two)) => Some(one + two),
            (one, two) => one.or(two),
        };
        self.estimated_usd = sum(self.estimated_usd, other.estimated_usd);
        self.actual_usd = sum(self.actual_usd, other.actual_usd);
        self.known_usd = sum(self.known_usd, other.known_usd);
        self.actual_calls += other.actual_calls;
        self.estimated_calls += other.estimated_calls;
        self.included_calls += other.included_calls;
        self.unknown_calls += other.unknown_calls;
    }
}

/// What one model was used for.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ModelUse {
    /// Its name without the vendor, so that one model has one line whoever serves it.
    pub model: String,
    pub sessions: u64,
    pub usage: Usage,
    pub calls: u64,
    /// Tool calls of the sessions that ran on it.
    pub tool_calls: u64,
    pub cost: Cost,
}

/// The calls of a period, one row for each of the ledger, then what sessions count beyond their rows:
/// exports carry no ledger, and older versions of the reference had none.
///
/// A session's counters hold all of our own calls but, of imported rows, only those of the conversation
/// itself. Calls of no session count when no source is asked for.
const SPENT: &str = ", counted AS ( \
    SELECT session_id, sum(calls) AS calls, sum(input_tokens) AS input, sum(output_tokens) AS output, \
      sum(cache_read_tokens) AS cache_read, sum(cache_write_tokens) AS cache_write, sum(reasoning_tokens) AS reasoning \
    FROM model_calls WHERE (import_id IS NULL OR task = '') AND session_id IN (SELECT id FROM chosen) GROUP BY session_id), \
  spent AS ( \
    SELECT session_id, model, calls, input_tokens AS input, output_tokens AS output, cache_read_tokens AS cache_read, \
      cache_write_tokens AS cache_write, reasoning_tokens AS reasoning, estimated_cost_usd AS estimated, \
      actual_cost_usd AS actual, cost_status AS status \
    FROM model_calls WHERE session_id IN (SELECT id FROM chosen) \
      OR (session_id IS NULL AND ?2 IS NULL AND started_at >= ?1) \
    UNION ALL \
    SELECT id, model, max(api_call_count - coalesce(l.calls, 0), 0), max(input_tokens - coalesce(input, 0), 0), \
      max(output_tokens - coalesce(output, 0), 0), max(cache_read_tokens - coalesce(cache_read, 0), 0), \
      max(cache_write_tokens - coalesce(cache_write, 0), 0), max(reasoning_tokens - coalesce(reasoning, 0), 0), \
      iif(session_id IS NULL, estimated_cost_usd, NULL), iif(session_id IS NULL, actual_cost_usd, NULL), \
      iif(session_id IS NULL, cost_status, NULL) \
    FROM chosen LEFT JOIN counted l ON l.session_id = id \
    WHERE api_call_count > coalesce(l.calls, 0) OR input_tokens > coalesce(input, 0) \
      OR output_tokens > coalesce(output, 0) OR cache_read_tokens > coalesce(cache_read, 0) \
      OR cache_write_tokens > coalesce(cache_write, 0)), \
  priced AS ( \
    SELECT *, iif(estimated <> 0 OR status IN ('estimated', 'included'), estimated, NULL) AS known_estimate, \
      iif(actual <> 0 OR status = 'actual', actual, NULL) AS known_actual FROM spent), \
  judged AS ( \
    SELECT *, CASE WHEN known_actual IS NOT NULL THEN 'actual' WHEN status = 'included' THEN 'included' \
      WHEN known_estimate IS NOT NULL THEN 'estimated' ELSE 'unknown' END AS worth FROM priced)";

/// The last part of a name such as `vendor/model`.
const SHORT: &str = "coalesce(nullif(substr(model, length(rtrim(model, replace(model, '/', ''))) + 1), ''), \
    nullif(model, ''), 'unknown')";

pub(super) fn models(
    connection: &Connection,
    period: &Period,
) -> Result<Vec<ModelUse>, StoreError> {
    let mut models: BTreeMap<String, ModelUse> = BTreeMap::new();
    // An imported row without a price holds a zero: it is no price, so it is not added as one.
    let sql = format!(
        "{CHOSEN} {SPENT} SELECT {SHORT}, count(DISTINCT session_id), sum(calls), sum(input), sum(output), \
           sum(cache_read), sum(cache_write), sum(reasoning), sum(known_estimate), sum(known_actual), \
           sum(coalesce(known_actual, known_estimate)), \
           coalesce(sum(max(calls, 1)) FILTER (WHERE worth = 'actual'), 0), \
           coalesce(sum(max(calls, 1)) FILTER (WHERE worth = 'estimated'), 0), \
           coalesce(sum(max(calls, 1)) FILTER (WHERE worth = 'included'), 0), \
           coalesce(sum(max(calls, 1)) FILTER (WHERE worth = 'unknown'), 0) FROM judged GROUP BY 1"
    );
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query(params_from_iter(period.values()))?;
    while let Some(row) = rows.next()? {
        let model = ModelUse {
            model: row.get(0)?,
            sessions: row.get(1)?,
            calls: row.get(2)?,
            usage: usage_at(row, 3)?,
            tool_calls: 0,
            cost: Cost {
                estimated_usd: row.get(8)?,
                actual_usd: row.get(9)?,
                known_usd: row.get(10)?,
                actual_calls: row.get(11)?,
                estimated_calls: row.get(12)?,
                included_calls: row.get(13)?,
                unknown_calls: row.get(14)?,
            },
        };
        models.insert(model.model.clone(), model);
    }
    let sql = format!(
        "{CHOSEN} SELECT {SHORT}, sum(tool_call_count), count(*) FROM chosen WHERE tool_call_count > 0 GROUP BY 1"
    );
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query(params_from_iter(period.values()))?;
    while let Some(row) = rows.next()? {
        let (name, tool_calls, sessions): (String, u64, u64) =
            (row.get(0)?, row.get(1)?, row.get(2)?);
        let model = models.entry(name.clone()).or_insert_with(|| ModelUse {
            model: name,
            sessions,
            ..ModelUse::default()
        });
        model.tool_calls = tool_calls;
    }
    let mut models: Vec<_> = models.into_values().collect();
    models.sort_by_key(|model| std::cmp::Reverse((model.usage.total(), model.sessions)));
    Ok(models)
}

/// Counts the sessions that money cannot be told for.
pub(super) fn count_costless(
    connection: &Connection,
    period: &Period,
    overview: &mut Overview,
) -> Result<(), StoreError> {
    let sql = format!(
        "{CHOSEN} {SPENT} SELECT count(DISTINCT iif(worth = 'unknown', session_id, NULL)), \
           count(DISTINCT iif(worth = 'included', session_id, NULL)) FROM judged"
    );
    (
        overview.unknown_cost_sessions,
        overview.included_cost_sessions,
    ) = connection.query_row(&sql, params_from_iter(period.values()), |row| {
        Ok((row.get(0)?, row.get(1)?))
    })?;
    Ok(())
}
