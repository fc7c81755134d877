//! What earlier commands of a session defined in its shell.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hermes_exec::Shell;
use hermes_policy::Definitions;
use tokio::sync::Mutex;

/// Functions and aliases of a session's shell, read again when a command may have changed them.
#[derive(Default)]
pub struct Defined {
    known: Mutex<Option<Arc<Definitions>>>,
    outdated: AtomicBool,
}

impl Defined {
    /// A command that may define something has run.
    pub(crate) fn outdate(&self) {
        self.outdated.store(true, Ordering::Release);
    }

    /// What words mean in this shell. A shell that cannot be reached runs nothing either, so it means nothing then.
    pub(crate) async fn get(&self, shell: &Shell) -> Arc<Definitions> {
        let mut known = self.known.lock().await;
        let outdated = self.outdated.swap(false, Ordering::AcqRel);
        if let (Some(known), false) = (&*known, outdated) {
            return known.clone();
        }
        let state = match shell.saved().await {
            Ok(state) => state.unwrap_or_default(),
            Err(error) => {
                self.outdate();
                tracing::debug!(%error, "the definitions of a shell could not be read");
                return known.clone().unwrap_or_default();
            }
        };
        let read = Arc::new(match &*known {
            None => Definitions::first(&state),
            Some(before) => before.now(&state),
        });
        *known = Some(read.clone());
        read
    }
}
