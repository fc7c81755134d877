//! What an external memory is still to be told: a queue on disk with a bound.

use hermes_core::MessageId;
use rusqlite::{Connection, Row};
use serde_json::{Value as Json, json};

use crate::error::StoreError;
use crate::store::Store;
use crate::worker::Pending;

/// Rows kept for one external memory; the oldest go when there are more.
pub const MOST_DELIVERIES: i64 = 1_000;

/// Something an external memory is to be told.
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryDelivery {
    pub id: i64,
    /// What it is, in the words of the memory crate.
    pub body: String,
    /// Whether somebody began to send it and never said how that went.
    pub begun: bool,
    /// How often sending it has failed.
    pub attempts: u32,
}

/// Where a message says by which marks external memories know it, in what it carries beyond its columns.
const TOLD: &str = "memory_told";

/// What became of a message that is taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TakenBack {
    /// The memory never heard of it.
    Untold,
    /// It waited to be sent, and does not any more.
    Unsent,
    /// It was sent, or may have been.
    Sent,
}

/// How many wait, and how long the oldest has.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct MemoryBacklog {
    pub waiting: u64,
    /// Seconds since 1970.
    pub oldest: Option<f64>,
}

impl Store {
    /// Writes down what is to be told. Answers how many of the oldest rows gave way to it.
    pub fn queue_memory_delivery(&self, provider: &str, body: String) -> Pending<u64> {
        let (provider, now) = (provider.to_owned(), self.now());
        let body = self.clean(body);
        self.write(move |connection| queue(connection, &provider, &body, now))
    }

    /// Writes down that a message is to be told of, once: the message itself keeps the mark it is told by. Answers
    /// nothing when it was told of before, or is not there.
    pub fn tell_memory(
        &self,
        provider: &str,
        message: MessageId,
        mark: &str,
        body: String,
    ) -> Pending<Option<u64>> {
        let (provider, now) = (provider.to_owned(), self.now());
        let (body, mark) = (self.clean(body), mark.to_owned());
        self.write(move |connection| {
            let Some(mut extra) = extra(connection, message)? else {
                return Ok(None);
            };
            if extra[TOLD].get(&provider).is_some() {
                return Ok(None);
            }
            // A file from elsewhere may hold anything there.
            if !extra[TOLD].is_object() {
                extra[TOLD] = json!({});
            }
            extra[TOLD][&provider] = json!(mark);
            connection
                .prepare_cached("UPDATE messages SET extra = ? WHERE id = ?")?
                .execute((extra.to_string(), message.0))?;
            queue(connection, &provider, &body, now).map(Some)
        })
    }

    /// Sees to it that an external memory does not keep a message. What still waits is not sent; of what was sent it
    /// is told with `body`, which is given the mark of the telling as `turn`.
    pub fn take_back_told(
        &self,
        provider: &str,
        message: MessageId,
        body: Option<Json>,
    ) -> Pending<TakenBack> {
        let (provider, now) = (provider.to_owned(), self.now());
        let body = body.map(|body| self.clean_json(body));
        self.write(move |connection| {
            let extra = extra(connection, message)?.unwrap_or_default();
            let mark = extra[TOLD][&provider].as_str().unwrap_or_default();
            // A copy in a branch says that it was told of, and not by which mark: the other one is still said.
            if mark.is_empty() {
                return Ok(TakenBack::Untold);
            }
            let unsent = connection
                .prepare_cached(
                    "DELETE FROM memory_deliveries WHERE provider = ? AND begun_at IS NULL \
                     AND json_extract(body, '$.token') = ?",
                )?
                .execute((&provider, mark))?;
            if unsent > 0 {
                return Ok(TakenBack::Unsent);
            }
            if let Some(mut body) = body.filter(Json::is_object) {
                body["turn"] = json!(mark);
                queue(connection, &provider, &body.to_string(), now)?;
            }
            Ok(TakenBack::Sent)
        })
    }

    /// The oldest row behind the one with this id, marked as begun. It tells whether it was marked before.
    pub fn begin_memory_delivery(
        &self,
        provider: &str,
        behind: i64,
    ) -> Pending<Option<MemoryDelivery>> {
        let (provider, now) = (provider.to_owned(), self.now());
        self.write(move |connection| {
            let mut query = connection.prepare_cached(
                "SELECT id, body, begun_at IS NOT NULL, attempts FROM memory_deliveries \
                 WHERE provider = ? AND id > ? ORDER BY id LIMIT 1",
            )?;
            let mut rows = query.query((&provider, behind))?;
            let Some(row) = rows.next()? else {
                return Ok(None);
            };
            let delivery = read(row)?;
            connection
                .prepare_cached("UPDATE memory_deliveries SET begun_at = ? WHERE id = ?")?
                .execute((now, delivery.id))?;
            Ok(Some(delivery))
        })
    }

    /// The service has taken it, or never will.
    pub fn end_memory_delivery(&self, id: i64) -> Pending<()> {
        self.write(move |connection| {
            connection
                .prepare_cached("DELETE FROM memory_deliveries WHERE id = ?")?
                .execute([id])?;
            Ok(())
        })
    }

    /// It was certainly not taken and is tried again later.
    pub fn put_memory_delivery_back(&self, id: i64) -> Pending<()> {
        self.write(move |connection| {
            connection
                .prepare_cached(
                    "UPDATE memory_deliveries SET begun_at = NULL, attempts = attempts + 1 WHERE id = ?",
                )?
                .execute([id])?;
            Ok(())
        })
    }

    /// It may have been taken: the next attempt looks first.
    pub fn doubt_memory_delivery(&self, id: i64) -> Pending<()> {
        self.write(move |connection| {
            connection
                .prepare_cached(
                    "UPDATE memory_deliveries SET attempts = attempts + 1 WHERE id = ?",
                )?
                .execute([id])?;
            Ok(())
        })
    }

    /// What waits for one external memory.
    pub fn memory_backlog(&self, provider: &str) -> Pending<MemoryBacklog> {
        let provider = provider.to_owned();
        self.read(move |connection| {
            let mut query = connection.prepare_cached(
                "SELECT count(*), min(created_at) FROM memory_deliveries WHERE provider = ?",
            )?;
            Ok(query.query_row([provider], |row| {
                Ok(MemoryBacklog {
                    waiting: row.get(0)?,
                    oldest: row.get(1)?,
                })
            })?)
        })
    }

    /// Notes that something was done once and for all.
    pub fn mark_memory(&self, name: &str) -> Pending<()> {
        let (name, now) = (name.to_owned(), self.now());
        self.write(move |connection| {
            connection
                .prepare_cached("INSERT OR IGNORE INTO memory_marks (name, at) VALUES (?, ?)")?
                .execute((name, now))?;
            Ok(())
        })
    }

    /// Whether it was noted.
    pub fn memory_is_marked(&self, name: &str) -> Pending<bool> {
        let name = name.to_owned();
        self.read(move |connection| {
            let mut query = connection
                .prepare_cached("SELECT EXISTS (SELECT 1 FROM memory_marks WHERE name = ?)")?;
            Ok(query.query_row([name], |row| row.get(0))?)
        })
    }
}

/// The same message as a copy: told of, and not to be taken back by it.
pub(crate) fn as_copy(extra: &mut Option<Json>) {
    let told = extra.as_mut().and_then(|extra| extra.get_mut(TOLD));
    for (_, mark) in told.and_then(Json::as_object_mut).into_iter().flatten() {
        *mark = json!("");
    }
}

/// What a message carries beyond its columns; nothing when it is not there.
fn extra(connection: &Connection, message: MessageId) -> Result<Option<Json>, StoreError> {
    let mut query = connection.prepare_cached("SELECT extra FROM messages WHERE id = ?")?;
    let mut rows = query.query([message.0])?;
    let Some(row) = rows.next()? else {
        return Ok(None);
    };
    let text: Option<String> = row.get(0)?;
    let extra = text.and_then(|text| serde_json::from_str(&text).ok());
    Ok(Some(extra.filter(Json::is_object).unwrap_or(json!({}))))
}

fn queue(connection: &Connection, provider: &str, body: &str, now: f64) -> Result<u64, StoreError> {
    connection
        .prepare_cached(
            "INSERT INTO memory_deliveries (provider, body, created_at) VALUES (?, ?, ?)",
        )?
        .execute((provider, body, now))?;
    let gone = connection
        .prepare_cached(
            "DELETE FROM memory_deliveries WHERE provider = ?1 AND id <= \
               (SELECT id FROM memory_deliveries WHERE provider = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)",
        )?
        .execute((provider, MOST_DELIVERIES))?;
    Ok(gone as u64)
}

fn read(row: &Row<'_>) -> Result<MemoryDelivery, rusqlite::Error> {
    Ok(MemoryDelivery {
        id: row.get(0)?,
        body: row.get(1)?,
        begun: row.get(2)?,
        attempts: row.get(3)?,
    })
}
