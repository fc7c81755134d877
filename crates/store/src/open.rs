//! Opening the database: pragmas, journal, identity, schema.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, OpenFlags};

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
    vfs: Option<String>,
    access: Access,
}

/// What may be done with the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Access {
    Full,
    /// Read beside programs that may write, with their log and shared memory.
    Read,
    /// The same, through a shared memory that is there already and stays as it is.
    ReadAside,
    /// Read as a file that does not change, so that nothing has to be made beside it.
    ReadFrozen,
}

impl Location {
    pub(crate) fn new(path: PathBuf, vfs: Option<String>) -> Self {
        Self {
            path,
            vfs,
            access: Access::Full,
        }
    }

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

    /// The same file for reading only, after `refused` kept us from writing. Where reading is not
    /// possible either, that is the answer.
    pub(crate) fn for_reading(&self, refused: StoreError) -> Result<Self, StoreError> {
        if matches!(self.path.try_exists(), Ok(false)) {
            return Err(StoreError::ReadOnly {
                path: self.path.clone(),
            });
        }
        for access in [Access::Read, Access::ReadFrozen] {
            // What is still in a log would be missing from the frozen file.
            if access == Access::ReadFrozen && self.has_log() {
                break;
            }
            let location = Self {
                access,
                ..self.clone()
            };
            match location.check_readable() {
                Ok(()) => return Ok(location),
                Err(StoreError::CannotOpen { .. } | StoreError::ReadOnly { .. }) => {}
                Err(other) => return Err(other),
            }
        }
        Err(refused)
    }

    /// The same file for a look that leaves no trace: nothing is made, changed or touched, also not the log
    /// and the shared memory of a program that has it open.
    pub(crate) fn for_visit(&self) -> Result<Self, StoreError> {
        let path = || self.path.clone();
        if !self.path.is_file() {
            return Err(StoreError::NoDatabase { path: path() });
        }
        let shared = self.beside("-shm").is_some();
        let access = match (shared, self.has_log()) {
            (true, _) => Access::ReadAside,
            // Without shared memory the log can only be read by making some.
            (false, true) => return Err(StoreError::Unfinished { path: path() }),
            (false, false) if self.beside("-journal").is_some() => Access::ReadAside,
            (false, false) => Access::ReadFrozen,
        };
        let location = Self {
            access,
            ..self.clone()
        };
        let connection = location.open_reader()?;
        let at = |error: StoreError| error.at(&self.path);
        self.check_identity(&connection).map_err(at)?;
        let found = schema::version(&connection).map_err(|error| at(error.into()))?;
        if found < schema::NEWEST {
            return Err(StoreError::TooOld {
                path: path(),
                found,
                known: schema::NEWEST,
            });
        }
        Ok(location)
    }

    /// Whether the file is read as one that does not change.
    pub(crate) fn is_frozen(&self) -> bool {
        self.access == Access::ReadFrozen
    }

    fn check_readable(&self) -> Result<(), StoreError> {
        let connection = self.open_reader()?;
        let at = |error: StoreError| error.at(&self.path);
        self.check_identity(&connection).map_err(at)?;
        if schema::version(&connection).map_err(|error| at(error.into()))? < schema::NEWEST {
            return Err(StoreError::ReadOnly {
                path: self.path.clone(),
            });
        }
        Ok(())
    }

    fn has_log(&self) -> bool {
        self.beside("-wal").is_some_and(|length| length > 0)
    }

    /// The length of a file beside the database, if it is there.
    fn beside(&self, tail: &str) -> Option<u64> {
        let found = std::fs::metadata(with_tail(&self.path, tail));
        found.ok().map(|found| found.len())
    }

    /// A connection that only reads; `open_writer` or `for_reading` has been there before.
    pub(crate) fn open_reader(&self) -> Result<Connection, StoreError> {
        let access = match self.access {
            Access::Full => OpenFlags::SQLITE_OPEN_READ_WRITE,
            Access::Read => OpenFlags::SQLITE_OPEN_READ_ONLY,
            Access::ReadAside | Access::ReadFrozen => {
                OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI
            }
        };
        let connection = self.connect(access | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
        connection
            .execute_batch("PRAGMA query_only = ON; PRAGMA cache_size = -8192;")
            .map_err(|error| StoreError::from_sql(error, &self.path))?;
        Ok(connection)
    }

    fn connect(&self, flags: OpenFlags) -> Result<Connection, StoreError> {
        let name = match self.access {
            Access::Full | Access::Read => self.path.clone(),
            Access::ReadAside => address(&self.path, "mode=ro&readonly_shm=1").into(),
            Access::ReadFrozen => address(&self.path, "immutable=1").into(),
        };
        let opened = match &self.vfs {
            Some(vfs) => Connection::open_with_flags_and_vfs(&name, flags, vfs.as_str()),
            None => Connection::open_with_flags(&name, flags),
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
        // In this order: another process may be making the tables right now, and they come together with the id.
        let tables: i64 =
            connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
        let id: i64 = connection.query_row("PRAGMA application_id", [], |row| row.get(0))?;
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

/// The path of what SQLite keeps beside a database.
pub(crate) fn with_tail(path: &Path, tail: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(tail);
    PathBuf::from(name)
}

/// The address of a file with a word on how SQLite opens it.
fn address(path: &Path, how: &str) -> String {
    let mut address = "file:".to_owned();
    for byte in path.as_os_str().as_encoded_bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'.' | b'-' | b'_') {
            address.push(char::from(*byte));
        } else {
            address.push_str(&format!("%{byte:02x}"));
        }
    }
    format!("{address}?{how}")
}

/// Asks for a write-ahead log. Where the file system cannot share memory (some network mounts) SQLite
/// stays with a rollback journal, which is correct there, only slower. A file whose header already
/// says WAL must not be opened without one: that error is passed on.
fn use_write_ahead_log(connection: &Connection) -> Result<(), StoreError> {
    let ask = || connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0));
    let begun = Instant::now();
    let mut tries = 0;
    // Of two programs that make the same file SQLite turns one down at once, without waiting.
    let mode: String = loop {
        match ask() {
            Err(error) if is_busy(&error) && begun.elapsed() < PATIENCE => {
                wait_for_others(tries);
                tries += 1;
            }
            answer => break answer?,
        }
    };
    if mode != "wal" {
        connection.query_row("PRAGMA journal_mode = DELETE", [], |_| Ok(()))?;
    }
    Ok(())
}

fn is_busy(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
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
pub(crate) fn create_private(path: &Path) -> Result<(), StoreError> {
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
pub(crate) fn create_private(_: &Path) -> Result<(), StoreError> {
    Ok(())
}
