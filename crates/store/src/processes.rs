//! Background processes and what conversations have to hear about them.

use hermes_core::{MessageId, Role, SessionId};
use rusqlite::{Connection, OptionalExtension, Row};
use serde::Serialize;

use crate::error::StoreError;
use crate::messages::{NewRecord, append};
use crate::store::Store;
use crate::worker::Pending;

/// A process that was started in the background.
#[derive(Debug, Clone, PartialEq)]
pub struct ProcessRow {
    /// Its name.
    pub id: String,
    /// The conversation that started it.
    pub session: String,
    pub command: String,
    pub directory: String,
    /// Where it runs: `host`, or a backend and which one.
    pub place: String,
    /// The program that follows it.
    pub owner: String,
    /// Its first process on this machine, once it runs.
    pub process: Option<ProcessIdentity>,
    /// The file its output is kept in.
    pub log: String,
    /// Whether its conversation wants to hear of its end.
    pub notify: bool,
    pub started_at: f64,
}

/// Something that names one process of this machine for good.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessIdentity {
    pub pid: i32,
    /// Clock ticks since boot.
    pub started: u64,
    /// Which boot.
    pub boot: String,
}

/// How a process ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessEnd {
    pub exit_code: Option<i32>,
    /// In one word.
    pub reason: String,
}

/// What a conversation has to hear.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProcessEvent {
    pub id: i64,
    pub process: String,
    pub session: String,
    pub kind: String,
    /// JSON.
    pub body: String,
    pub created_at: f64,
}

/// The kind of the one event that says a process ended.
const COMPLETION: &str = "completion";

impl Store {
    /// Remembers a process that is about to be started.
    pub fn add_process(&self, row: ProcessRow) -> Pending<()> {
        let command = self.clean(row.command);
        self.write(move |connection| {
            connection.execute(
                "INSERT INTO processes (id, session_id, command, directory, place, owner, log, notify, started_at) \
                 VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                rusqlite::params![
                    row.id,
                    row.session,
                    command,
                    row.directory,
                    row.place,
                    row.owner,
                    row.log,
                    row.notify,
                    row.started_at,
                ],
            )?;
            Ok(())
        })
    }

    /// Remembers which process it became.
    pub fn identify_process(&self, id: &str, process: ProcessIdentity) -> Pending<()> {
        let id = id.to_owned();
        self.write(move |connection| {
            let started = i64::try_from(process.started).unwrap_or(i64::MAX);
            connection.execute(
                "UPDATE processes SET pid = ?2, pid_started = ?3, boot = ?4 WHERE id = ?1",
                (id, process.pid, started, process.boot),
            )?;
            Ok(())
        })
    }

    /// Remembers that a process ended, and what its conversation hears of it, in one step. The second call
    /// for the same process changes nothing and answers `false`.
    pub fn end_process(&self, id: &str, end: ProcessEnd, body: Option<String>) -> Pending<bool> {
        let (id, now) = (id.to_owned(), self.now());
        let body = body.map(|body| self.clean(body));
        self.write(move |connection| {
            let ended = connection.execute(
                "UPDATE processes SET ended_at = ?2, exit_code = ?3, reason = ?4 \
                 WHERE id = ?1 AND ended_at IS NULL",
                (&id, now, end.exit_code, end.reason),
            )?;
            if ended == 0 {
                return Ok(false);
            }
            if let Some(body) = body {
                insert_event(connection, &id, COMPLETION, &body, now)?;
            }
            Ok(true)
        })
    }

    /// Adds something a process's conversation has to hear. Answers its number.
    pub fn add_process_event(&self, process: &str, kind: &str, body: String) -> Pending<i64> {
        let (process, kind, now) = (process.to_owned(), kind.to_owned(), self.now());
        let body = self.clean(body);
        self.write(move |connection| insert_event(connection, &process, &kind, &body, now))
    }

    /// From now on the conversation wants to hear of the end of a process.
    pub fn notify_of_process(&self, id: &str) -> Pending<()> {
        let id = id.to_owned();
        self.write(move |connection| {
            connection.execute("UPDATE processes SET notify = 1 WHERE id = ?", [id])?;
            Ok(())
        })
    }

    /// What a conversation has not heard yet, oldest first.
    pub fn open_process_events(&self, session: &str, most: usize) -> Pending<Vec<ProcessEvent>> {
        let session = session.to_owned();
        self.read(move |connection| open_events(connection, &session, most))
    }

    /// Passes on what a conversation has not heard yet, oldest first: the message made of it and the mark that
    /// it was passed on are one step, so it is heard exactly once however often this is asked and whatever
    /// crashes. `None` when there was nothing.
    pub fn pass_on_process_events(
        &self,
        session: &SessionId,
        most: usize,
        words: impl FnOnce(&[ProcessEvent]) -> String + Send + 'static,
    ) -> Pending<Option<(MessageId, Vec<ProcessEvent>)>> {
        let (session, now) = (session.clone(), self.now());
        self.write(move |connection| {
            let events = open_events(connection, session.as_str(), most)?;
            let Some(last) = events.last() else {
                return Ok(None);
            };
            connection.execute(
                "UPDATE process_events SET acknowledged_at = ?3 \
                 WHERE session_id = ?1 AND id <= ?2 AND acknowledged_at IS NULL",
                (session.as_str(), last.id, now),
            )?;
            let record = NewRecord::text(Role::User, words(&events));
            let rows = append(connection, &session, &[record], now)?;
            Ok(rows.first().map(|row| (*row, events)))
        })
    }

    /// Marks the end of a process as known, because somebody saw it.
    pub fn acknowledge_process_end(&self, process: &str) -> Pending<bool> {
        let (process, now) = (process.to_owned(), self.now());
        self.write(move |connection| {
            let changed = connection.execute(
                "UPDATE process_events SET acknowledged_at = ?2 \
                 WHERE process_id = ?1 AND kind = ?3 AND acknowledged_at IS NULL",
                (process, now, COMPLETION),
            )?;
            Ok(changed == 1)
        })
    }

    /// The processes that have not ended as far as anybody knows.
    pub fn unended_processes(&self) -> Pending<Vec<ProcessRow>> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT id, session_id, command, directory, place, owner, pid, pid_started, boot, log, notify, \
                   started_at FROM processes WHERE ended_at IS NULL ORDER BY started_at",
            )?;
            let rows = statement.query_map([], process_row)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Takes a process over from a program that is gone. Answers whether it is ours now.
    pub fn adopt_process(&self, id: &str, from: &str, to: &str) -> Pending<bool> {
        let (id, from, to) = (id.to_owned(), from.to_owned(), to.to_owned());
        self.write(move |connection| {
            let changed = connection.execute(
                "UPDATE processes SET owner = ?3 WHERE id = ?1 AND owner = ?2 AND ended_at IS NULL",
                (id, from, to),
            )?;
            Ok(changed == 1)
        })
    }

    /// Forgets processes that ended before a time and whose conversations have heard everything.
    pub fn forget_processes(&self, before: f64) -> Pending<usize> {
        self.write(move |connection| {
            Ok(connection.execute(
                "DELETE FROM processes WHERE ended_at < ?1 AND NOT EXISTS \
                 (SELECT 1 FROM process_events WHERE process_id = processes.id AND acknowledged_at IS NULL)",
                [before],
            )?)
        })
    }
}

fn open_events(
    connection: &Connection,
    session: &str,
    most: usize,
) -> Result<Vec<ProcessEvent>, StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT id, process_id, session_id, kind, body, created_at FROM process_events \
         WHERE session_id = ?1 AND acknowledged_at IS NULL ORDER BY id LIMIT ?2",
    )?;
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    let events = statement.query_map((session, most), |row| {
        Ok(ProcessEvent {
            id: row.get(0)?,
            process: row.get(1)?,
            session: row.get(2)?,
            kind: row.get(3)?,
            body: row.get(4)?,
            created_at: row.get(5)?,
        })
    })?;
    Ok(events.collect::<Result<_, _>>()?)
}

fn insert_event(
    connection: &Connection,
    process: &str,
    kind: &str,
    body: &str,
    now: f64,
) -> Result<i64, StoreError> {
    let session: Option<String> = connection
        .query_row(
            "SELECT session_id FROM processes WHERE id = ?",
            [process],
            |row| row.get(0),
        )
        .optional()?;
    connection.execute(
        "INSERT INTO process_events (process_id, session_id, kind, body, created_at) VALUES (?, ?, ?, ?, ?)",
        (process, session, kind, body, now),
    )?;
    Ok(connection.last_insert_rowid())
}

fn process_row(row: &Row<'_>) -> Result<ProcessRow, rusqlite::Error> {
    let pid: Option<i32> = row.get(6)?;
    let started: Option<u64> = row.get(7)?;
    let boot: Option<String> = row.get(8)?;
    let process = pid
        .zip(started)
        .zip(boot)
        .map(|((pid, started), boot)| ProcessIdentity { pid, started, boot });
    Ok(ProcessRow {
        id: row.get(0)?,
        session: row.get(1)?,
        command: row.get(2)?,
        directory: row.get(3)?,
        place: row.get(4)?,
        owner: row.get(5)?,
        process,
        log: row.get(9)?,
        notify: row.get(10)?,
        started_at: row.get(11)?,
    })
}
