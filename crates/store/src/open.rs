//! Opening the database: pragmas, journal, identity, schema.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use crate::error::StoreError;
use crate::schema;

/// "Hrms": marks the file as ours.
const APPLICATION_ID: i64 = 0x4872_6d73;

/// How long a request waits for another process before it gives up.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Where the database is and how it is reached.
#[derive(Debug, Clone)]
pub(crate) struct Location {
    pub(crate) path: PathBuf,
    /// The SQLite VFS to use; `None` for the system's usual one.
    pub(crate) vfs: Option<String>,
}

impl Location {
    /// The connection that writes. Makes or upgrades the file.
    pub(crate) fn open_writer(&self) -> Result<Connection, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        create_private(&self.path)?;
        let mut connection = self.connect(flags)?;
        self.prepare(&mut connection)
            .map_err(|error| error.at(&self.path))?;
        Ok(connection)
    }

    /// A connection that only reads; the writer has been open before.
    pub(crate) fn open_reader(&self) -> Result<Connection, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = self.connect(flags)?;
        connection
            .execute_batch("PRAGMA query_only = ON; PRAGMA cache_size = -8192;")
            .map_err(|error| StoreError::from_sql(error, &self.path))?;
        Ok(connection)
    }

    fn connect(&self, flags: OpenFlags) -> Result<Connection, StoreError> {
        let opened = match &self.vfs {
            Some(vfs) => Connection::open_with_flags_and_vfs(&self.path, flags, vfs.as_str()),
            None => Connection::open_with_flags(&self.path, flags),
        };
        let mut connection = opened.map_err(|error| StoreError::from_sql(error, &self.path))?;
        connection
            .busy_handler(Some(wait_for_others))
            .map_err(|error| StoreError::from_sql(error, &self.path))?;
        connection.set_prepared_statement_cache_capacity(64);
        Ok(connection)
    }

    fn prepare(&self, connection: &mut Connection) -> Result<(), StoreError> {
        self.check_identity(connection)?;
        use_write_ahead_log(connection)?;
        connection.execute_batch(
            "PRAGMA synchronous = FULL;
             PRAGMA foreign_keys = ON;
             PRAGMA cache_size = -16384;
             PRAGMA wal_autocheckpoint = 1000;
             PRAGMA journal_size_limit = 16777216;",
        )?;
        if schema::version(connection)? < schema::NEWEST {
            schema::upgrade(connection, APPLICATION_ID)?;
        }
        Ok(())
    }

    fn check_identity(&self, connection: &Connection) -> Result<(), StoreError> {
        let id: i64 = connection.query_row("PRAGMA application_id", [], |row| row.get(0))?;
        let tables: i64 =
            connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
        if id != APPLICATION_ID && (id != 0 || tables > 0) {
            return Err(StoreError::Foreign {
                path: self.path.clone(),
            });
        }
        let found = schema::version(connection)?;
        if found > schema::NEWEST {
            return Err(StoreError::TooNew {
                path: self.path.clone(),
                found,
                known: schema::NEWEST,
            });
        }
        Ok(())
    }
}

/// Asks for a write-ahead log. Where the file system cannot share memory (some network mounts) SQLite
/// stays with a rollback journal, which is correct there, only slower. A file whose header already
/// says WAL must not be opened without one: that error is passed on.
fn use_write_ahead_log(connection: &Connection) -> Result<(), StoreError> {
    let mode: String = connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
    if mode != "wal" {
        connection.query_row("PRAGMA journal_mode = DELETE", [], |_| Ok(()))?;
    }
    Ok(())
}

/// Sleeps a little longer each time, so that many writers share the file without a stampede.
fn wait_for_others(tries: i32) -> bool {
    const STEPS: [u64; 6] = [1, 2, 5, 10, 20, 25];
    let step = usize::try_from(tries).unwrap_or(0).min(STEPS.len() - 1);
    let waited: u64 = 38 + u64::try_from(tries).unwrap_or(0).saturating_sub(5) * STEPS[5];
    std::thread::sleep(Duration::from_millis(STEPS[step]));
    Duration::from_millis(waited) < PATIENCE
}

/// Makes the file for its owner only before SQLite sees it: the log beside it gets the same mode.
#[cfg(unix)]
fn create_private(path: &Path) -> Result<(), StoreError> {
    use std::os::unix::fs::OpenOptionsExt;
    let created = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path);
    match created {
        Err(error) if error.kind() == std::io::ErrorKind::StorageFull => {
            Err(StoreError::DiskFull {
                path: path.to_owned(),
            })
        }
        // It is there already, or SQLite will say what is wrong.
        _ => Ok(()),
    }
}

#[cfg(not(unix))]
fn create_private(_: &Path) -> Result<(), StoreError> {
    Ok(())
}
