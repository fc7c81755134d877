//! Bringing the reference's conversations over, with a progress bar where somebody can see it.

use std::ops::ControlFlow;
use std::path::Path;

use hermes_store::{ReferenceImport, Store, StoreError};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Imports a `state.db` on a thread of its own; the bar shows how far it is.
pub(crate) fn import(store: &Store, path: &Path) -> Result<ReferenceImport, StoreError> {
    // Nothing is drawn when stderr is no terminal.
    let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template(
        "importing conversations {bar:30} {pos}/{len} messages, {eta} left",
    ) {
        bar.set_style(style);
    }
    let result = std::thread::scope(|scope| {
        let work = scope.spawn(|| {
            store.import_reference(path, |progress| {
                bar.set_length(progress.messages_total);
                bar.set_position(progress.messages_done);
                ControlFlow::Continue(())
            })
        });
        work.join().unwrap_or(Err(StoreError::Closed))
    });
    bar.finish_and_clear();
    if let Ok(done) = &result {
        tracing::info!(
            "imported {} new and {} changed sessions, {} messages",
            done.sessions_new,
            done.sessions_changed,
            done.messages
        );
    }
    result
}
