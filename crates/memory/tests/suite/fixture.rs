//! Memory in a temporary folder, with a clock that stands still.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use hermes_core::ManualClock;
use hermes_memory::{
    Changed, Memory, MemoryError, MemoryOptions, Operation, Settings, Target, TargetSettings,
};
use hermes_secrets::RedactorHandle;
use hermes_store::{JournalOrigin, Options, Store};
use tempfile::TempDir;

pub(crate) struct Fixture {
    pub(crate) memory: Memory,
    pub(crate) store: Store,
    pub(crate) redactor: RedactorHandle,
    clock: Arc<ManualClock>,
    folder: TempDir,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        Self::with_limit(2_200)
    }

    pub(crate) fn with_limit(limit: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = Arc::new(ManualClock::new("2026-07-01T12:00:00Z".parse().unwrap()));
        let redactor = RedactorHandle::default();
        let store = Store::open(Options {
            path: folder.path().join("hermes.db"),
            blobs: folder.path().join("blobs"),
            clock: clock.clone(),
            redactor: redactor.clone(),
            vfs: None,
        })
        .unwrap();
        let mut fixture = Self {
            memory: memory(folder.path().join("memories"), limit, &store, &clock),
            store,
            redactor,
            clock,
            folder,
        };
        fixture.limit(limit);
        fixture
    }

    /// The same files under another limit.
    pub(crate) fn limit(&mut self, limit: usize) {
        self.memory = memory(self.path(""), limit, &self.store, &self.clock);
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("memories").join(name)
    }

    pub(crate) fn write(&self, text: &str) {
        fs::create_dir_all(self.path("")).unwrap();
        fs::write(self.path("MEMORY.md"), text).unwrap();
    }

    pub(crate) fn text(&self) -> String {
        fs::read_to_string(self.path("MEMORY.md")).unwrap_or_default()
    }

    /// The files there are, without locks and what is kept aside.
    pub(crate) fn files(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.path(""))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| !name.ends_with(".lock") && !name.ends_with(".ids"))
            .collect();
        names.sort();
        names
    }

    pub(crate) fn change(&self, operations: &[Operation]) -> Result<Changed, MemoryError> {
        let origin = JournalOrigin::Foreground;
        self.memory.change(Target::Memory, operations, origin, None)
    }

    pub(crate) fn add(&self, text: &str) -> Changed {
        self.change(&[Operation::add(text)]).unwrap()
    }
}

fn memory(directory: PathBuf, limit: usize, store: &Store, clock: &Arc<ManualClock>) -> Memory {
    let of = |limit| TargetSettings {
        enabled: true,
        limit,
    };
    Memory::new(MemoryOptions {
        directory,
        settings: Settings {
            memory: of(limit),
            user: of(limit),
        },
        store: store.clone(),
        clock: clock.clone(),
    })
}
