//! How much there is.

use hermes_core::Usage;

use crate::store::Store;
use crate::worker::Pending;

/// Totals over everything stored.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Stats {
    pub sessions: u64,
    pub archived: u64,
    pub messages: u64,
    pub tool_calls: u64,
    pub usage: Usage,
    pub database_bytes: u64,
    pub text_bytes: u64,
    pub index_bytes: u64,
    pub by_source: Vec<SourceStats>,
}

/// Totals of one source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceStats {
    pub source: String,
    pub sessions: u64,
    pub messages: u64,
}

impl Store {
    /// Counts everything; reads the whole table, so not for a start path.
    pub fn stats(&self) -> Pending<Stats> {
        self.read_widely(|connection| {
            let mut stats = connection.query_row(
                "SELECT count(*), coalesce(sum(archived), 0), coalesce(sum(tool_call_count), 0), \
                   coalesce(sum(input_tokens), 0), coalesce(sum(output_tokens), 0), coalesce(sum(cache_read_tokens), 0), \
                   coalesce(sum(cache_write_tokens), 0), coalesce(sum(reasoning_tokens), 0) FROM sessions",
                [],
                |row| {
                    Ok(Stats {
                        sessions: row.get(0)?,
                        archived: row.get(1)?,
                        tool_calls: row.get(2)?,
                        usage: Usage {
                            input_tokens: row.get(3)?,
                            output_tokens: row.get(4)?,
                            cache_read_tokens: row.get(5)?,
                            cache_write_tokens: row.get(6)?,
                            reasoning_tokens: row.get(7)?,
                        },
                        ..Stats::default()
                    })
                },
            )?;
            (stats.messages, stats.text_bytes) = connection.query_row(
                "SELECT count(*), coalesce(sum(octet_length(content)), 0) FROM messages",
                [],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )?;
            stats.database_bytes = connection.query_row(
                "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size",
                [],
                |row| row.get(0),
            )?;
            stats.index_bytes = connection.query_row(
                "SELECT (SELECT coalesce(sum(length(block)), 0) FROM search_data) \
                   + (SELECT coalesce(sum(length(sz) + 8), 0) FROM search_docsize)",
                [],
                |row| row.get(0),
            )?;
            let mut statement = connection.prepare(
                "SELECT s.source, count(*), coalesce(sum(n), 0) FROM sessions s LEFT JOIN \
                   (SELECT session_id, count(*) AS n FROM messages GROUP BY session_id) m ON m.session_id = s.id \
                 GROUP BY s.source ORDER BY 2 DESC, 1",
            )?;
            let rows = statement.query_map([], |row| {
                Ok(SourceStats {
                    source: row.get(0)?,
                    sessions: row.get(1)?,
                    messages: row.get(2)?,
                })
            })?;
            stats.by_source = rows.collect::<Result<_, _>>()?;
            Ok(stats)
        })
    }
}
