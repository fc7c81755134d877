//! What an external memory is still to be told: a queue on disk with a bound.

use rusqlite::Row;

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
        self.write(move |connection| {
            connection
                .prepare_cached(
                    "INSERT INTO memory_deliveries (provider, body, created_at) VALUES (?, ?, ?)",
                )?
                .execute((&provider, body, now))?;
            let gone = connection
                .prepare_cached(
                    "DELETE FROM memory_deliveries WHERE provider = ?1 AND id <= \
                       (SELECT id FROM memory_deliveries WHERE provider = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)",
                )?
                .execute((&provider, MOST_DELIVERIES))?;
            Ok(gone as u64)
        })
    }

    /// The oldest row, marked as begun. It tells whether it was marked before.
    pub fn begin_memory_delivery(&self, provider: &str) -> Pending<Option<MemoryDelivery>> {
        let (provider, now) = (provider.to_owned(), self.now());
        self.write(move |connection| {
            let mut query = connection.prepare_cached(
                "SELECT id, body, begun_at IS NOT NULL, attempts FROM memory_deliveries \
                 WHERE provider = ? ORDER BY id LIMIT 1",
            )?;
            let mut rows = query.query([&provider])?;
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

fn read(row: &Row<'_>) -> Result<MemoryDelivery, rusqlite::Error> {
    Ok(MemoryDelivery {
        id: row.get(0)?,
        body: row.get(1)?,
        begun: row.get(2)?,
        attempts: row.get(3)?,
    })
}
