//! The log files in the home: `agent.log` with what happens, `errors.log` with what went wrong, `tool_calls.log` with
//! calls of tools for those who want them there.
//!
//! Written in the reference's format, so that both programs and `hermes logs` read them. Files are
//! opened at the first event, secrets are masked before anything is written, and a log that cannot be
//! written never fails the command that wanted to.

mod calls;
mod file;
pub(crate) mod line;
mod sink;

use std::sync::Arc;

use hermes_config::{Home, LogLevel, Logging};
use hermes_core::Clock;
use hermes_secrets::RedactorHandle;
use tracing_subscriber::layer::SubscriberExt;

use crate::context::Context;

pub(crate) use calls::{CallLog, EndedCall};

/// Sends the program's events to the log files of a home. The first call counts, later ones do nothing.
pub(crate) fn install(
    home: &Home,
    settings: &Logging,
    redactor: RedactorHandle,
    clock: Arc<dyn Clock>,
) {
    listen(sink::Sink::new(&home.logs_dir(), settings, redactor, clock));
}

/// As `start`, with everything said on standard error as well.
pub(crate) fn aside(context: &Context) {
    let Ok(home) = context.home() else { return };
    let settings = context.logging();
    let (redactor, clock) = (context.redactor.clone(), context.clock().clone());
    listen(sink::Sink::new(&home.logs_dir(), &settings, redactor, clock).aside());
}

/// As `start`, with everything in the files, for whoever has no place on standard error.
pub(crate) fn thoroughly(context: &Context) {
    let Ok(home) = context.home() else { return };
    let mut settings = context.logging();
    settings.level = LogLevel::Debug;
    install(
        home,
        &settings,
        context.redactor.clone(),
        context.clock().clone(),
    );
}

fn listen(sink: sink::Sink) {
    let subscriber = tracing_subscriber::registry().with(sink);
    // An error means that one is installed already.
    drop(tracing::subscriber::set_global_default(subscriber));
}

/// Installs the sink for a command that opens no store.
pub(crate) fn start(context: &Context) {
    let Ok(home) = context.home() else { return };
    let settings = context.logging();
    install(
        home,
        &settings,
        context.redactor.clone(),
        context.clock().clone(),
    );
}
