//! What the agent learned, from the journal.

use rusqlite::{Connection, params_from_iter};

use super::Period;
use crate::error::StoreError;

/// What the agent kept over a period and nobody took back. What a person wrote by hand is not among it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Learned {
    /// Looks back at conversations that a model made; not those that only were due.
    pub reviews: u64,
    /// Entries that came into memory.
    pub entries_kept: u64,
    pub skills_written: u64,
    /// Skills of which a file was changed or added.
    pub skills_mended: u64,
    /// The last changes, newest first.
    pub latest: Vec<LearnedChange>,
}

/// Something that was learned, in one line.
#[derive(Debug, Clone, PartialEq)]
pub struct LearnedChange {
    /// Seconds since 1970.
    pub at: f64,
    /// What was changed: `memory`, `user`, `skill:NAME`.
    pub subject: String,
    pub summary: String,
}

/// Changes that are told one by one.
const LATEST: u32 = 5;
/// What was learned over a period and nobody took back.
const STANDING: &str = "FROM journal WHERE at >= ?1 \
    AND (?2 IS NULL OR session_id IN (SELECT id FROM sessions WHERE source = ?2)) \
    AND undone_at IS NULL AND origin IN ('foreground', 'background_review')";

impl Learned {
    /// Whether there is anything to tell.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A change of memory may bring several entries, with a line that holds only `§` between them.
pub(super) fn learned(connection: &Connection, period: &Period) -> Result<Learned, StoreError> {
    let sql = format!(
        "WITH made AS ( \
           SELECT subject, after, substr(subject, 1, 6) = 'skill:' AND after IS NOT NULL AS is_skill, \
             before IS NULL AND coalesce(path, '') LIKE '%/SKILL.md' AS is_new {STANDING}) \
         SELECT count(*) FILTER (WHERE subject = 'review'), \
           coalesce(sum((length(after) - length(replace(after, char(10, 167, 10), ''))) / 3 + 1) \
             FILTER (WHERE subject IN ('memory', 'user') AND after IS NOT NULL), 0), \
           count(DISTINCT iif(is_skill AND is_new, subject, NULL)), \
           count(DISTINCT iif(is_skill AND NOT is_new, subject, NULL)) FROM made"
    );
    let latest = latest(connection, period)?;
    let learned = connection.query_row(&sql, params_from_iter(period.values()), |row| {
        Ok(Learned {
            reviews: row.get(0)?,
            entries_kept: row.get(1)?,
            skills_written: row.get(2)?,
            skills_mended: row.get(3)?,
            latest,
        })
    })?;
    Ok(learned)
}

fn latest(connection: &Connection, period: &Period) -> Result<Vec<LearnedChange>, StoreError> {
    let sql = format!(
        "SELECT at, subject, summary {STANDING} AND subject NOT IN ('review', 'review:missed') \
         ORDER BY id DESC LIMIT {LATEST}"
    );
    let mut statement = connection.prepare(&sql)?;
    let rows = statement.query_map(params_from_iter(period.values()), |row| {
        Ok(LearnedChange {
            at: row.get(0)?,
            subject: row.get(1)?,
            summary: row.get(2)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}
