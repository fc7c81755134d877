//! `audit.log`: what was done, one line each.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;

use serde::Serialize;

use super::State;
use crate::hub::error::HubError;

/// A log that is larger is put aside; one of them is kept.
const LARGEST: u64 = 1024 * 1024;
/// Most characters of one part.
const LONGEST_PART: usize = 300;

/// Something that was done.
pub(crate) struct Event<'a> {
    pub(crate) action: &'static str,
    pub(crate) name: &'a str,
    pub(crate) source: &'a str,
    pub(crate) trust: &'a str,
    pub(crate) verdict: &'a str,
    pub(crate) extra: &'a str,
}

/// A line of the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AuditLine {
    pub at: String,
    pub action: String,
    pub name: String,
    pub source: String,
    pub verdict: String,
    pub extra: String,
}

impl State {
    /// Writes a line. The log is a record for people: when it cannot be written, what was done stands.
    pub(crate) fn note(&self, event: &Event<'_>) {
        if let Err(error) = self.append(event) {
            tracing::warn!("the hub's audit log was not written: {error}");
        }
    }

    fn append(&self, event: &Event<'_>) -> Result<(), HubError> {
        self.create()?;
        let path = self.hub().join("audit.log");
        let failed = |source| HubError::Io {
            path: path.clone(),
            doing: "written",
            source,
        };
        if fs::metadata(&path).is_ok_and(|about| about.len() > LARGEST) {
            fs::rename(&path, self.hub().join("audit.log.1")).map_err(failed)?;
        }
        let at = self.clock().now().to_string();
        let origin = format!("{}:{}", event.source, event.trust);
        let parts = [
            &at,
            event.action,
            event.name,
            &origin,
            event.verdict,
            event.extra,
        ];
        let line = parts.map(one_word).join(" ");
        let mut file = OpenOptions::new()
            .append(true)
            .create(true)
            .mode(0o600)
            .open(&path)
            .map_err(failed)?;
        file.write_all(format!("{}\n", line.trim_end()).as_bytes())
            .map_err(failed)
    }

    /// The last lines, the newest last.
    pub(crate) fn audit_lines(&self, most: usize) -> Result<Vec<AuditLine>, HubError> {
        let path = self.hub().join("audit.log");
        let bytes = hermes_config::read_file(&path)?.unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<&str> = text.lines().collect();
        let start = lines.len().saturating_sub(most);
        let recent = lines.get(start..).unwrap_or_default();
        Ok(recent.iter().filter_map(|line| read(line)).collect())
    }
}

fn read(line: &str) -> Option<AuditLine> {
    let mut words = line.splitn(6, ' ');
    let mut next = || words.next().map(str::to_owned);
    Some(AuditLine {
        at: next()?,
        action: next()?,
        name: next()?,
        source: next()?,
        verdict: next()?,
        extra: next().unwrap_or_default(),
    })
}

/// A part of a line: nothing in it may begin another part or another line.
fn one_word(text: &str) -> String {
    let word: String = text
        .chars()
        .take(LONGEST_PART)
        .map(|c| {
            if c.is_whitespace() || c.is_control() {
                '_'
            } else {
                c
            }
        })
        .collect();
    if word.is_empty() {
        "-".to_owned()
    } else {
        word
    }
}
