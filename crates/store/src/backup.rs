//! A copy of the database while it is in use.

use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};

use crate::error::StoreError;
use crate::open::PATIENCE;

/// What SQLite says when a full-text index and the text it was made from differ.
const INDEX_FAULT: &str = "inverted index for FTS";

/// Copies any SQLite database to a new file through SQLite's own backup, so that a writer may go on
/// meanwhile. `progress` is told pages left and pages in all.
///
/// The copy is a single file without a log, complete and consistent.
pub fn copy_database(
    from: &Path,
    to: &Path,
    mut progress: impl FnMut(i32, i32),
) -> Result<(), StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let source = Connection::open_with_flags(from, flags)
        .map_err(|error| StoreError::from_sql(error, from))?;
    source
        .busy_timeout(PATIENCE)
        .map_err(|error| StoreError::from_sql(error, from))?;
    // One snapshot for all steps: otherwise every write of another process makes SQLite start over, and
    // a copy of a large database beside a busy writer never ends.
    source
        .execute_batch("BEGIN; SELECT count(*) FROM sqlite_schema;")
        .map_err(|error| StoreError::from_sql(error, from))?;
    let mut target = Connection::open(to).map_err(|error| StoreError::from_sql(error, to))?;
    {
        let backup =
            Backup::new(&source, &mut target).map_err(|error| StoreError::from_sql(error, from))?;
        let mut refused_since = None;
        loop {
            let step = backup
                .step(4096)
                .map_err(|error| StoreError::from_sql(error, to))?;
            let state = backup.progress();
            progress(state.remaining, state.pagecount);
            match step {
                StepResult::Done => break,
                StepResult::Busy | StepResult::Locked => {
                    let since = *refused_since.get_or_insert_with(Instant::now);
                    if since.elapsed() > PATIENCE {
                        return Err(StoreError::Busy {
                            path: from.to_owned(),
                            seconds: PATIENCE.as_secs(),
                        });
                    }
                    std::thread::sleep(Duration::from_millis(20));
                }
                _ => refused_since = None,
            }
        }
    }
    let finish = "PRAGMA journal_mode = DELETE;";
    target
        .query_row(finish, [], |_| Ok(()))
        .map_err(|error| StoreError::from_sql(error, to))
}

/// Whether a file is a database that SQLite finds no fault with. A search index that does not fit its
/// rows does not count: it can be rebuilt from them, and the reference's own are like that.
pub fn is_sound(path: &Path) -> Result<bool, StoreError> {
    match faults(path) {
        Ok(faults) => Ok(faults.iter().all(|fault| fault.contains(INDEX_FAULT))),
        Err(error) => match StoreError::from_sql(error, path) {
            StoreError::Damaged { .. } | StoreError::NotADatabase { .. } => Ok(false),
            other => Err(other),
        },
    }
}

fn faults(path: &Path) -> Result<Vec<String>, rusqlite::Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    let mut statement = connection.prepare("PRAGMA quick_check(100)")?;
    let rows = statement.query_map([], |row| row.get::<_, String>(0))?;
    let said = rows.collect::<Result<Vec<_>, _>>()?;
    Ok(said.into_iter().filter(|line| line != "ok").collect())
}
