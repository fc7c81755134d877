//! One record of a log: a line, and the lines that belong to it.

use std::io::{self, Write};

use jiff::tz::TimeZone;
use serde_json::json;

use crate::logging::line::{Header, Level};
use crate::output::{Output, Style, printable};

/// Whether a line may belong to the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Grouping {
    Records,
    Lines,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Record {
    /// `None` for a line that has no form.
    pub(super) header: Option<Header>,
    /// All lines, without the last line end.
    pub(super) text: String,
}

impl Record {
    pub(super) fn of_line(line: &[u8]) -> Self {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let text = String::from_utf8_lossy(line).into_owned();
        Self {
            header: Header::parse(&text),
            text,
        }
    }

    pub(super) fn push_line(&mut self, line: &str) {
        self.text.push('\n');
        self.text.push_str(line);
    }
}

/// How records are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form<'a> {
    Text,
    /// Read as written in this time zone.
    Json(&'a TimeZone),
}

impl Form<'_> {
    pub(super) fn print(self, record: &Record, output: &mut Output) -> io::Result<()> {
        match self {
            Self::Text => print_text(record, output),
            Self::Json(zone) => print_json(record, zone, output),
        }
    }
}

fn print_text(record: &Record, output: &mut Output) -> io::Result<()> {
    // What is in a log may come from anywhere; it must not steer the terminal.
    let text = printable(&record.text);
    let style = record
        .header
        .as_ref()
        .and_then(|header| match header.level {
            Level::Debug => Some(Style::Faint),
            Level::Info => None,
            Level::Warning => Some(Style::Warning),
            Level::Error | Level::Critical => Some(Style::Bad),
        });
    match style {
        Some(style) => output.line(output.paint(style, &text)),
        None => output.line(text),
    }
}

fn print_json(record: &Record, zone: &TimeZone, output: &mut Output) -> io::Result<()> {
    let value = match &record.header {
        Some(header) => json!({
            "timestamp": header
                .moment(zone)
                .map(|moment| moment.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()),
            "level": header.level.word(),
            "session_id": header.session,
            "logger": header.logger,
            "message": record.text.get(header.text_at..),
        }),
        None => json!({
            "timestamp": null,
            "level": null,
            "session_id": null,
            "logger": null,
            "message": record.text,
        }),
    };
    serde_json::to_writer(&mut *output, &value)?;
    output.write_all(b"\n")
}
