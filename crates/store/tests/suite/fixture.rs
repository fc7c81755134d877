//! A store in a temporary folder, with a clock that stands still.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hermes_core::{ManualClock, MessageId, Role, SessionId};
use hermes_secrets::RedactorHandle;
use hermes_store::{NewRecord, NewSession, Options, SearchFilter, SearchOrder, Store};
use tempfile::TempDir;

pub(crate) struct Fixture {
    pub(crate) store: Store,
    pub(crate) clock: Arc<ManualClock>,
    folder: TempDir,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        Self::with_redactor(RedactorHandle::default())
    }

    pub(crate) fn with_redactor(redactor: RedactorHandle) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = Arc::new(ManualClock::new("2026-07-01T12:00:00Z".parse().unwrap()));
        let store = Store::open(Options {
            path: folder.path().join("hermes.db"),
            blobs: folder.path().join("blobs"),
            clock: clock.clone(),
            redactor,
            vfs: None,
        })
        .unwrap();
        Self {
            store,
            clock,
            folder,
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Opens the same files again, as another process would.
    pub(crate) fn reopen(&self) -> Store {
        Store::open(self.options()).unwrap()
    }

    pub(crate) fn options(&self) -> Options {
        self.place().options()
    }

    pub(crate) fn session(&self, name: &str) -> SessionId {
        self.session_of(name, "cli")
    }

    pub(crate) fn session_of(&self, name: &str, source: &str) -> SessionId {
        let id = id(name);
        self.store
            .create_session(NewSession::new(id.clone(), source))
            .wait()
            .unwrap();
        id
    }

    /// Adds messages as user and assistant in turn.
    pub(crate) fn say(&self, session: &SessionId, texts: &[&str]) -> Vec<MessageId> {
        let roles = [Role::User, Role::Assistant].into_iter().cycle();
        let records = texts
            .iter()
            .zip(roles)
            .map(|(text, role)| NewRecord::text(role, *text))
            .collect();
        self.clock.advance(Duration::from_secs(60));
        self.store.append(session, records).wait().unwrap()
    }

    pub(crate) fn found(&self, query: &str) -> Vec<MessageId> {
        let hits = self
            .store
            .search(query, SearchFilter::default(), SearchOrder::Relevance, 50)
            .wait();
        hits.unwrap().into_iter().map(|hit| hit.message).collect()
    }

    pub(crate) fn texts(&self, session: &SessionId) -> Vec<String> {
        let history = self.store.history(session).wait().unwrap();
        history
            .into_iter()
            .map(|record| record.content.unwrap_or_default())
            .collect()
    }
}

/// Where a store lies, whether or not it is open.
pub(crate) struct Place {
    pub(crate) folder: PathBuf,
    clock: Arc<ManualClock>,
}

impl Place {
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    pub(crate) fn options(&self) -> Options {
        Options {
            path: self.path("hermes.db"),
            blobs: self.path("blobs"),
            clock: self.clock.clone(),
            redactor: RedactorHandle::default(),
            vfs: None,
        }
    }

    /// Changes the database of a store that is closed, and leaves nothing beside it.
    pub(crate) fn sql(&self, statements: &str) {
        let connection = rusqlite::Connection::open(self.path("hermes.db")).unwrap();
        connection.execute_batch(statements).unwrap();
    }
}

impl Fixture {
    pub(crate) fn place(&self) -> Place {
        Place {
            folder: self.folder.path().to_owned(),
            clock: self.clock.clone(),
        }
    }

    /// Closes the store as a program that ends does; the folder lasts as long as its guard.
    pub(crate) fn close(self) -> (Place, TempDir) {
        (self.place(), self.folder)
    }
}

pub(crate) fn id(name: &str) -> SessionId {
    SessionId::try_from(name.to_owned()).unwrap()
}

impl Fixture {
    /// Changes the database behind the store's back, as a broken program would.
    pub(crate) fn sql(&self, statements: &str) {
        let connection = rusqlite::Connection::open(self.path("hermes.db")).unwrap();
        connection.execute_batch(statements).unwrap();
    }
}
