//! Bringing the reference's conversations over, with a progress bar where somebody can see it.

use std::path::Path;
use std::time::Duration;

use hermes_store::{ReferenceImport, Store, StoreError};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Short beside what a person notices, so that a home with nothing new costs nothing.
const BETWEEN_LOOKS: Duration = Duration::from_millis(5);

/// Imports a `state.db` in the background and waits for it, for commands that show what it brings.
pub(crate) fn import(store: &Store, path: &Path) -> Result<ReferenceImport, StoreError> {
    // Nothing is drawn when stderr is no terminal.
    let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template(
        "importing conversations {bar:30} {pos}/{len} messages, {eta} left",
    ) {
        bar.set_style(style);
    }
    let running = store.import_in_background(path.to_owned())?;
    while !running.is_finished() {
        let progress = running.progress();
        bar.set_length(progress.messages_total);
        bar.set_position(progress.messages_done);
        std::thread::sleep(BETWEEN_LOOKS);
    }
    let result = running.wait();
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
