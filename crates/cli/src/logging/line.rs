//! The form of a log record: `2026-07-04 12:00:00,123 INFO [session] logger: text`.

use std::fmt::Write;

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned, civil};

/// How bad a record is, mildest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    Debug,
    Info,
    Warning,
    Error,
    Critical,
}

/// What the first line of a record says before its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Header {
    /// Local time, as written.
    pub(crate) local: civil::DateTime,
    pub(crate) level: Level,
    pub(crate) session: Option<String>,
    pub(crate) logger: String,
    /// Where the text begins.
    pub(crate) text_at: usize,
}

/// The length of `2026-07-04 12:00:00,123`.
const TIME: usize = 23;
/// A longer record is cut; nobody reads it, and a runaway must not fill the disk.
const LONGEST: usize = 64 * 1024;
/// Put before every further line of a text, so that no text can pass for a record.
const INDENT: &str = "    ";

impl Level {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Debug => "DEBUG",
            Self::Info => "INFO",
            Self::Warning => "WARNING",
            Self::Error => "ERROR",
            Self::Critical => "CRITICAL",
        }
    }

    fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "DEBUG" | "TRACE" => Self::Debug,
            "INFO" => Self::Info,
            "WARNING" | "WARN" => Self::Warning,
            "ERROR" => Self::Error,
            "CRITICAL" | "FATAL" => Self::Critical,
            _ => return None,
        })
    }
}

impl Header {
    /// Reads the beginning of a line; `None` for a line that belongs to the record before.
    pub(crate) fn parse(line: &str) -> Option<Self> {
        let local = parse_time(line.get(..TIME)?)?;
        let rest = line.get(TIME..)?.strip_prefix(' ')?;
        let (level, rest) = rest.split_once(' ')?;
        let level = Level::parse(level)?;
        let (session, rest) = match rest
            .strip_prefix('[')
            .and_then(|rest| rest.split_once("] "))
        {
            Some((session, rest)) => (Some(session.to_owned()), rest),
            None => (None, rest),
        };
        let (logger, text) = rest.split_once(':')?;
        if logger.contains(char::is_whitespace) {
            return None;
        }
        let text = text.strip_prefix(' ').unwrap_or(text);
        Some(Self {
            local,
            level,
            session,
            logger: logger.to_owned(),
            text_at: line.len() - text.len(),
        })
    }

    /// The moment, as far as a local time without a zone tells.
    pub(crate) fn moment(&self, zone: &TimeZone) -> Option<Timestamp> {
        let zoned = self.local.to_zoned(zone.clone()).ok()?;
        Some(zoned.timestamp())
    }
}

fn parse_time(text: &str) -> Option<civil::DateTime> {
    let separators = [(4, b'-'), (7, b'-'), (10, b' '), (13, b':'), (16, b':')];
    let bytes = text.as_bytes();
    let fits = separators
        .iter()
        .all(|(at, byte)| bytes.get(*at) == Some(byte))
        && matches!(bytes.get(19), Some(b',' | b'.'));
    if !fits {
        return None;
    }
    let number = |from: usize, to: usize| text.get(from..to)?.parse::<i16>().ok();
    let small = |from, to| i8::try_from(number(from, to)?).ok();
    let nanoseconds = i32::from(number(20, 23)?) * 1_000_000;
    civil::DateTime::new(
        number(0, 4)?,
        small(5, 7)?,
        small(8, 10)?,
        small(11, 13)?,
        small(14, 16)?,
        small(17, 19)?,
        nanoseconds,
    )
    .ok()
}

/// What a record is made of.
#[derive(Debug)]
pub(super) struct Parts<'a> {
    pub(super) at: Zoned,
    pub(super) level: Level,
    pub(super) session: Option<&'a str>,
    pub(super) logger: &'a str,
    /// Secrets are masked already.
    pub(super) text: &'a str,
}

impl Parts<'_> {
    /// The record with its line end, in one piece, so that one write puts it into the file.
    pub(super) fn to_line(&self) -> String {
        let mut line = self.at.strftime("%Y-%m-%d %H:%M:%S").to_string();
        // Writing to a string cannot fail.
        let _ = write!(line, ",{:03} {}", self.at.millisecond(), self.level.word());
        if let Some(session) = self.session {
            let _ = write!(line, " [{}]", one_word(session));
        }
        let _ = write!(line, " {}: ", self.logger);
        let (text, cut) = match self.text.char_indices().nth(LONGEST) {
            Some((at, _)) => self.text.split_at(at),
            None => (self.text, ""),
        };
        let mut lines = text.lines();
        push_printable(&mut line, lines.next().unwrap_or_default());
        for further in lines {
            line.push('\n');
            line.push_str(INDENT);
            push_printable(&mut line, further);
        }
        if !cut.is_empty() {
            let _ = write!(line, " … ({} bytes more)", cut.len());
        }
        line.push('\n');
        line
    }
}

/// Control characters could steer the terminal the log is shown on.
fn push_printable(line: &mut String, text: &str) {
    line.extend(text.chars().filter(|c| !c.is_control() || *c == '\t'));
}

fn one_word(text: &str) -> String {
    text.chars()
        .filter(|c| !c.is_control() && !c.is_whitespace() && !matches!(c, '[' | ']'))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_record_of_the_reference() {
        let line =
            "2026-07-04 12:00:01,250 WARNING [20260704_120000_ab12cd] tools.shell: slow: 3 s";
        let header = Header::parse(line).unwrap();
        assert_eq!(
            header,
            Header {
                local: civil::datetime(2026, 7, 4, 12, 0, 1, 250_000_000),
                level: Level::Warning,
                session: Some("20260704_120000_ab12cd".to_owned()),
                logger: "tools.shell".to_owned(),
                text_at: line.len() - "slow: 3 s".len(),
            }
        );
        let without = Header::parse("2026-07-04 12:00:01,250 INFO run_agent: ready").unwrap();
        assert_eq!(
            (without.session, without.logger.as_str()),
            (None, "run_agent")
        );
    }

    #[test]
    fn other_lines_belong_to_the_record_before() {
        for line in [
            "",
            "Traceback (most recent call last):",
            "    2026-07-04 12:00:01,250 INFO x: y",
            "2026-07-04 12:00:01,250 LOUD x: y",
            "2026-13-04 12:00:01,250 INFO x: y",
            "2026-07-04 12:00:01,250 INFO no logger: here",
            "2026-07-04 12:00:01,2é0 INFO x: y",
        ] {
            assert_eq!(Header::parse(line), None, "{line}");
        }
    }

    #[test]
    fn a_text_cannot_pass_for_a_record() {
        let parts = Parts {
            at: "2026-07-04T12:00:00.007[UTC]".parse().unwrap(),
            level: Level::Info,
            session: Some("a] b\n"),
            logger: "cli",
            text: "one\u{1b}[31m\n2026-07-04 12:00:01,250 ERROR x: forged\r\nend",
        };
        let line = parts.to_line();
        let lines: Vec<_> = line.lines().collect();
        assert_eq!(lines.len(), 3);
        let first = Header::parse(lines[0]).unwrap();
        assert_eq!(first.session.as_deref(), Some("ab"));
        assert_eq!(&lines[0][first.text_at..], "one[31m");
        assert_eq!(Header::parse(lines[1]), None);
        assert_eq!(lines[2], "    end");
    }

    #[test]
    fn a_runaway_is_cut() {
        let text = "é".repeat(LONGEST + 10);
        let parts = Parts {
            at: Timestamp::UNIX_EPOCH.to_zoned(TimeZone::UTC),
            level: Level::Info,
            session: None,
            logger: "cli",
            text: &text,
        };
        assert!(parts.to_line().ends_with("é … (20 bytes more)\n"));
    }
}
