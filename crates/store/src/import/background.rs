//! An import that goes on behind whoever started it.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;

use super::{ImportProgress, ReferenceImport};
use crate::error::StoreError;
use crate::store::Store;

/// A running import. The store answers and takes rows meanwhile.
///
/// Dropping it stops the import behind the batch under way; the next one goes on from there.
pub struct BackgroundImport {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<Result<ReferenceImport, StoreError>>>,
}

#[derive(Default)]
struct Shared {
    stop: AtomicBool,
    done: AtomicU64,
    total: AtomicU64,
}

impl Store {
    /// Starts to import what is new in a `state.db` of the reference, and returns at once.
    pub fn import_in_background(&self, path: PathBuf) -> Result<BackgroundImport, StoreError> {
        let shared = Arc::new(Shared::default());
        let (store, seen) = (self.clone(), shared.clone());
        let thread = std::thread::Builder::new()
            .name("import".into())
            .spawn(move || {
                store.import_reference(&path, |progress| {
                    seen.total.store(progress.messages_total, Ordering::Relaxed);
                    seen.done.store(progress.messages_done, Ordering::Relaxed);
                    if seen.stop.load(Ordering::Relaxed) {
                        ControlFlow::Break(())
                    } else {
                        ControlFlow::Continue(())
                    }
                })
            })
            .map_err(|_| StoreError::Closed)?;
        Ok(BackgroundImport {
            shared,
            thread: Some(thread),
        })
    }
}

impl BackgroundImport {
    /// How far it is; zero of zero until the first batch is in.
    pub fn progress(&self) -> ImportProgress {
        ImportProgress {
            messages_done: self.shared.done.load(Ordering::Relaxed),
            messages_total: self.shared.total.load(Ordering::Relaxed),
        }
    }

    /// Whether it has ended, well or badly; `wait` then answers at once.
    pub fn is_finished(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Waits for its end.
    pub fn wait(mut self) -> Result<ReferenceImport, StoreError> {
        self.join()
    }

    fn join(&mut self) -> Result<ReferenceImport, StoreError> {
        match self.thread.take() {
            Some(thread) => thread.join().unwrap_or(Err(StoreError::Closed)),
            None => Err(StoreError::Closed),
        }
    }
}

impl Drop for BackgroundImport {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        // Joined, so that nothing writes behind a program that believes it has ended. What went wrong is
        // for those who wait; the next import meets it again.
        let _ = self.join();
    }
}
