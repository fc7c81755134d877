//! A database nobody else has open, about to be replaced.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use super::error::ArchiveError;
use super::rules::{SIDES, with_tail};
use crate::error::StoreError;

/// How long another program gets to finish what it is doing.
const PATIENCE: Duration = Duration::from_secs(2);

/// Holds a database so that nobody else can open it, with its log folded in.
///
/// The log must be gone before another file takes the name: SQLite would replay it into the new one.
#[derive(Debug)]
pub(super) struct Claim {
    /// Kept open for its lock.
    _connection: Option<Connection>,
}

impl Claim {
    /// Claims the database at a path where something is going to be put.
    pub(super) fn take(path: &Path) -> Result<Self, ArchiveError> {
        let is_there = match fs::symlink_metadata(path) {
            // A link is replaced itself; what it leads to is left alone.
            Ok(found) => found.is_file(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            Err(error) => return Err(ArchiveError::file(path)(error)),
        };
        let connection = if is_there { lock(path)? } else { None };
        remove_sides(path)?;
        Ok(Self {
            _connection: connection,
        })
    }
}

/// `None` when the file is no database any more: it cannot be locked, and there is nothing to lose.
fn lock(path: &Path) -> Result<Option<Connection>, ArchiveError> {
    match try_lock(path).map_err(|error| StoreError::from_sql(error, path)) {
        Ok(connection) => Ok(Some(connection)),
        Err(StoreError::Busy { .. }) => Err(ArchiveError::InUse {
            path: path.to_owned(),
        }),
        Err(StoreError::Damaged { .. } | StoreError::NotADatabase { .. }) => Ok(None),
        Err(other) => Err(other.into()),
    }
}

fn try_lock(path: &Path) -> Result<Connection, rusqlite::Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(PATIENCE)?;
    // A plain exclusive transaction lets readers of a write-ahead log stay. Leaving that journal mode
    // needs the file to ourselves, and folds the log in.
    connection.query_row("PRAGMA locking_mode = EXCLUSIVE", [], |_| Ok(()))?;
    connection.query_row("PRAGMA journal_mode = DELETE", [], |_| Ok(()))?;
    connection.execute_batch("BEGIN EXCLUSIVE")?;
    Ok(connection)
}

fn remove_sides(path: &Path) -> Result<(), ArchiveError> {
    for side in SIDES {
        let side = with_tail(path, side);
        match fs::remove_file(&side) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(ArchiveError::file(&side)(error));
            }
            _ => {}
        }
    }
    Ok(())
}
