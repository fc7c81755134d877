//! What waits to be said: rows that are there before anybody is told, and become messages exactly once.

use hermes_core::{InboxId, MessageId, Op, SessionId};
use rusqlite::Connection;
use serde::Deserialize;

use crate::error::StoreError;
use crate::lineage::tip;
use crate::messages::{NewRecord, append, replace_last};
use crate::store::Store;
use crate::worker::Pending;

/// What may wait in one conversation.
pub const MOST_IN_INBOX: usize = 128;

/// Something that waits.
#[derive(Debug, Clone, PartialEq)]
pub struct Waiting {
    pub id: InboxId,
    /// A message, one that calls for skills, or a remark for a turn that is not under way any more.
    pub op: Op,
    /// Seconds since 1970.
    pub created_at: f64,
}

impl Store {
    /// Has something wait in a conversation, at the end of its chain. It is durable when this answers.
    pub fn enqueue(&self, session: &SessionId, op: &Op) -> Pending<InboxId> {
        let (session, now) = (session.clone(), self.now());
        let kind = match op {
            Op::Steer { .. } => "remark",
            _ => "message",
        };
        let body = serde_json::to_value(op).and_then(|body| {
            let masked = self.clean_json(body);
            // What is masked must still be something that can be said.
            Op::deserialize(&masked).map(|_| masked.to_string())
        });
        self.write(move |connection| {
            let body = body.map_err(|error| StoreError::BadRow {
                table: "inbox",
                row: "to be written".to_owned(),
                detail: error.to_string(),
            })?;
            let session = tip(connection, &session)?;
            let waiting: usize = connection
                .prepare_cached("SELECT count(*) FROM inbox WHERE session_id = ?")?
                .query_row([session.as_str()], |row| row.get(0))?;
            if waiting >= MOST_IN_INBOX {
                return Err(StoreError::InboxFull { waiting });
            }
            let written = connection
                .prepare_cached(
                    "INSERT INTO inbox (session_id, kind, body, created_at) \
                     SELECT id, ?2, ?3, ?4 FROM sessions WHERE id = ?1",
                )?
                .execute((session.as_str(), kind, body, now))?;
            match written {
                0 => Err(StoreError::NoSuchSession {
                    wanted: session.to_string(),
                }),
                _ => Ok(InboxId(connection.last_insert_rowid())),
            }
        })
    }

    /// What waits in a conversation, in the order it came.
    pub fn waiting(&self, session: &SessionId) -> Pending<Vec<Waiting>> {
        let session = session.clone();
        self.read(move |connection| {
            let mut query = connection.prepare_cached(
                "SELECT id, body, created_at FROM inbox WHERE session_id = ? ORDER BY id LIMIT ?",
            )?;
            let rows = query.query_map((session.as_str(), MOST_IN_INBOX), |row| {
                let body: String = row.get(1)?;
                Ok((InboxId(row.get(0)?), body, row.get(2)?))
            })?;
            let mut found = Vec::new();
            for row in rows {
                let (id, body, created_at) = row?;
                // What a newer version wrote waits for that.
                if let Ok(op) = serde_json::from_str(&body) {
                    found.push(Waiting { id, op, created_at });
                }
            }
            Ok(found)
        })
    }

    /// Takes back what waits. Answers how much of it was still there.
    pub fn withdraw(&self, rows: Vec<InboxId>) -> Pending<usize> {
        self.write(move |connection| delete(connection, &rows))
    }

    /// Makes what waited part of a conversation, in the place of its last row where one is given: the rows go and the
    /// messages come in one step, so that whatever crashes it is said exactly once. `None`, with nothing changed, when
    /// not all of it waits any more.
    pub fn take_up(
        &self,
        rows: Vec<InboxId>,
        session: &SessionId,
        last: Option<MessageId>,
        records: Vec<NewRecord>,
    ) -> Pending<Option<Vec<MessageId>>> {
        let (session, now) = (session.clone(), self.now());
        let records: Vec<_> = records
            .into_iter()
            .map(|record| self.clean_record(record))
            .collect();
        self.write(move |connection| {
            for row in &rows {
                let waits = connection
                    .prepare_cached("SELECT 1 FROM inbox WHERE id = ?")?
                    .exists([row.0])?;
                if !waits {
                    return Ok(None);
                }
            }
            delete(connection, &rows)?;
            match last {
                Some(last) => replace_last(connection, &session, last, &records, now).map(Some),
                None => append(connection, &session, &records, now).map(Some),
            }
        })
    }
}

fn delete(connection: &Connection, rows: &[InboxId]) -> Result<usize, StoreError> {
    let mut gone = 0;
    for row in rows {
        gone += connection
            .prepare_cached("DELETE FROM inbox WHERE id = ?")?
            .execute([row.0])?;
    }
    Ok(gone)
}

/// What waits goes where the conversation goes on.
pub(crate) fn follow(
    connection: &Connection,
    from: &SessionId,
    to: &SessionId,
) -> Result<(), StoreError> {
    connection
        .prepare_cached("UPDATE inbox SET session_id = ?2 WHERE session_id = ?1")?
        .execute((from.as_str(), to.as_str()))?;
    Ok(())
}
