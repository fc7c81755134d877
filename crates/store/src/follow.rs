//! Following conversations from outside: whether anything was committed, and what was said since.

use hermes_core::{MessageId, SessionId};
use rusqlite::Connection;

use crate::error::StoreError;
use crate::record::{RECORD_COLUMNS, Record};
use crate::store::Store;
use crate::worker::Pending;

/// What people and models say to each other, and nothing that was taken back. Tools have roles of their own.
const SAID: &str = "m.active = 1 AND m.role IN ('user', 'assistant') AND \
     ((m.content IS NOT NULL AND m.content <> '') OR m.parts IS NOT NULL)";

/// Bytes that are read of a tool's result where only its beginning is of use, and of thoughts.
const BEGINNING: usize = 2_048;

/// A row that repeats an earlier one: what a shortened conversation carries on, or a branch begins with.
const COPIED: &str = "EXISTS (SELECT 1 FROM messages o WHERE o.id < m.id AND o.timestamp = m.timestamp AND \
     o.role = m.role AND o.content IS m.content AND \
     ((o.session_id = m.session_id AND o.active = 0 AND o.compacted = 0) OR \
     o.session_id = (SELECT s.parent_session_id FROM sessions s WHERE s.id = m.session_id)))";

/// Tells whether anybody committed anything, this process or another one, at the price of one read of
/// shared memory. The number behind it belongs to one connection, which is why it has its own.
pub struct Watch {
    connection: Connection,
    path: std::path::PathBuf,
    seen: i64,
}

impl Watch {
    /// Whether something was committed since the last time it was asked.
    pub fn changed(&mut self) -> Result<bool, StoreError> {
        let now =
            version(&self.connection).map_err(|error| StoreError::from_sql(error, &self.path))?;
        Ok(std::mem::replace(&mut self.seen, now) != now)
    }
}

fn version(connection: &Connection) -> Result<i64, rusqlite::Error> {
    connection.query_row("PRAGMA data_version", [], |row| row.get(0))
}

impl Store {
    /// Watches for commits from now on. Blocks for a moment, as [`Watch::changed`] does.
    pub fn watch(&self) -> Result<Watch, StoreError> {
        let connection = self.location().open_reader()?;
        let seen =
            version(&connection).map_err(|error| StoreError::from_sql(error, self.path()))?;
        Ok(Watch {
            connection,
            path: self.path().to_owned(),
            seen,
        })
    }

    /// The latest row there ever was; later rows have larger ids.
    pub fn newest_message(&self) -> Pending<MessageId> {
        self.read(|connection| {
            let newest: Option<i64> = connection
                .prepare_cached("SELECT max(id) FROM messages")?
                .query_row([], |row| row.get(0))?;
            Ok(MessageId(newest.unwrap_or_default()))
        })
    }

    /// What was said after a row, in any conversation; oldest first.
    pub fn said_after(&self, after: MessageId, most: u32) -> Pending<Vec<Record>> {
        self.read(move |connection| {
            let sql = format!(
                "SELECT {RECORD_COLUMNS} FROM messages m WHERE m.id > ?1 AND {SAID} AND NOT {COPIED} \
                 ORDER BY m.id LIMIT ?2"
            );
            let mut statement = connection.prepare_cached(&sql)?;
            collect(statement.query((after.0, most))?)
        })
    }

    /// One row by its id.
    pub fn record(&self, id: MessageId) -> Pending<Option<Record>> {
        self.read(move |connection| {
            let sql = format!("SELECT {RECORD_COLUMNS} FROM messages m WHERE m.id = ?1");
            let mut statement = connection.prepare_cached(&sql)?;
            Ok(collect(statement.query([id.0])?)?.pop())
        })
    }

    /// The last things said in a session, oldest first, and how many there are in all.
    pub fn last_said(&self, session: &SessionId, most: u32) -> Pending<(Vec<Record>, u64)> {
        let session = session.clone();
        self.read(move |connection| {
            let among = format!("FROM messages m WHERE m.session_id = ?1 AND {SAID}");
            let count = connection
                .prepare_cached(&format!("SELECT count(*) {among}"))?
                .query_row([session.as_str()], |row| row.get(0))?;
            let mut statement = connection.prepare_cached(&format!(
                "SELECT {RECORD_COLUMNS} {among} ORDER BY m.id DESC LIMIT ?2"
            ))?;
            let mut said = collect(statement.query((session.as_str(), most))?)?;
            said.reverse();
            Ok((said, count))
        })
    }

    /// The last rows of a session as they are shown again, oldest first: what was said, what was called and what
    /// came of it. Of results and thoughts only the beginnings are read, and nothing that is only for the model.
    pub fn last_rows(&self, session: &SessionId, most: u32) -> Pending<Vec<Record>> {
        let session = session.clone();
        self.read(move |connection| {
            let columns = RECORD_COLUMNS
                .replace(
                    "m.content",
                    &format!("CASE m.role WHEN 'tool' THEN substr(m.content, 1, {BEGINNING}) ELSE m.content END"),
                )
                .replace(
                    "m.parts",
                    &format!("CASE WHEN length(m.parts) <= 4 * {BEGINNING} OR m.role <> 'tool' THEN m.parts END"),
                )
                .replace("m.reasoning", &format!("substr(m.reasoning, 1, {BEGINNING})"))
                .replace("m.raw", "NULL");
            let sql = format!(
                "SELECT {columns} FROM messages m WHERE m.session_id = ?1 AND m.active = 1 \
                 ORDER BY m.id DESC LIMIT ?2"
            );
            let mut statement = connection.prepare_cached(&sql)?;
            let mut rows = collect(statement.query((session.as_str(), most))?)?;
            rows.reverse();
            Ok(rows)
        })
    }
}

fn collect(mut rows: rusqlite::Rows<'_>) -> Result<Vec<Record>, StoreError> {
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(Record::read(row)?);
    }
    Ok(found)
}
