//! The handle to everything that is stored.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hermes_core::Clock;
use hermes_secrets::{Redactor, RedactorHandle, Scope};
use rusqlite::Connection;
use serde_json::Value as Json;

use crate::blobs::Blobs;
use crate::error::StoreError;
use crate::open::Location;
use crate::readers::{Reach, Readers};
use crate::worker::{Pending, Writer};

/// What opening a store needs.
pub struct Options {
    /// The database file.
    pub path: PathBuf,
    /// The folder media are kept in.
    pub blobs: PathBuf,
    /// Tells the time of new rows.
    pub clock: Arc<dyn Clock>,
    /// Masks known secrets in every text that is stored.
    pub redactor: RedactorHandle,
    /// An SQLite VFS by name; `None` for the usual one.
    pub vfs: Option<String>,
}

/// Everything that is stored, shared by cloning.
///
/// One thread writes, two read. Requests answer through [`Pending`], so the same handle serves
/// blocking and async callers. The database is only ever opened here.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

struct Inner {
    location: Location,
    // Dropped in this order: the last connection to close is the one that tidies the log away.
    readers: Readers,
    /// None when the file cannot be written.
    writer: Option<Writer>,
    blobs: Blobs,
    clock: Arc<dyn Clock>,
    redactor: RedactorHandle,
}

impl Store {
    /// Opens the database, making or upgrading it when needed.
    ///
    /// One that is there but cannot be written is opened for reading: what asks for a change is then
    /// answered with [`StoreError::ReadOnly`].
    pub fn open(options: Options) -> Result<Self, StoreError> {
        let location = Location::new(options.path.clone(), options.vfs.clone());
        if let Some(folder) = location.path.parent() {
            std::fs::create_dir_all(folder).map_err(|source| StoreError::File {
                path: folder.to_owned(),
                source,
            })?;
        }
        let (location, writer) = match location.open_writer() {
            Ok(connection) => {
                let writer = Writer::start(connection, location.path.clone())?;
                (location, Some(writer))
            }
            Err(refused @ (StoreError::ReadOnly { .. } | StoreError::CannotOpen { .. })) => {
                (location.for_reading(refused)?, None)
            }
            Err(other) => return Err(other),
        };
        Ok(Self::of(location, writer, options))
    }

    /// The database for a look that leaves no trace. It must be there, and as this program writes it.
    pub(crate) fn open_for_visit(options: Options) -> Result<Self, StoreError> {
        let location = Location::new(options.path.clone(), options.vfs.clone());
        Ok(Self::of(location.for_visit()?, None, options))
    }

    fn of(location: Location, writer: Option<Writer>, options: Options) -> Self {
        Self {
            inner: Arc::new(Inner {
                readers: Readers::new(location.clone()),
                location,
                writer,
                blobs: Blobs::new(options.blobs),
                clock: options.clock,
                redactor: options.redactor,
            }),
        }
    }

    /// The database file.
    pub fn path(&self) -> &Path {
        &self.inner.location.path
    }

    pub(crate) fn location(&self) -> &Location {
        &self.inner.location
    }

    /// The media folder.
    pub fn blobs(&self) -> &Blobs {
        &self.inner.blobs
    }

    /// Seconds since 1970, as rows keep them.
    pub(crate) fn now(&self) -> f64 {
        self.inner.clock.now().as_duration().as_secs_f64()
    }

    /// Masks known secrets, as in everything that is stored.
    pub fn clean(&self, text: String) -> String {
        clean(&self.inner.redactor.snapshot(), text)
    }

    /// Masks known secrets in every text, name and number of a value, so that it stays a value whatever is masked.
    pub(crate) fn clean_json(&self, value: Json) -> Json {
        clean_json(&self.inner.redactor.snapshot(), value)
    }

    pub(crate) fn write<T, F>(&self, work: F) -> Pending<T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    {
        match &self.inner.writer {
            Some(writer) => writer.run(self.path(), work),
            None => Pending::failed(self.read_only()),
        }
    }

    /// As `write`, for what cannot run inside a transaction.
    pub(crate) fn write_alone<T, F>(&self, work: F) -> Pending<T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    {
        match &self.inner.writer {
            Some(writer) => writer.run_alone(self.path(), work),
            None => Pending::failed(self.read_only()),
        }
    }

    fn read_only(&self) -> StoreError {
        StoreError::ReadOnly {
            path: self.path().to_owned(),
        }
    }

    pub(crate) fn read<T, F>(&self, work: F) -> Pending<T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    {
        self.inner.readers.run(Reach::Rows, work)
    }

    /// As `read`, for what looks at rows all over the file.
    pub(crate) fn read_widely<T, F>(&self, work: F) -> Pending<T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    {
        self.inner.readers.run(Reach::File, work)
    }
}

fn clean(redactor: &Redactor, text: String) -> String {
    match redactor.redact_in(Scope::Known, &text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(masked) => masked,
    }
}

fn clean_json(redactor: &Redactor, value: Json) -> Json {
    match value {
        Json::String(text) => Json::String(clean(redactor, text)),
        // A password of digits is a number to whoever writes it without quotes.
        Json::Number(number) => match redactor.redact_in(Scope::Known, &number.to_string()) {
            Cow::Borrowed(_) => Json::Number(number),
            Cow::Owned(masked) => Json::String(masked),
        },
        Json::Array(items) => {
            let items = items.into_iter().map(|item| clean_json(redactor, item));
            Json::Array(items.collect())
        }
        Json::Object(fields) => {
            let fields = fields
                .into_iter()
                .map(|(name, field)| (clean(redactor, name), clean_json(redactor, field)));
            Json::Object(fields.collect())
        }
        Json::Null | Json::Bool(_) => value,
    }
}
