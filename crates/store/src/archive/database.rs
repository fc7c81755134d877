//! Telling databases from other files, and copying them.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::rules;
use crate::backup::copy_database;
use crate::error::StoreError;

const HEADER: &[u8; 16] = b"SQLite format 3\0";

/// How a database got into its copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Copied {
    Whole {
        schema: u32,
    },
    /// SQLite could not read it.
    Damaged,
}

/// Whether a file of a home is an SQLite database, whatever it is called.
///
/// What is called like one is asked for through SQLite: closing a plain handle to a database would
/// drop the locks that this process may hold on it.
pub(super) fn is_database(path: &Path) -> io::Result<bool> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if !rules::is_database_name(&name) {
        return has_header(path);
    }
    if fs::metadata(path)?.len() == 0 {
        return Ok(false);
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let asked = Connection::open_with_flags(path, flags).and_then(|connection| {
        connection.query_row("PRAGMA schema_version", [], |row| row.get::<_, i64>(0))
    });
    let code = asked.err().and_then(|error| error.sqlite_error_code());
    // Whatever else is wrong with it shows when it is copied.
    Ok(code != Some(ErrorCode::NotADatabase))
}

/// Whether a file begins like an SQLite database.
pub(super) fn has_header(path: &Path) -> io::Result<bool> {
    let mut start = [0_u8; HEADER.len()];
    let mut file = File::open(path)?;
    match file.read_exact(&mut start) {
        Ok(()) => Ok(&start == HEADER),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

/// Copies a database so that the copy is complete and consistent while others write to it.
pub(super) fn copy(
    from: &Path,
    to: &Path,
    mut progress: impl FnMut(u64, u64),
) -> Result<Copied, StoreError> {
    let pages = |count: i32| u64::try_from(count).unwrap_or(0);
    let copied = copy_database(from, to, |left, all| {
        progress(pages(all).saturating_sub(pages(left)), pages(all))
    });
    match copied {
        Ok(()) => Ok(Copied::Whole {
            schema: schema(to)?,
        }),
        Err(StoreError::Damaged { .. } | StoreError::NotADatabase { .. }) => Ok(Copied::Damaged),
        Err(other) => Err(other),
    }
}

/// The version of the tables: ours is in the header, the reference keeps a table with one row.
pub(super) fn schema(path: &Path) -> Result<u32, StoreError> {
    let failed = |error| StoreError::from_sql(error, path);
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(failed)?;
    let version: u32 = connection
        .query_row("PRAGMA user_version", [], |row| row.get(0))
        .map_err(failed)?;
    if version > 0 {
        return Ok(version);
    }
    // Not every database has the table; one without it says nothing about its version.
    let row = connection.query_row("SELECT version FROM schema_version", [], |row| row.get(0));
    Ok(row.unwrap_or(0))
}
