//! `tool_calls.log`: a record for each call of a tool, for whoever does not want to see them on the screen.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hermes_core::Clock;
use hermes_secrets::{RedactorHandle, Scope};

use super::file::LogFile;
use super::line::{Level, Parts};
use super::sink::MEGABYTE;
use crate::context::Context;

const NAME: &str = "tool_calls.log";
const LOGGER: &str = "tools.calls";
/// Characters of the arguments and of the reason for a failure.
const LONGEST: usize = 2_000;

/// The log. Opened at the first record; one that cannot be written stops nobody.
pub(crate) struct CallLog {
    file: Mutex<LogFile>,
    redactor: RedactorHandle,
    clock: Arc<dyn Clock>,
}

/// A call that has ended.
pub(crate) struct EndedCall<'a> {
    pub(crate) session: &'a str,
    pub(crate) tool: &'a str,
    pub(crate) arguments: &'a str,
    pub(crate) took: Duration,
    /// Why it failed, if it did.
    pub(crate) failed: Option<&'a str>,
}

impl CallLog {
    /// Nothing where there is no home.
    pub(crate) fn new(context: &Context) -> Option<Self> {
        let settings = context.logging();
        let largest = u64::from(settings.max_size_mb) * MEGABYTE;
        let path = context.home().ok()?.logs_dir().join(NAME);
        Some(Self {
            file: Mutex::new(LogFile::new(path, largest, settings.backup_count)),
            redactor: context.redactor.clone(),
            clock: context.clock().clone(),
        })
    }

    pub(crate) fn write(&self, call: &EndedCall<'_>) {
        let short = |text: &str| text.chars().take(LONGEST).collect::<String>();
        let head = format!(
            "{} {:.1}s {}",
            call.tool,
            call.took.as_secs_f64(),
            short(call.arguments)
        );
        let (level, said) = match call.failed {
            None => (Level::Info, head),
            Some(why) => (Level::Warning, format!("{head} failed: {}", short(why))),
        };
        let redactor = self.redactor.snapshot();
        let session = redactor.redact_in(Scope::Known, call.session);
        let record = Parts {
            at: self.clock.local(),
            level,
            session: Some(&session),
            logger: LOGGER,
            text: &redactor.redact_in(Scope::Log, &said),
        }
        .to_line();
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = file.append(record.as_bytes()) {
            tracing::debug!(%error, "{NAME} could not be written");
        }
    }
}
