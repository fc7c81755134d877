//! How the store fails, named by what the caller must do.

use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

use crate::transfer::ImportLimit;

/// A failure of the store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Stored data is damaged.
    #[error("{path} is damaged: {detail}")]
    Damaged { path: PathBuf, detail: String },
    /// The file is no SQLite database.
    #[error("{path} is not a database")]
    NotADatabase { path: PathBuf },
    /// The file is a database of another program.
    #[error("{path} is a database of another program")]
    Foreign { path: PathBuf },
    /// The file was written by a newer Hermes.
    #[error("{path} has schema {found}, this program knows {known}")]
    TooNew {
        path: PathBuf,
        found: u32,
        known: u32,
    },
    /// The file was written by an older Hermes and may not be changed here.
    #[error("{path} has schema {found}, this program reads {known}")]
    TooOld {
        path: PathBuf,
        found: u32,
        known: u32,
    },
    /// There is no database, and none may be made.
    #[error("{path} does not exist")]
    NoDatabase { path: PathBuf },
    /// A program was ended while it wrote; reading all of it would mean to tidy up.
    #[error("{path} was not closed and part of it is still in its log")]
    Unfinished { path: PathBuf },
    /// No space is left.
    #[error("no space left for {path}")]
    DiskFull { path: PathBuf },
    /// The file or folder cannot be written.
    #[error("{path} cannot be written")]
    ReadOnly { path: PathBuf },
    /// The file or folder cannot be opened.
    #[error("{path} cannot be opened")]
    CannotOpen {
        path: PathBuf,
        #[source]
        source: rusqlite::Error,
    },
    /// Another process held the database for longer than we wait.
    #[error("{path} is busy: another process has been writing for over {seconds} s")]
    Busy { path: PathBuf, seconds: u64 },
    /// What was named is not there.
    #[error("no session matches `{wanted}`")]
    NoSuchSession { wanted: String },
    /// The short form fits several sessions.
    #[error("`{wanted}` fits {} sessions", candidates.len())]
    Ambiguous {
        wanted: String,
        candidates: Vec<String>,
    },
    /// Another session has this title.
    #[error("the title `{title}` belongs to session {owner}")]
    TitleTaken { title: String, owner: String },
    /// The title is empty or too long.
    #[error("a title has 1 to 100 characters, this one has {length}")]
    BadTitle { length: usize },
    /// Too much waits to be said.
    #[error("{waiting} messages and remarks wait in this conversation already")]
    InboxFull { waiting: usize },
    /// A row holds something this program did not write.
    #[error("row {row} of {table} cannot be read: {detail}")]
    BadRow {
        table: &'static str,
        row: String,
        detail: String,
    },
    /// A file that should be imported is not in a form we know.
    #[error("{path}: {detail}")]
    BadImport { path: PathBuf, detail: String },
    /// A file that should be imported holds more than is taken at once; nothing of it was.
    #[error("{path}: line {line} goes over a limit: {limit}")]
    TooMuch {
        path: PathBuf,
        line: usize,
        limit: ImportLimit,
    },
    /// An export could not be written to where it should go.
    #[error("the export could not be written")]
    Output(#[source] std::io::Error),
    /// A file could not be read or written.
    #[error("{path} could not be read or written")]
    File {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    /// The store was closed while the request waited.
    #[error("the store is closed")]
    Closed,
    /// SQLite refused something else.
    #[error("the database refused a request")]
    Sql(#[source] rusqlite::Error),
}

impl StoreError {
    /// The next step, when there is one.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Damaged { .. } => Some("hermes sessions repair".to_owned()),
            Self::NotADatabase { path } | Self::Foreign { path } => Some(format!(
                "move {} away; a new one is made at the next start",
                path.display()
            )),
            Self::TooNew { .. } => {
                Some("update hermes, or use the version that wrote it".to_owned())
            }
            Self::TooOld { .. } | Self::Unfinished { .. } => {
                Some("start hermes once with that home; it brings the file in order".to_owned())
            }
            Self::NoDatabase { .. } => Some("nothing was ever said there".to_owned()),
            Self::DiskFull { .. } => {
                Some("free some space and try again; nothing was lost".to_owned())
            }
            Self::ReadOnly { .. } => Some(
                "check the owner and the mode of the home; what is there can still be read"
                    .to_owned(),
            ),
            Self::CannotOpen { .. } => {
                Some("check the owner and the mode of the folder and the file".to_owned())
            }
            Self::Busy { .. } => {
                Some("find the process that writes: fuser -v on the file".to_owned())
            }
            Self::NoSuchSession { .. } => {
                Some("hermes sessions list shows what there is".to_owned())
            }
            Self::Ambiguous { candidates, .. } => {
                Some(format!("it could be {}", candidates.join(", ")))
            }
            Self::TitleTaken { .. } => Some("choose another title".to_owned()),
            Self::InboxFull { .. } => Some("say it when some of them were answered".to_owned()),
            Self::TooMuch { .. } => Some("split the file at line ends".to_owned()),
            Self::BadTitle { .. } => Some("choose a title of 1 to 100 characters".to_owned()),
            Self::BadRow { .. } => Some("hermes sessions repair".to_owned()),
            Self::BadImport { .. } => Some(
                "a state.db, or a .jsonl file of hermes sessions export, can be imported"
                    .to_owned(),
            ),
            Self::File { .. } => {
                Some("check that it is there, who owns it, and the space left".to_owned())
            }
            Self::Sql(_) => Some("hermes sessions repair --check-only looks for damage".to_owned()),
            Self::Output(_) | Self::Closed => None,
        }
    }

    /// Gives an SQLite error its meaning and its file.
    pub(crate) fn from_sql(error: rusqlite::Error, path: &Path) -> Self {
        let path = path.to_owned();
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt) => Self::Damaged {
                path,
                detail: error.to_string(),
            },
            Some(ErrorCode::NotADatabase) => Self::NotADatabase { path },
            Some(ErrorCode::DiskFull) => Self::DiskFull { path },
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => Self::ReadOnly { path },
            Some(ErrorCode::CannotOpen) => Self::CannotOpen {
                path,
                source: error,
            },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy {
                path,
                seconds: crate::open::PATIENCE.as_secs(),
            },
            _ => Self::Sql(error),
        }
    }
}

/// Inside a transaction the file is not known; the connection's owner adds it.
impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

impl StoreError {
    /// Adds the file to an error raised inside a transaction.
    pub(crate) fn at(self, path: &Path) -> Self {
        match self {
            Self::Sql(error) => Self::from_sql(error, path),
            other => other,
        }
    }
}
