//! The database of the reference, whatever its version: columns are taken by name.

use std::path::{Path, PathBuf};

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, OptionalExtension, Row, params_from_iter};
use serde_json::{Map, Value as Json};

use crate::error::StoreError;

/// The first schema with the tables as we know them.
const OLDEST: u32 = 6;

pub(super) struct Source {
    connection: Connection,
    path: PathBuf,
    version: u32,
    message_columns: Vec<String>,
    session_columns: Vec<String>,
    has_usage: bool,
}

/// One row of `messages`.
pub(super) struct SourceMessage {
    pub(super) id: i64,
    pub(super) session: String,
    pub(super) columns: Map<String, Json>,
}

/// What is brought over at the end for a session that is new or changed.
pub(super) struct Detail {
    pub(super) session: String,
    pub(super) fingerprint: String,
    /// Rows of `session_model_usage`.
    pub(super) usage: Vec<Map<String, Json>>,
    /// `(message, active, compacted)` of a session that was imported before.
    pub(super) flags: Vec<(i64, bool, bool)>,
}

impl Source {
    pub(super) fn open(path: &Path) -> Result<Self, StoreError> {
        let refuse = |detail: &str| StoreError::BadImport {
            path: path.to_owned(),
            detail: detail.to_owned(),
        };
        if !path.is_file() {
            return Err(refuse("there is no such file"));
        }
        let connection = connect(path).map_err(|error| StoreError::from_sql(error, path))?;
        let at = |error: rusqlite::Error| StoreError::from_sql(error, path);
        let columns = |table: &str| table_columns(&connection, table).map_err(at);
        let (session_columns, message_columns) = (columns("sessions")?, columns("messages")?);
        if session_columns.is_empty() || message_columns.is_empty() {
            return Err(refuse(
                "it is no session database: sessions or messages are missing",
            ));
        }
        let version: Option<u32> = connection
            .query_row("SELECT max(version) FROM schema_version", [], |row| {
                row.get(0)
            })
            .map_err(|_| refuse("it is no session database: schema_version is missing"))?;
        let version = version.unwrap_or(0);
        if version < OLDEST {
            return Err(refuse(
                "its schema is older than 6; open it once with the program that wrote it",
            ));
        }
        Ok(Self {
            has_usage: !columns("session_model_usage")?.is_empty(),
            path: path.to_owned(),
            connection,
            version,
            message_columns,
            session_columns,
        })
    }

    pub(super) fn version(&self) -> u32 {
        self.version
    }

    /// For each session, a text that changes when the session or its messages do.
    ///
    /// The system prompt is left out: it is large and never changes.
    pub(super) fn fingerprints(&self) -> Result<Vec<(String, String)>, StoreError> {
        let has = |name: &str| self.message_columns.iter().any(|column| column == name);
        let sum = |name: &str| {
            if has(name) {
                format!("total({name})")
            } else {
                "0".to_owned()
            }
        };
        let row: Vec<_> = self
            .session_columns
            .iter()
            .filter(|column| *column != "system_prompt")
            .cloned()
            .collect();
        let sql = format!(
            "SELECT s.id, coalesce(n, 0), coalesce(m, 0), coalesce(a, 0), coalesce(c, 0), {} FROM sessions s LEFT JOIN \
               (SELECT session_id, count(*) AS n, max(id) AS m, {} AS a, {} AS c FROM messages GROUP BY session_id) t \
             ON t.session_id = s.id ORDER BY s.started_at, s.id",
            row.iter()
                .map(|column| format!("s.\"{column}\""))
                .collect::<Vec<_>>()
                .join(", "),
            sum("active"),
            sum("compacted"),
        );
        self.query(&sql, [], |row| {
            let mut print = String::new();
            for index in 1..row.as_ref().column_count() {
                print.push_str(&json(row.get_ref(index)?).to_string());
                print.push(' ');
            }
            Ok((row.get(0)?, digest(&print)))
        })
    }

    pub(super) fn sessions(&self, ids: &[String]) -> Result<Vec<Map<String, Json>>, StoreError> {
        let marks = vec!["?"; ids.len()].join(", ");
        let sql = format!("SELECT * FROM sessions WHERE id IN ({marks}) ORDER BY started_at, id");
        self.query(&sql, params_from_iter(ids), row_map)
    }

    /// The sessions that have a parent, without their large columns.
    pub(super) fn parents(&self) -> Result<Vec<Map<String, Json>>, StoreError> {
        let columns = "id, source, parent_session_id, model_config, started_at";
        let sql = format!("SELECT {columns} FROM sessions WHERE parent_session_id IS NOT NULL");
        self.query(&sql, [], row_map)
    }

    pub(super) fn count_after(&self, id: i64) -> Result<u64, StoreError> {
        self.connection
            .query_row("SELECT count(*) FROM messages WHERE id > ?", [id], |row| {
                row.get(0)
            })
            .map_err(|error| self.at(error))
    }

    pub(super) fn messages_after(
        &self,
        id: i64,
        limit: usize,
    ) -> Result<Vec<SourceMessage>, StoreError> {
        let sql = "SELECT * FROM messages WHERE id > ? ORDER BY id LIMIT ?";
        self.query(sql, (id, limit), |row| {
            Ok(SourceMessage {
                id: row.get("id")?,
                session: row.get("session_id")?,
                columns: row_map(row)?,
            })
        })
    }

    /// Usage and flags; the flags only where `known` says the session was imported before.
    pub(super) fn details(
        &self,
        sessions: &[(String, String)],
        known: impl Fn(&str) -> bool,
    ) -> Result<Vec<Detail>, StoreError> {
        let usage_sql = "SELECT * FROM session_model_usage WHERE session_id = ?";
        let has_flags = self.message_columns.iter().any(|column| column == "active");
        let compacted = if self
            .message_columns
            .iter()
            .any(|column| column == "compacted")
        {
            "compacted"
        } else {
            "0"
        };
        let flag_sql = format!(
            "SELECT id, coalesce(active, 1), coalesce({compacted}, 0) FROM messages WHERE session_id = ?"
        );
        let mut details = Vec::with_capacity(sessions.len());
        for (session, fingerprint) in sessions {
            let usage = if self.has_usage {
                self.query(usage_sql, [session], row_map)?
            } else {
                Vec::new()
            };
            let flags = if has_flags && known(session) {
                self.query(&flag_sql, [session], |row| {
                    Ok((row.get(0)?, row.get(1)?, row.get(2)?))
                })?
            } else {
                Vec::new()
            };
            details.push(Detail {
                session: session.clone(),
                fingerprint: fingerprint.clone(),
                usage,
                flags,
            });
        }
        Ok(details)
    }

    fn query<T>(
        &self,
        sql: &str,
        values: impl rusqlite::Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        let mut statement = self
            .connection
            .prepare_cached(sql)
            .map_err(|error| self.at(error))?;
        let rows = statement
            .query_map(values, read)
            .map_err(|error| self.at(error))?;
        rows.collect::<Result<_, _>>()
            .map_err(|error| self.at(error))
    }

    fn at(&self, error: rusqlite::Error) -> StoreError {
        StoreError::from_sql(error, &self.path)
    }
}

/// Opens without leaving a trace: a file without a log is taken as it is, so that SQLite makes no files
/// beside it; one with a log needs its shared memory to be read completely.
pub(crate) fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    let has_log = std::fs::metadata(Path::new(&log)).is_ok_and(|data| data.len() > 0);
    let escaped = path
        .to_string_lossy()
        .replace('%', "%25")
        .replace('?', "%3f")
        .replace('#', "%23");
    let immutable = if has_log { "" } else { "&immutable=1" };
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection =
        Connection::open_with_flags(format!("file:{escaped}?mode=ro{immutable}"), flags)?;
    connection.busy_timeout(crate::open::PATIENCE)?;
    Ok(connection)
}

/// Changes whenever the database or its log does.
pub(super) fn signature(path: &Path) -> String {
    let of = |tail: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(tail);
        let data = std::fs::metadata(Path::new(&name)).ok();
        let modified = data.as_ref().and_then(|data| data.modified().ok());
        let age = modified.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
        format!(
            "{}@{}",
            data.map_or(0, |data| data.len()),
            age.unwrap_or_default().as_nanos()
        )
    };
    format!("{} {}", of(""), of("-wal"))
}

fn table_columns(connection: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    // A table with generated shadow tables has them listed too; only the exact name counts.
    let exists: Option<i64> = connection
        .query_row(
            "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?",
            [table],
            |row| row.get(0),
        )
        .optional()?;
    if exists.is_none() {
        return Ok(Vec::new());
    }
    let mut statement = connection.prepare("SELECT name FROM pragma_table_info(?)")?;
    let rows = statement.query_map([table], |row| row.get(0))?;
    rows.collect()
}

fn row_map(row: &Row<'_>) -> rusqlite::Result<Map<String, Json>> {
    let statement = row.as_ref();
    (0..statement.column_count())
        .map(|index| {
            Ok((
                statement.column_name(index)?.to_owned(),
                json(row.get_ref(index)?),
            ))
        })
        .collect()
}

/// Text may hold anything the reference wrote, half a surrogate pair included.
fn json(value: ValueRef<'_>) -> Json {
    match value {
        ValueRef::Null => Json::Null,
        ValueRef::Integer(number) => number.into(),
        ValueRef::Real(number) => number.into(),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
            String::from_utf8_lossy(bytes).into_owned().into()
        }
    }
}

fn digest(text: &str) -> String {
    use sha2::Digest;
    crate::blobs::hex(&sha2::Sha256::digest(text.as_bytes())[..16])
}
