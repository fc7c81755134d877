//! Who wrote what, for all agents of a process.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use hermes_core::SessionId;
use tokio::sync::OwnedMutexGuard;
use tokio_util::sync::CancellationToken;

/// Writes that are remembered.
const MOST_WRITES: usize = 10_000;
/// Locks that are kept before unused ones are dropped.
const MANY_LOCKS: usize = 1_000;

/// Serialises changes of one path and remembers who made the last one. One for the whole process.
#[derive(Default)]
pub struct FileRegistry {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    locks: HashMap<PathBuf, Weak<tokio::sync::Mutex<()>>>,
    writes: HashMap<PathBuf, Write>,
    clock: u64,
}

/// A change of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Write {
    pub(crate) by: SessionId,
    pub(crate) at: u64,
}

/// Held while files are read, changed and written.
pub(crate) struct Held {
    _guards: Vec<OwnedMutexGuard<()>>,
}

impl FileRegistry {
    /// A registry that knows of nothing.
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for everybody else who changes one of these files. `None` when stopped meanwhile.
    pub(crate) async fn hold(
        &self,
        mut paths: Vec<PathBuf>,
        cancel: &CancellationToken,
    ) -> Option<Held> {
        // Always in the same order, so that two calls never wait for each other.
        paths.sort();
        paths.dedup();
        let mut guards = Vec::with_capacity(paths.len());
        for path in paths {
            let lock = self.lock(path);
            guards.push(cancel.run_until_cancelled(lock.lock_owned()).await?);
        }
        Some(Held { _guards: guards })
    }

    fn lock(&self, path: PathBuf) -> Arc<tokio::sync::Mutex<()>> {
        let mut inner = self.inner();
        if inner.locks.len() > MANY_LOCKS {
            inner.locks.retain(|_, lock| lock.strong_count() > 0);
        }
        let known = inner.locks.get(&path).and_then(Weak::upgrade);
        known.unwrap_or_else(|| {
            let lock = Arc::default();
            inner.locks.insert(path, Arc::downgrade(&lock));
            lock
        })
    }

    /// A moment; later ones are greater.
    pub(crate) fn moment(&self) -> u64 {
        let mut inner = self.inner();
        inner.clock += 1;
        inner.clock
    }

    /// Takes down a change.
    pub(crate) fn wrote(&self, path: &Path, by: &SessionId) {
        let at = self.moment();
        let mut inner = self.inner();
        if inner.writes.len() >= MOST_WRITES {
            let middle = at.saturating_sub(MOST_WRITES as u64 / 2);
            inner.writes.retain(|_, write| write.at > middle);
        }
        let write = Write { by: by.clone(), at };
        inner.writes.insert(path.to_owned(), write);
    }

    /// The last change of a file.
    pub(crate) fn last_write(&self, path: &Path) -> Option<Write> {
        self.inner().writes.get(path).cloned()
    }
}
