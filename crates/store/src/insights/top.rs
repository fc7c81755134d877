//! The sessions that stand out.

use hermes_core::SessionId;
use rusqlite::{Connection, OptionalExtension, params_from_iter};

use super::{CHOSEN, Period, TOKENS};
use crate::error::StoreError;
use crate::lineage::session_id;

/// In what a session stands out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TopRecord {
    /// Seconds from beginning to end, of sessions that have ended.
    Longest,
    MostMessages,
    MostTokens,
    MostToolCalls,
}

impl TopRecord {
    const ALL: [Self; 4] = [
        Self::Longest,
        Self::MostMessages,
        Self::MostTokens,
        Self::MostToolCalls,
    ];

    fn amount(self) -> &'static str {
        match self {
            Self::Longest => "ended_at - started_at",
            Self::MostMessages => "message_count",
            Self::MostTokens => TOKENS,
            Self::MostToolCalls => "tool_call_count",
        }
    }
}

/// A session that holds a record.
#[derive(Debug, Clone, PartialEq)]
pub struct TopSession {
    pub record: TopRecord,
    pub session: SessionId,
    pub amount: f64,
    pub started_at: f64,
}

/// One session for each record; none where nobody has anything to show.
pub(super) fn top(connection: &Connection, period: &Period) -> Result<Vec<TopSession>, StoreError> {
    let mut found = Vec::new();
    for record in TopRecord::ALL {
        let sql = format!(
            "{CHOSEN} SELECT id, CAST({0} AS REAL) AS amount, started_at FROM chosen WHERE {0} > 0 \
             ORDER BY amount DESC, started_at DESC, id LIMIT 1",
            record.amount()
        );
        let row: Option<(String, f64, f64)> = connection
            .query_row(&sql, params_from_iter(period.values()), |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })
            .optional()?;
        if let Some((id, amount, started_at)) = row {
            found.push(TopSession {
                record,
                session: session_id(id)?,
                amount,
                started_at,
            });
        }
    }
    Ok(found)
}
