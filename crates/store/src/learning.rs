//! What was said since the agent last looked back, over all conversations of a person in a home.
//!
//! Only how far was read is kept. What counts are the rows behind that mark, so that a look back which did not
//! happen has nothing to give back, and rows that were taken back or copied are not counted.

use std::collections::HashSet;
use std::time::Duration;

use hermes_core::{MessageId, Role, SessionId};
use rusqlite::{Connection, OptionalExtension, Row};
use serde_json::Value as Json;

use crate::error::StoreError;
use crate::lineage::session_id;
use crate::store::Store;
use crate::worker::Pending;

/// Most rows that are looked at; the newest.
const MOST_ROWS: u32 = 2_000;
/// What is older than this is past, whoever read it.
const OLDEST: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// Characters of a text that are read at its beginning and at its end, where marks stand.
const OF_BEGINNING: u32 = 4_000;
const OF_END: u32 = 200;

/// What rows are read for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LearningKind {
    Memory,
    Skills,
}

impl LearningKind {
    fn word(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Skills => "skills",
        }
    }

    /// What its mark is filed under. Where a home serves several people, each has marks of their own.
    fn key(self, person: Option<&str>) -> String {
        let word = self.word();
        person.map_or_else(|| word.to_owned(), |person| format!("{word}:{person}"))
    }
}

/// How far was read.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct LearningMark {
    /// The last message.
    pub row: i64,
    /// When the newest was said, in seconds since 1970.
    pub at: f64,
}

/// What was not looked back on for at least one kind.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Unread {
    pub memory: LearningMark,
    pub skills: LearningMark,
    /// In the order in which they were said, each once however often it was copied.
    pub rows: Vec<UnreadRow>,
}

/// A row with what can be learned from at a glance.
#[derive(Debug, Clone, PartialEq)]
pub struct UnreadRow {
    pub id: MessageId,
    pub session: SessionId,
    pub role: Role,
    /// The text; of a long one only the beginning and the end, of a result nothing.
    pub text: String,
    /// The tools that were called.
    pub calls: Vec<String>,
    /// A result that tells of a failure.
    pub failed: bool,
    pub timestamp: f64,
}

impl UnreadRow {
    /// Whether it lies behind a mark. A copy of a row before it has a larger id, but not a later time.
    pub fn is_behind(&self, mark: LearningMark) -> bool {
        self.id.0 > mark.row && self.timestamp > mark.at
    }
}

impl Store {
    /// What was said since the last looks back in conversations with the person of this session. What others said is
    /// not for them.
    pub fn unread(&self, session: &SessionId) -> Pending<Unread> {
        let session = session.clone();
        let now = self.now();
        let oldest = now - OLDEST.as_secs_f64();
        self.read(move |connection| {
            let person = person(connection, &session)?;
            let person = person.as_deref();
            let memory = mark(connection, &LearningKind::Memory.key(person), now)?;
            let skills = mark(connection, &LearningKind::Skills.key(person), now)?;
            let mut rows = rows(connection, person, memory.row.min(skills.row), oldest)?;
            rows.retain(|row| row.is_behind(memory) || row.is_behind(skills));
            Ok(Unread {
                memory,
                skills,
                rows,
            })
        })
    }

    /// Notes how far was read of what the person of this session said. A mark never goes back.
    pub fn looked_back(
        &self,
        session: &SessionId,
        kinds: Vec<LearningKind>,
        to: LearningMark,
    ) -> Pending<()> {
        let session = session.clone();
        self.write(move |connection| {
            let person = person(connection, &session)?;
            for kind in kinds {
                connection
                    .prepare_cached(
                        "INSERT INTO learning_marks (kind, row, at) VALUES (?1, ?2, ?3) \
                         ON CONFLICT (kind) DO UPDATE SET row = max(row, excluded.row), at = max(at, excluded.at)",
                    )?
                    .execute((kind.key(person.as_deref()), to.row, to.at))?;
            }
            Ok(())
        })
    }
}

/// Who speaks in a session, where the home serves several people.
fn person(connection: &Connection, session: &SessionId) -> Result<Option<String>, StoreError> {
    let mut query = connection.prepare_cached("SELECT user_id FROM sessions WHERE id = ?")?;
    let found = query.query_row([session.as_str()], |row| row.get(0));
    Ok(found.optional()?.flatten())
}

/// A time to come is a clock that was set back since: nothing would ever be said after it.
fn mark(connection: &Connection, key: &str, now: f64) -> Result<LearningMark, StoreError> {
    let mut query =
        connection.prepare_cached("SELECT row, at FROM learning_marks WHERE kind = ?")?;
    let found = query.query_row([key], |row| {
        let at: f64 = row.get(1)?;
        Ok(LearningMark {
            row: row.get(0)?,
            at: if at > now { 0.0 } else { at },
        })
    });
    Ok(found.optional()?.unwrap_or_default())
}

/// Rows of a person's conversations, oldest first: neither taken back, nor of the reference, nor of helpers and jobs.
fn rows(
    connection: &Connection,
    person: Option<&str>,
    after: i64,
    oldest: f64,
) -> Result<Vec<UnreadRow>, StoreError> {
    let sql = format!(
        "SELECT m.id, m.session_id, m.role, \
           CASE WHEN m.role = 'tool' THEN '' WHEN length(m.content) <= {OF_BEGINNING} + {OF_END} THEN m.content \
             ELSE substr(m.content, 1, {OF_BEGINNING}) || substr(m.content, -{OF_END}) END, \
           m.tool_calls, m.role = 'tool' AND instr(coalesce(m.parts, ''), '\"failed\":true') > 0, m.timestamp, m.tool_call_id \
         FROM messages m CROSS JOIN sessions s ON s.id = m.session_id \
         WHERE m.id > ?1 AND m.timestamp > ?2 AND m.active + m.compacted > 0 AND m.imported_id IS NULL \
           AND m.role IN ('user', 'assistant', 'tool') AND s.source NOT IN ('cron', 'subagent', 'tool') \
           AND coalesce(s.relation, '') <> 'delegate' AND s.user_id IS ?3 \
         ORDER BY m.id DESC LIMIT {MOST_ROWS}"
    );
    let mut query = connection.prepare_cached(&sql)?;
    let mut found = query.query((after, oldest, person))?;
    let mut rows = Vec::new();
    let mut said = HashSet::new();
    while let Some(row) = found.next()? {
        let answered: Option<String> = row.get(7)?;
        let Some(row) = read(row)? else { continue };
        // Branches and shortened conversations carry copies on, which keep their time.
        let copy = (row.timestamp.to_bits(), row.role.word(), answered);
        if said.insert((copy, row.text.clone(), row.calls.clone())) {
            rows.push(row);
        }
    }
    let said_before = |one: &UnreadRow, other: &UnreadRow| {
        let times = one.timestamp.total_cmp(&other.timestamp);
        times.then(one.id.0.cmp(&other.id.0))
    };
    rows.sort_by(said_before);
    Ok(rows)
}

fn read(row: &Row<'_>) -> Result<Option<UnreadRow>, StoreError> {
    let role: String = row.get(2)?;
    let Some(role) = Role::from_word(&role) else {
        return Ok(None);
    };
    let text: Option<String> = row.get(3)?;
    let calls: Option<String> = row.get(4)?;
    let calls: Option<Json> = calls.and_then(|calls| serde_json::from_str(&calls).ok());
    let names = calls.iter().filter_map(Json::as_array).flatten();
    let names = names.filter_map(|call| call["function"]["name"].as_str());
    Ok(Some(UnreadRow {
        id: MessageId(row.get(0)?),
        session: session_id(row.get(1)?)?,
        role,
        text: text.unwrap_or_default(),
        calls: names.map(ToOwned::to_owned).collect(),
        failed: row.get(5)?,
        timestamp: row.get(6)?,
    }))
}
