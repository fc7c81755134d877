//! Looking for damage.

use rusqlite::Connection;

use crate::error::StoreError;
use crate::search::{index_terms, search_text};
use crate::store::Store;
use crate::worker::Pending;

/// What a check found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Check {
    /// What SQLite says about its pages and indexes.
    pub integrity: Vec<String>,
    /// Rows that point to rows that are not there.
    pub dangling: u64,
    /// Messages that search would miss, and index entries without a message.
    pub unindexed: u64,
    pub stale: u64,
    /// What the index itself says.
    pub index: Option<String>,
}

impl Check {
    pub fn is_clean(&self) -> bool {
        *self == Self::default()
    }

    /// What is wrong, a line each.
    pub fn faults(&self) -> Vec<String> {
        let mut faults: Vec<String> = self
            .integrity
            .iter()
            .map(|fault| format!("damage: {fault}"))
            .collect();
        if self.dangling > 0 {
            faults.push(format!(
                "{} rows point to rows that are not there",
                self.dangling
            ));
        }
        if self.unindexed + self.stale > 0 {
            faults.push(format!(
                "search misses {} messages and has {} stale entries",
                self.unindexed, self.stale
            ));
        }
        faults.extend(
            self.index
                .iter()
                .map(|fault| format!("search index: {fault}")),
        );
        faults
    }
}

impl Store {
    /// Checks pages, references and the search index. Reads everything.
    pub fn check(&self) -> Pending<Check> {
        self.write(check)
    }
}

pub(crate) fn check(connection: &Connection) -> Result<Check, StoreError> {
    let mut statement = connection.prepare("PRAGMA integrity_check(20)")?;
    let rows = statement.query_map([], |row| row.get::<_, String>(0))?;
    let integrity = rows
        .collect::<Result<Vec<_>, _>>()?
        .into_iter()
        .filter(|line| line != "ok")
        .collect();
    let mut statement = connection.prepare("PRAGMA foreign_key_check")?;
    let mut rows = statement.query([])?;
    let mut dangling = 0;
    while rows.next()?.is_some() {
        dangling += 1;
    }
    let index = connection
        .execute("INSERT INTO search (search) VALUES ('integrity-check')", [])
        .err()
        .map(|error| error.to_string());
    let (unindexed, stale) = index_gaps(connection)?;
    Ok(Check {
        integrity,
        dangling,
        unindexed,
        stale,
        index,
    })
}

/// Compares which messages should be in the index with which are.
fn index_gaps(connection: &Connection) -> Result<(u64, u64), StoreError> {
    let stale = connection.query_row(
        "SELECT count(*) FROM search_docsize d LEFT JOIN messages m ON m.id = d.id WHERE m.id IS NULL",
        [],
        |row| row.get(0),
    )?;
    let mut statement = connection.prepare(
        "SELECT m.role, coalesce(m.content, ''), m.tool_name FROM messages m LEFT JOIN search_docsize d ON d.id = m.id \
         WHERE d.id IS NULL AND (coalesce(m.content, '') <> '' OR m.tool_name IS NOT NULL)",
    )?;
    let mut rows = statement.query([])?;
    let mut unindexed = 0;
    while let Some(row) = rows.next()? {
        let (role, content): (String, String) = (row.get(0)?, row.get(1)?);
        let tool: Option<String> = row.get(2)?;
        // A message of nothing but punctuation has no terms and needs no entry.
        if !index_terms(&search_text(&role, &content, tool.as_deref())).is_empty() {
            unindexed += 1;
        }
    }
    Ok((unindexed, stale))
}
