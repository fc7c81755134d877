//! Sums over sessions and messages.

use hermes_core::Usage;
use rusqlite::{Connection, params_from_iter};

use super::usage::Cost;
use super::{CHOSEN, Period, usage_at};
use crate::error::StoreError;

/// Everything of a period together.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Overview {
    pub sessions: u64,
    /// Messages the conversations consist of; what was taken back or summed up is not among them.
    pub messages: u64,
    pub tool_calls: u64,
    /// Tokens of all model calls, helper tasks included.
    pub usage: Usage,
    pub cost: Cost,
    /// Sessions with calls whose cost is not known.
    pub unknown_cost_sessions: u64,
    /// Sessions with calls that a subscription or a local model covers.
    pub included_cost_sessions: u64,
    /// Sessions that have ended, and how long they took together.
    pub ended_sessions: u64,
    pub ended_seconds: f64,
    /// Every message that was ever written, by who wrote it.
    pub user_messages: u64,
    pub assistant_messages: u64,
    pub tool_messages: u64,
    pub first_started_at: Option<f64>,
    pub last_started_at: Option<f64>,
}

/// What came from one platform.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlatformUse {
    pub platform: String,
    pub sessions: u64,
    pub messages: u64,
    /// As the sessions count them: helper tasks of imported sessions are not among them.
    pub usage: Usage,
    pub tool_calls: u64,
}

/// All of it but tokens and costs, which are added up by model.
pub(super) fn overview(connection: &Connection, period: &Period) -> Result<Overview, StoreError> {
    let sql = format!(
        "{CHOSEN} SELECT count(*), coalesce(sum(message_count), 0), coalesce(sum(tool_call_count), 0), \
           count(*) FILTER (WHERE ended_at > started_at), \
           coalesce(sum(ended_at - started_at) FILTER (WHERE ended_at > started_at), 0.0), \
           min(started_at), max(started_at) FROM chosen"
    );
    let mut overview = connection.query_row(&sql, params_from_iter(period.values()), |row| {
        Ok(Overview {
            sessions: row.get(0)?,
            messages: row.get(1)?,
            tool_calls: row.get(2)?,
            ended_sessions: row.get(3)?,
            ended_seconds: row.get(4)?,
            first_started_at: row.get(5)?,
            last_started_at: row.get(6)?,
            ..Overview::default()
        })
    })?;
    let sql = format!(
        "{CHOSEN} SELECT count(*) FILTER (WHERE m.role = 'user'), count(*) FILTER (WHERE m.role = 'assistant'), \
           count(*) FILTER (WHERE m.role = 'tool') FROM chosen c CROSS JOIN messages m ON m.session_id = c.id"
    );
    (
        overview.user_messages,
        overview.assistant_messages,
        overview.tool_messages,
    ) = connection.query_row(&sql, params_from_iter(period.values()), |row| {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?))
    })?;
    Ok(overview)
}

pub(super) fn platforms(
    connection: &Connection,
    period: &Period,
) -> Result<Vec<PlatformUse>, StoreError> {
    let sql = format!(
        "{CHOSEN} SELECT source, count(*), sum(message_count), sum(tool_call_count), sum(input_tokens), \
           sum(output_tokens), sum(cache_read_tokens), sum(cache_write_tokens), sum(reasoning_tokens) \
         FROM chosen GROUP BY source ORDER BY 2 DESC, max(started_at) DESC, source"
    );
    let mut statement = connection.prepare(&sql)?;
    let rows = statement.query_map(params_from_iter(period.values()), |row| {
        Ok(PlatformUse {
            platform: row.get(0)?,
            sessions: row.get(1)?,
            messages: row.get(2)?,
            tool_calls: row.get(3)?,
            usage: usage_at(row, 4)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}
