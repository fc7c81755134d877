//! Mending: the index from the messages, a damaged file from whatever rows can still be read.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::types::Value as Sql;
use rusqlite::{Connection, OpenFlags, params_from_iter};

use crate::backup::copy_database;
use crate::check::{Check, check};
use crate::error::StoreError;
use crate::facts;
use crate::open::{Location, create_private, with_tail};
use crate::search::{index_terms, search_text};

/// What a repair did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Repair {
    /// What was wrong; `None` when the file could not even be checked.
    pub found: Option<Check>,
    /// Messages in the rebuilt index; 0 when it was left alone.
    pub reindexed: u64,
    /// A copy of a sound file from before its index was made anew.
    pub copy: Option<PathBuf>,
    /// Where the damaged file was kept, when its rows had to be copied to a new one.
    pub kept: Option<PathBuf>,
    pub rows_saved: u64,
}

/// Whether a sound file is copied before its index is made anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeepCopy {
    Yes,
    No,
}

/// Tables in an order in which every row finds the rows it points to.
const TABLES: [&str; 16] = [
    "imports",
    "texts",
    "sessions",
    "messages",
    "message_blobs",
    "inbox",
    "model_calls",
    "imported_sessions",
    "meta",
    "facts",
    "fact_entities",
    "memory_deliveries",
    "memory_marks",
    "journal",
    "learning_marks",
    "sqlite_sequence",
];

/// Checks a database and mends what is wrong with it. Nobody may have it open.
///
/// Nothing is left beside a sound file. One with a poor index gets a new index, and is copied before.
/// A damaged file is moved aside, and every row that can be read goes to a new file in its place.
/// `stamp` ends the names of what is kept.
pub fn repair(path: &Path, stamp: &str, copy: KeepCopy) -> Result<Repair, StoreError> {
    let location = Location::new(path.to_owned(), None);
    let found = location.open_writer().and_then(|connection| {
        let found = check(&connection).map_err(|error| error.at(path))?;
        Ok((connection, found))
    });
    match found {
        Ok((_, found)) if found.is_clean() => Ok(Repair {
            found: Some(found),
            ..Repair::default()
        }),
        Ok((connection, found)) if found.integrity.is_empty() => {
            let copy = match copy {
                KeepCopy::Yes => Some(copy_beside(path, stamp)?),
                KeepCopy::No => None,
            };
            let reindexed = reindex(&connection).map_err(|error| error.at(path))?;
            Ok(Repair {
                found: Some(found),
                reindexed,
                copy,
                ..Repair::default()
            })
        }
        Ok((connection, found)) => {
            drop(connection);
            salvage(&location, stamp, Some(found))
        }
        Err(StoreError::Damaged { .. } | StoreError::NotADatabase { .. } | StoreError::Sql(_)) => {
            salvage(&location, stamp, None)
        }
        Err(refused @ StoreError::CannotOpen { .. }) => {
            // What can be read cannot be written, which is another thing to look for.
            location.for_reading(refused)?;
            Err(StoreError::ReadOnly {
                path: path.to_owned(),
            })
        }
        Err(other) => Err(other),
    }
}

fn copy_beside(path: &Path, stamp: &str) -> Result<PathBuf, StoreError> {
    let copy = with_suffix(path, &format!("before-repair-{stamp}"));
    create_private(&copy)?;
    copy_database(path, &copy, |_, _| {})?;
    Ok(copy)
}

fn salvage(location: &Location, stamp: &str, found: Option<Check>) -> Result<Repair, StoreError> {
    let path = &location.path;
    let fresh = with_suffix(path, "rebuilding");
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| StoreError::File { path, source }
    };
    remove_database(&fresh);
    let target = Location::new(fresh.clone(), None);
    let (rows_saved, reindexed) = {
        let connection = target.open_writer()?;
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let damaged = Connection::open_with_flags(path, flags)
            .map_err(|error| StoreError::from_sql(error, path))?;
        // A schema row that cannot be understood must not hide the tables that can.
        drop(damaged.execute_batch("PRAGMA writable_schema = ON"));
        connection.execute_batch("PRAGMA foreign_keys = OFF; BEGIN")?;
        let mut saved = 0;
        for table in TABLES {
            saved += copy_table(&damaged, &connection, table)?;
        }
        connection.execute_batch(
            // A message without its session gets one back: its text is what matters.
            "INSERT INTO sessions (id, source, started_at, last_active_at, message_count) \
               SELECT session_id, 'recovered', min(timestamp), max(timestamp), sum(active) FROM messages \
               WHERE session_id NOT IN (SELECT id FROM sessions) GROUP BY session_id;
             DELETE FROM message_blobs WHERE message_id NOT IN (SELECT id FROM messages);
             DELETE FROM inbox WHERE session_id NOT IN (SELECT id FROM sessions);
             UPDATE sessions SET parent_session_id = NULL WHERE parent_session_id NOT IN (SELECT id FROM sessions);
             UPDATE sessions SET system_prompt_hash = NULL WHERE system_prompt_hash NOT IN (SELECT hash FROM texts);
             UPDATE sessions SET import_id = NULL WHERE import_id NOT IN (SELECT id FROM imports);
             UPDATE model_calls SET import_id = NULL WHERE import_id NOT IN (SELECT id FROM imports);
             UPDATE model_calls SET session_id = NULL WHERE session_id NOT IN (SELECT id FROM sessions);
             DELETE FROM fact_entities WHERE fact_id NOT IN (SELECT id FROM facts);
             DELETE FROM imported_sessions WHERE import_id NOT IN (SELECT id FROM imports);
             UPDATE imported_sessions SET session_id = NULL WHERE session_id NOT IN (SELECT id FROM sessions);",
        )?;
        let reindexed = reindex(&connection)?;
        connection.execute_batch("COMMIT; PRAGMA wal_checkpoint(TRUNCATE)")?;
        (saved, reindexed)
    };
    let kept = with_suffix(path, &format!("damaged-{stamp}"));
    // The log may hold rows that the file does not; an empty one and the shared memory hold nothing.
    let log = with_tail(path, "-wal");
    if fs::metadata(&log).is_ok_and(|found| found.len() > 0) {
        fs::rename(&log, with_tail(&kept, "-wal")).map_err(failed(&log))?;
    }
    fs::rename(path, &kept).map_err(failed(path))?;
    remove_database(path);
    fs::rename(&fresh, path).map_err(failed(path))?;
    remove_database(&fresh);
    Ok(Repair {
        found,
        reindexed,
        copy: None,
        kept: Some(kept),
        rows_saved,
    })
}

/// Copies the rows that can be read: from the front up to the damage, then from the back up to it.
fn copy_table(from: &Connection, to: &Connection, table: &str) -> Result<u64, StoreError> {
    let columns: Vec<String> = {
        let mut statement = to.prepare("SELECT name FROM pragma_table_info(?)")?;
        let rows = statement.query_map([table], |row| row.get(0))?;
        rows.collect::<Result<_, _>>()?
    };
    let list = columns.join(", ");
    let marks = vec!["?"; columns.len()].join(", ");
    let mut insert = to.prepare(&format!(
        "INSERT OR IGNORE INTO {table} ({list}) VALUES ({marks})"
    ))?;
    let mut saved = 0;
    for order in ["", "ORDER BY 1 DESC"] {
        let Ok(mut read) = from.prepare(&format!("SELECT {list} FROM {table} {order}")) else {
            return Ok(saved);
        };
        let Ok(mut rows) = read.query([]) else {
            continue;
        };
        loop {
            match rows.next() {
                Ok(Some(row)) => {
                    let values: Result<Vec<Sql>, _> =
                        (0..columns.len()).map(|index| row.get(index)).collect();
                    let Ok(values) = values else { continue };
                    // A row that breaks a rule of the schema is damage too.
                    saved += insert.execute(params_from_iter(values)).unwrap_or(0) as u64;
                }
                Ok(None) => return Ok(saved),
                Err(_) => break,
            }
        }
    }
    Ok(saved)
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    with_tail(path, &format!(".{suffix}"))
}

fn remove_database(path: &Path) {
    for side in ["", "-wal", "-shm"] {
        // Leftovers of an earlier attempt may not be there.
        drop(fs::remove_file(with_tail(path, side)));
    }
}

/// Builds the search index anew from the messages. Answers how many were indexed.
pub(crate) fn reindex(connection: &Connection) -> Result<u64, StoreError> {
    connection.execute("INSERT INTO search (search) VALUES ('delete-all')", [])?;
    let mut read = connection
        .prepare("SELECT id, role, coalesce(content, ''), tool_name FROM messages ORDER BY id")?;
    let mut write = connection.prepare("INSERT INTO search (rowid, terms) VALUES (?, ?)")?;
    let mut rows = read.query([])?;
    let mut count = 0;
    while let Some(row) = rows.next()? {
        let (id, role, content): (i64, String, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let tool: Option<String> = row.get(3)?;
        let terms = index_terms(&search_text(&role, &content, tool.as_deref()));
        if !terms.is_empty() {
            write.execute((id, terms))?;
            count += 1;
        }
    }
    facts::reindex(connection)?;
    Ok(count)
}
