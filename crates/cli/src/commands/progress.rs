//! A bar on the terminal while something takes long.

use hermes_store::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

const TEMPLATE: &str = "{bar:30} {percent}% {bytes}/{total_bytes}";

/// A progress bar on standard error; invisible when that is no terminal.
pub(super) struct Bar(ProgressBar);

impl Bar {
    pub(super) fn new() -> Self {
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
        // A template that cannot be read leaves the usual one.
        if let Ok(style) = ProgressStyle::with_template(TEMPLATE) {
            bar.set_style(style);
        }
        Self(bar)
    }

    pub(super) fn show(&mut self, progress: Progress) {
        self.0.set_length(progress.total);
        self.0.set_position(progress.done);
    }

    pub(super) fn finish(self) {
        self.0.finish_and_clear();
    }
}
