//! From events to lines in files.

use std::fmt;
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use hermes_config::{LogLevel, Logging};
use hermes_core::Clock;
use hermes_secrets::{RedactorHandle, Scope};
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level as Severity, Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

use super::file::LogFile;
use super::line::{Level, Parts};

pub(super) const MEGABYTE: u64 = 1024 * 1024;
/// Our own crates; other people's are heard only when something is wrong.
const OWN: &str = "hermes";
const MESSAGE: &str = "message";
/// An event or a span with this field belongs to that session.
const SESSION: &str = "session";

/// Writes events to `agent.log`, and the bad ones to `errors.log` as well.
pub(super) struct Sink {
    level: LevelFilter,
    redactor: RedactorHandle,
    clock: Arc<dyn Clock>,
    files: Mutex<Files>,
    /// How much is said on standard error as well.
    aside: LevelFilter,
}

#[derive(Debug)]
struct Files {
    agent: LogFile,
    errors: LogFile,
}

/// The session of a span.
struct SessionTag(String);

impl Sink {
    pub(super) fn new(
        folder: &Path,
        settings: &Logging,
        redactor: RedactorHandle,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let largest = u64::from(settings.max_size_mb) * MEGABYTE;
        let file = |name| LogFile::new(folder.join(name), largest, settings.backup_count);
        let level = match settings.level {
            LogLevel::Debug => LevelFilter::DEBUG,
            LogLevel::Info => LevelFilter::INFO,
            LogLevel::Warning => LevelFilter::WARN,
            LogLevel::Error | LogLevel::Critical => LevelFilter::ERROR,
        };
        Self {
            level,
            redactor,
            clock,
            files: Mutex::new(Files {
                agent: file("agent.log"),
                errors: file("errors.log"),
            }),
            aside: LevelFilter::OFF,
        }
    }

    /// The same, which says everything on standard error as well.
    pub(super) fn aside(mut self) -> Self {
        self.aside = LevelFilter::DEBUG;
        self
    }

    fn write(&self, severity: Severity, record: &[u8]) -> io::Result<()> {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let agent = if severity <= self.level {
            files.agent.append(record)
        } else {
            Ok(())
        };
        if severity <= Severity::WARN {
            files.errors.append(record)?;
        }
        agent
    }
}

impl<S> Layer<S> for Sink
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    fn enabled(&self, metadata: &Metadata<'_>, _: Context<'_, S>) -> bool {
        let severity = *metadata.level();
        severity <= Severity::WARN
            || metadata.is_span()
            || (severity <= self.level.max(self.aside) && metadata.target().starts_with(OWN))
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.level.max(self.aside).max(LevelFilter::WARN))
    }

    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut text = Text::default();
        attributes.record(&mut text);
        if let (Some(session), Some(span)) = (text.session, context.span(id)) {
            span.extensions_mut().replace(SessionTag(session));
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let mut text = Text::default();
        values.record(&mut text);
        if let (Some(session), Some(span)) = (text.session, context.span(id)) {
            span.extensions_mut().replace(SessionTag(session));
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut text = Text::default();
        event.record(&mut text);
        let session = text.session.take().or_else(|| {
            context.event_scope(event)?.find_map(|span| {
                let tags = span.extensions();
                tags.get::<SessionTag>().map(|tag| tag.0.clone())
            })
        });
        let metadata = event.metadata();
        let redactor = self.redactor.snapshot();
        let said = format!("{}{}", text.message, text.fields);
        let session = session.map(|id| redactor.redact_in(Scope::Known, &id).into_owned());
        let parts = Parts {
            at: self.clock.local(),
            level: level_of(*metadata.level()),
            session: session.as_deref(),
            logger: &logger_of(metadata.target()),
            text: &redactor.redact_in(Scope::Log, &said),
        };
        let record = parts.to_line();
        // A full disk or a read-only home must not stop the work that is being logged, and there is
        // nowhere left to say so.
        drop(self.write(*metadata.level(), record.as_bytes()));
        if *metadata.level() <= self.aside {
            drop(io::stderr().lock().write_all(record.as_bytes()));
        }
    }
}

fn level_of(severity: Severity) -> Level {
    match severity {
        Severity::ERROR => Level::Error,
        Severity::WARN => Level::Warning,
        Severity::INFO => Level::Info,
        Severity::DEBUG | Severity::TRACE => Level::Debug,
    }
}

/// `hermes_store::repair` is called `store.repair`, and the binary itself `cli`.
fn logger_of(target: &str) -> String {
    let parts = match target.strip_prefix("hermes") {
        Some(rest) if rest.is_empty() || rest.starts_with("::") => format!("cli{rest}"),
        Some(rest) => rest.trim_start_matches('_').to_owned(),
        None => target.to_owned(),
    };
    parts.replace("::", ".").replace(
        |c: char| c.is_whitespace() || c.is_control() || c == ':',
        "_",
    )
}

/// What an event says: its message, then ` name=value` for every other field.
#[derive(Default)]
struct Text {
    message: String,
    fields: String,
    session: Option<String>,
}

impl Text {
    fn add(&mut self, field: &Field, value: &str) {
        match field.name() {
            MESSAGE => self.message.push_str(value),
            SESSION => self.session = Some(value.to_owned()),
            name => {
                self.fields.push(' ');
                self.fields.push_str(name);
                self.fields.push('=');
                self.fields.push_str(value);
            }
        }
    }
}

impl Visit for Text {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.add(field, value);
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.add(field, &format!("{value:?}"));
    }
}
