//! The reference's history on its way in behind the conversation, and what is said about it.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use hermes_store::{BackgroundImport, ReferenceImport, StoreError};
use tokio::time::Instant;

/// How often it is looked whether it has ended.
const LOOK: Duration = Duration::from_millis(250);
/// How often it is said how far it is.
const TELL: Duration = Duration::from_secs(10);

/// An import, if there is one.
pub(super) struct Importing {
    import: RefCell<Option<BackgroundImport>>,
    /// When it is looked at again: whoever waits may be called away in between.
    look: Cell<Option<Instant>>,
    tell: Cell<Option<Instant>>,
}

impl Importing {
    pub(super) fn new(import: Option<BackgroundImport>) -> Self {
        Self {
            import: RefCell::new(import),
            look: Cell::new(None),
            tell: Cell::new(None),
        }
    }

    /// How far it is, while it runs.
    pub(super) fn now(&self) -> Option<String> {
        let import = self.import.borrow();
        let running = import.as_ref().filter(|import| !import.is_finished())?;
        let progress = running.progress();
        Some(format!(
            "importing earlier conversations: {} of {} messages",
            progress.messages_done, progress.messages_total
        ))
    }

    /// What there is to say next: that it began, how far it is now and then, and how it ended. Never, when there is
    /// nothing. May be dropped before it ends.
    pub(super) async fn next(&self) -> String {
        loop {
            if self.import.borrow().is_none() {
                std::future::pending::<()>().await;
            }
            if let Some(at) = self.look.get() {
                tokio::time::sleep_until(at).await;
            }
            self.look.set(Some(Instant::now() + LOOK));
            match self.now() {
                None => {
                    let ended = self.import.take().map(BackgroundImport::wait);
                    if let Some(text) = ended.and_then(told) {
                        return text;
                    }
                }
                Some(text) if self.tell.get().is_none_or(|at| at <= Instant::now()) => {
                    self.tell.set(Some(Instant::now() + TELL));
                    return text;
                }
                Some(_) => {}
            }
        }
    }
}

/// How it ended; nothing when there was nothing new.
fn told(ended: Result<ReferenceImport, StoreError>) -> Option<String> {
    match ended {
        Ok(brought) => (brought.messages > 0).then(|| {
            format!(
                "Earlier conversations were imported: {} messages; /sessions shows them.",
                brought.messages
            )
        }),
        Err(error) => Some(format!(
            "Earlier conversations could not all be imported: {error}; hermes sessions list tries again."
        )),
    }
}
