//! A backend whose commands find our files up to date.

use std::path::PathBuf;
use std::sync::Arc;

use futures_core::future::BoxFuture;

use super::{FileSync, Urgency};
use crate::{Backend, ExecError, Launch, Place, Process};

/// Sends what changed before it starts something. What cannot be sent keeps no command from running: the next
/// one tries again.
pub struct SyncedBackend {
    inner: Arc<dyn Backend>,
    sync: FileSync,
}

impl SyncedBackend {
    /// Over the backend that `sync` sends over.
    pub fn new(inner: Arc<dyn Backend>, sync: FileSync) -> Self {
        Self { inner, sync }
    }
}

impl Backend for SyncedBackend {
    fn place(&self) -> Place {
        self.inner.place()
    }

    fn scratch(&self) -> PathBuf {
        self.inner.scratch()
    }

    fn edition(&self) -> u64 {
        self.inner.edition()
    }

    fn spawn(&self, launch: Launch) -> BoxFuture<'_, Result<Process, ExecError>> {
        Box::pin(async move {
            match self.sync.push(Urgency::Usual).await {
                Ok(_) => {}
                // Nothing else could be started either.
                Err(error @ ExecError::Unavailable { .. }) => return Err(error),
                Err(error) => tracing::warn!(%error, "files were not sent"),
            }
            self.inner.spawn(launch).await
        })
    }

    fn close(&self) -> BoxFuture<'_, Result<(), ExecError>> {
        Box::pin(async move {
            if self.sync.has_sent().await {
                match self.sync.pull().await {
                    Ok(pulled) if pulled.changes.is_empty() => {}
                    Ok(pulled) => tracing::warn!(
                        changes = pulled.changes.len(),
                        "files were changed elsewhere; they are in {} to be looked at",
                        pulled.quarantine.display()
                    ),
                    Err(error) => tracing::warn!(%error, "what changed elsewhere is not known"),
                }
            }
            self.inner.close().await
        })
    }
}
