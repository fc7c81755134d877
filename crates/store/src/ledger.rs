//! What model calls used and cost: one row for each call.

use hermes_core::{CostStatus, MessageId, SessionId, Usage};
use rusqlite::OptionalExtension;

use crate::store::Store;
use crate::worker::Pending;

/// One model call, after it ended.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelCall {
    pub session: Option<SessionId>,
    /// Empty for the conversation, else the helper task it was made for.
    pub task: String,
    pub provider: String,
    pub model: String,
    pub base_url: String,
    pub billing_mode: String,
    pub usage: Usage,
    pub estimated_cost_usd: Option<f64>,
    pub actual_cost_usd: Option<f64>,
    pub cost_status: CostStatus,
    pub cost_source: String,
    pub pricing_version: String,
    pub started_at: f64,
    pub ended_at: f64,
    /// `ok`, or the kind of failure.
    pub outcome: String,
}

/// What several calls used and cost.
#[derive(Debug, Clone, PartialEq)]
pub struct Spent {
    pub calls: u64,
    pub usage: Usage,
    /// Nothing where one of them has no known price.
    pub cost_usd: Option<f64>,
    /// As far as the least certain of them can be trusted.
    pub status: CostStatus,
    /// Where the prices are from.
    pub source: String,
}

impl Default for Spent {
    fn default() -> Self {
        Self {
            calls: 0,
            usage: Usage::default(),
            cost_usd: None,
            status: CostStatus::Unknown,
            source: String::new(),
        }
    }
}

/// A request whose tokens its provider has counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CountedRequest {
    /// All of its tokens, those from a cache too.
    pub tokens: u64,
    /// The last row that was there when it went out.
    pub through: MessageId,
}

/// How little the cost can be trusted that a column or parameter names. What nobody has said is not known.
macro_rules! doubt {
    ($status:literal) => {
        concat!(
            "CASE ",
            $status,
            " WHEN 'included' THEN 0 WHEN 'actual' THEN 1 WHEN 'estimated' THEN 2 ELSE 3 END"
        )
    };
}

/// Of one call either what it cost is known or what it should have: both are part of the sum.
const SPENT: &str = concat!(
    "WITH RECURSIVE line (id) AS ( \
       SELECT ?1 UNION SELECT s.parent_session_id FROM sessions s JOIN line ON s.id = line.id) \
     SELECT coalesce(sum(calls), 0), coalesce(sum(input_tokens), 0), coalesce(sum(output_tokens), 0), \
       coalesce(sum(cache_read_tokens), 0), coalesce(sum(cache_write_tokens), 0), coalesce(sum(reasoning_tokens), 0), \
       sum(coalesce(actual_cost_usd, estimated_cost_usd)), \
       coalesce(max(",
    doubt!("cost_status"),
    "), 3), \
       coalesce(group_concat(DISTINCT nullif(cost_source, '')), '') \
     FROM model_calls WHERE session_id IN line AND started_at >= ?2"
);

/// Counts a call into its session. The cost of a session is as certain as its least certain call.
const COUNT: &str = concat!(
    "UPDATE sessions SET (cost_status, cost_source, pricing_version) = ( \
       SELECT ?9, ?10, ?11 WHERE api_call_count = 0 OR ",
    doubt!("?9"),
    " >= ",
    doubt!("cost_status"),
    " UNION ALL SELECT coalesce(cost_status, 'unknown'), cost_source, pricing_version LIMIT 1), \
       api_call_count = api_call_count + 1, \
       input_tokens = input_tokens + ?2, output_tokens = output_tokens + ?3, \
       cache_read_tokens = cache_read_tokens + ?4, cache_write_tokens = cache_write_tokens + ?5, \
       reasoning_tokens = reasoning_tokens + ?6, \
       estimated_cost_usd = CASE WHEN ?7 IS NULL THEN estimated_cost_usd \
         ELSE coalesce(estimated_cost_usd, 0) + ?7 END, \
       actual_cost_usd = CASE WHEN ?8 IS NULL THEN actual_cost_usd \
         ELSE coalesce(actual_cost_usd, 0) + ?8 END, \
       billing_provider = ?12, billing_base_url = ?13, billing_mode = ?14 \
     WHERE id = ?1"
);

fn spent(row: &rusqlite::Row<'_>) -> rusqlite::Result<Spent> {
    let count = |at: usize| -> rusqlite::Result<u64> {
        let count: i64 = row.get(at)?;
        Ok(u64::try_from(count).unwrap_or_default())
    };
    let status = match row.get(7)? {
        0 => CostStatus::Included,
        1 => CostStatus::Actual,
        2 => CostStatus::Estimated,
        _ => CostStatus::Unknown,
    };
    let cost: Option<f64> = row.get(6)?;
    Ok(Spent {
        calls: count(0)?,
        usage: Usage {
            input_tokens: count(1)?,
            output_tokens: count(2)?,
            cache_read_tokens: count(3)?,
            cache_write_tokens: count(4)?,
            reasoning_tokens: count(5)?,
        },
        cost_usd: cost.filter(|_| status != CostStatus::Unknown),
        status,
        source: row.get(8)?,
    })
}

impl Store {
    /// Writes a call to the ledger and adds it to its session's counters, in one step.
    ///
    /// An unknown price stays unknown: it is never added as zero.
    pub fn record_call(&self, call: ModelCall) -> Pending<()> {
        self.write(move |connection| {
            let usage = call.usage;
            connection
                .prepare_cached(
                    "INSERT INTO model_calls (session_id, task, model, billing_provider, billing_base_url, billing_mode, \
                       input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, \
                       estimated_cost_usd, actual_cost_usd, cost_status, cost_source, pricing_version, started_at, \
                       ended_at, outcome) \
                     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                )?
                .execute(rusqlite::params![
                    call.session.as_ref().map(SessionId::as_str),
                    call.task,
                    call.model,
                    call.provider,
                    call.base_url,
                    call.billing_mode,
                    usage.input_tokens,
                    usage.output_tokens,
                    usage.cache_read_tokens,
                    usage.cache_write_tokens,
                    usage.reasoning_tokens,
                    call.estimated_cost_usd,
                    call.actual_cost_usd,
                    call.cost_status.word(),
                    call.cost_source,
                    call.pricing_version,
                    call.started_at,
                    call.ended_at,
                    call.outcome,
                ])?;
            let Some(session) = &call.session else { return Ok(()) };
            connection
                .prepare_cached(COUNT)?
                .execute(rusqlite::params![
                    session.as_str(),
                    usage.input_tokens,
                    usage.output_tokens,
                    usage.cache_read_tokens,
                    usage.cache_write_tokens,
                    usage.reasoning_tokens,
                    call.estimated_cost_usd,
                    call.actual_cost_usd,
                    call.cost_status.word(),
                    call.cost_source,
                    call.pricing_version,
                    call.provider,
                    call.base_url,
                    call.billing_mode,
                ])?;
            Ok(())
        })
    }

    /// What a conversation has spent since then, in all the sessions it went on from.
    pub fn spent(&self, session: &SessionId, since: f64) -> Pending<Spent> {
        let session = session.clone();
        // Asked of the thread that writes: calls are not waited for, and stand before this in its queue.
        self.write(move |connection| {
            let spent = connection
                .prepare_cached(SPENT)?
                .query_row(rusqlite::params![session.as_str(), since], spent)?;
            Ok(spent)
        })
    }

    /// The last request of a conversation that this model was asked with and counted.
    pub fn last_counted(
        &self,
        session: &SessionId,
        model: &str,
    ) -> Pending<Option<CountedRequest>> {
        let (session, model) = (session.clone(), model.to_owned());
        self.read(move |connection| {
            let counted = connection
                .prepare_cached(
                    "SELECT input_tokens + cache_read_tokens + cache_write_tokens AS tokens, \
                       (SELECT coalesce(max(id), 0) FROM messages \
                        WHERE session_id = c.session_id AND timestamp <= c.started_at) \
                     FROM model_calls c WHERE session_id = ? AND task = '' AND model = ? AND calls = 1 AND tokens > 0 \
                     ORDER BY id DESC LIMIT 1",
                )?
                .query_row(rusqlite::params![session.as_str(), model], |row| {
                    let (tokens, through): (i64, i64) = (row.get(0)?, row.get(1)?);
                    Ok(CountedRequest {
                        tokens: u64::try_from(tokens).unwrap_or_default(),
                        through: MessageId(through),
                    })
                })
                .optional()?;
            Ok(counted)
        })
    }

    /// The tokens a helper task has used since then; those read from a provider's cache cost next to nothing and do
    /// not count.
    pub fn tokens_of_task(&self, task: &'static str, since: f64) -> Pending<u64> {
        self.read(move |connection| {
            let tokens: i64 = connection
                .prepare_cached(
                    "SELECT coalesce(sum(input_tokens + output_tokens + cache_write_tokens), 0) FROM model_calls \
                     WHERE task = ? AND started_at >= ?",
                )?
                .query_row(rusqlite::params![task, since], |row| row.get(0))?;
            Ok(u64::try_from(tokens).unwrap_or_default())
        })
    }
}
