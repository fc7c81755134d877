//! How far calls say they are. It changes nothing about how long they may take; whoever waits may see it, and the
//! last word is kept for the error of a call whose time is over.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hermes_secrets::RedactorHandle;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use tokio::sync::watch;

use crate::failure::quoted;

/// The last word of each request under way.
#[derive(Default)]
pub(crate) struct Progress(Mutex<HashMap<ProgressToken, Heard>>);

/// What one request has said.
struct Heard {
    last: Option<String>,
    /// Who looks, if anybody does.
    listener: Option<watch::Sender<String>>,
}

impl Progress {
    /// Listens for a request until the guard is dropped.
    pub(crate) fn follow(
        self: &Arc<Self>,
        token: ProgressToken,
        listener: Option<watch::Sender<String>>,
    ) -> Following {
        let last = None;
        self.known().insert(token.clone(), Heard { last, listener });
        Following {
            progress: Arc::clone(self),
            token,
        }
    }

    /// Passes a message on to our own log, and keeps it where somebody waits for the answer.
    pub(super) fn note(
        &self,
        server: &str,
        said: &ProgressNotificationParam,
        redactor: &RedactorHandle,
    ) {
        let total = said.total.map(|total| format!(" of {total}"));
        let count = format!("{}{}", said.progress, total.unwrap_or_default());
        let words = said.message.as_deref().unwrap_or_default();
        let words = quoted(&redactor.snapshot(), &format!("{count} {words}"));
        tracing::debug!(server, "progress: {words}");
        self.say(&said.progress_token, words);
    }

    fn say(&self, token: &ProgressToken, words: String) {
        if let Some(heard) = self.known().get_mut(token) {
            if let Some(listener) = &heard.listener {
                listener.send_if_modified(|last| {
                    let new = *last != words;
                    last.clone_from(&words);
                    new
                });
            }
            heard.last = Some(words);
        }
    }

    fn known(&self) -> MutexGuard<'_, HashMap<ProgressToken, Heard>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request that is listened for.
pub(crate) struct Following {
    progress: Arc<Progress>,
    token: ProgressToken,
}

impl Following {
    /// Notes what was said about it in another way.
    pub(crate) fn say(&self, words: String) {
        self.progress.say(&self.token, words);
    }

    /// What was said last.
    pub(crate) fn last(&self) -> Option<String> {
        self.progress.known().get(&self.token)?.last.clone()
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        self.progress.known().remove(&self.token);
    }
}
