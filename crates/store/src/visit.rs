//! A look at a database of another home that leaves no trace there.

use std::fs::Metadata;
use std::path::Path;
use std::time::SystemTime;

use crate::error::StoreError;
use crate::open::with_tail;
use crate::store::{Options, Store};

/// A database that is looked at. Nothing in its folder is made, changed or touched.
///
/// A file that nobody has open is read as one that does not change. Should somebody begin to write meanwhile,
/// what was read may be torn: `undisturbed` says whether it can be trusted, after the reading.
pub struct Visit {
    store: Store,
    before: Option<Footprint>,
}

/// What shows that a file was written.
#[derive(PartialEq, Eq)]
struct Footprint {
    length: u64,
    changed: Option<SystemTime>,
    has_log: bool,
}

impl Visit {
    /// Opens a database that must be there already, in the form this program writes.
    pub fn open(options: Options) -> Result<Self, StoreError> {
        let before = Footprint::of(&options.path);
        let store = Store::open_for_visit(options)?;
        let frozen = store.location().is_frozen();
        Ok(Self {
            before: frozen.then_some(before),
            store,
        })
    }

    /// What is there, for reading only.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Whether all that was read so far belongs together.
    pub fn undisturbed(&self) -> bool {
        match &self.before {
            Some(before) => *before == Footprint::of(self.store.path()),
            // SQLite's own locks saw to it.
            None => true,
        }
    }
}

impl Footprint {
    fn of(path: &Path) -> Self {
        let found = std::fs::metadata(path).ok();
        let log = std::fs::metadata(with_tail(path, "-wal"));
        Self {
            length: found.as_ref().map_or(0, Metadata::len),
            changed: found.and_then(|found| found.modified().ok()),
            has_log: log.is_ok_and(|log| log.len() > 0),
        }
    }
}
