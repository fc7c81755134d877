//! Sessions from an export, ours or the reference's.
//!
//! The file is read and checked as a whole before anything is stored, line by line and within limits;
//! then all of it is stored in one step.

use std::io::{BufRead, Read};
use std::path::Path;

use hermes_core::{SessionId, without_halves};
use rusqlite::Connection;
use serde_json::{Map, Value as Json};

use crate::error::StoreError;
use crate::messages;
use crate::record::Visibility;
use crate::reference_row::{Converted, ReferenceRow, ReferenceSession, link};
use crate::sessions;
use crate::store::Store;
use crate::title::{LONGEST, clean_title, next_title};

/// Sessions one file may hold.
pub const MOST_SESSIONS: usize = 500;
/// Messages one session may hold.
const MOST_SESSION_MESSAGES: usize = 10_000;
/// Messages one file may hold.
pub const MOST_MESSAGES: usize = 50_000;
/// Bytes one session may take in the file.
const MOST_SESSION_BYTES: usize = 5 * 1024 * 1024;
/// Bytes one file may have.
pub const MOST_BYTES: usize = 25 * 1024 * 1024;

/// The last second of the year 9999, behind which no calendar goes.
const LATEST: f64 = 253_402_300_799.0;

/// Room for ` #N` behind a title that is taken.
const NUMBER_ROOM: usize = 8;

/// How much one import may bring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImportCaps {
    pub sessions: usize,
    pub session_messages: usize,
    pub messages: usize,
    pub session_bytes: usize,
    pub bytes: usize,
}

impl Default for ImportCaps {
    fn default() -> Self {
        Self {
            sessions: MOST_SESSIONS,
            session_messages: MOST_SESSION_MESSAGES,
            messages: MOST_MESSAGES,
            session_bytes: MOST_SESSION_BYTES,
            bytes: MOST_BYTES,
        }
    }
}

/// The limit a file went over, with its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ImportLimit {
    #[error("at most {0} sessions in a file")]
    Sessions(usize),
    #[error("at most {0} messages in a session")]
    SessionMessages(usize),
    #[error("at most {0} messages in a file")]
    Messages(usize),
    #[error("at most {0} bytes for a session")]
    SessionBytes(usize),
    #[error("at most {0} bytes in a file")]
    Bytes(usize),
}

/// What an import did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Imported {
    /// Sessions that were added.
    pub sessions: usize,
    /// Messages that were added with them.
    pub messages: usize,
    /// Sessions that were there already, the same.
    pub unchanged: usize,
    /// Sessions whose id is taken by another conversation.
    pub skipped: Vec<Skipped>,
}

/// A session that was not taken over because its id is taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    pub session: SessionId,
    /// The line of the file it is on.
    pub line: usize,
}

impl Store {
    /// Adds the sessions of an export, all of them or, on an error, none.
    ///
    /// Blocks while it reads and writes. `file` only names the file in errors. Message ids are given
    /// anew, in the order of the file. A title that is taken gets a number.
    pub fn import_jsonl(
        &self,
        file: &Path,
        reader: impl BufRead,
        caps: &ImportCaps,
    ) -> Result<Imported, StoreError> {
        let mut lines = Lines {
            file,
            reader,
            caps,
            line: 0,
            bytes: 0,
        };
        let mut found = Vec::new();
        let mut messages = 0;
        while let Some(object) = lines.next()? {
            let entry = lines.entry(object)?;
            messages += entry.rows.len();
            found.push(entry);
            if found.len() > caps.sessions {
                return Err(lines.over(ImportLimit::Sessions(caps.sessions)));
            }
            if messages > caps.messages {
                return Err(lines.over(ImportLimit::Messages(caps.messages)));
            }
        }
        let ready: Vec<Ready> = found
            .into_iter()
            .map(|entry| self.prepare(file, entry))
            .collect::<Result<_, _>>()?;
        self.write(move |connection| store(connection, ready))
            .wait()
    }

    fn prepare(&self, file: &Path, entry: Entry) -> Result<Ready, StoreError> {
        let Entry {
            line,
            mut session,
            rows,
        } = entry;
        let first = rows.iter().find_map(|row| row.timestamp);
        let started_at = session
            .started_at
            .or(first)
            .or(session.last_active)
            .unwrap_or_else(|| self.now());
        let mut messages = Vec::with_capacity(rows.len());
        for mut row in rows {
            row.timestamp = row.timestamp.or(Some(started_at));
            let converted = row
                .convert(self.blobs())
                .map_err(|error| at_line(file, line, error))?;
            messages.push(Converted {
                record: self.clean_record(converted.record),
                ..converted
            });
        }
        let shown = |message: &&Converted| message.visibility == Visibility::Active;
        let latest = messages.iter().map(|message| message.timestamp);
        session.started_at = Some(started_at);
        session.last_active = session.last_active.or(latest.reduce(f64::max));
        // The reference counts rows that were taken back; this is what the file really brings.
        session.message_count = Some(messages.iter().filter(shown).count() as u64);
        session.tool_call_count = session
            .tool_call_count
            .or_else(|| Some(calls(messages.iter().filter(shown))));
        self.clean_session(&mut session);
        Ok(Ready {
            line,
            session,
            messages,
        })
    }

    pub(crate) fn clean_session(&self, session: &mut ReferenceSession) {
        let texts = [
            &mut session.title,
            &mut session.display_name,
            &mut session.system_prompt,
        ];
        for text in texts {
            *text = text.take().map(|text| self.clean(text));
        }
        for json in [&mut session.model_config, &mut session.extra] {
            *json = json.take().map(|json| self.clean_json(json));
        }
    }
}

/// A session as the file has it.
struct Entry {
    line: usize,
    session: ReferenceSession,
    rows: Vec<ReferenceRow>,
}

/// A session in our form.
struct Ready {
    line: usize,
    session: ReferenceSession,
    messages: Vec<Converted>,
}

/// The objects of a file, one a line.
struct Lines<'f, R> {
    file: &'f Path,
    reader: R,
    caps: &'f ImportCaps,
    /// The line read last, the first being 1.
    line: usize,
    bytes: usize,
}

impl<R: BufRead> Lines<'_, R> {
    fn next(&mut self) -> Result<Option<Map<String, Json>>, StoreError> {
        loop {
            let Some(line) = self.read_line()? else {
                return Ok(None);
            };
            if let Ok(object) = serde_json::from_slice(trimmed(&line)) {
                return Ok(Some(object));
            }
            let text = trimmed(&line);
            if text.is_empty() {
                continue;
            }
            let read = match std::str::from_utf8(text) {
                // Python writes text that was cut in the middle of a character.
                Ok(text) => serde_json::from_str(&without_halves(text)),
                // It says where the bytes are no text.
                Err(_) => serde_json::from_slice(text),
            };
            return read.map(Some).map_err(|error| self.bad_json(&error));
        }
    }

    fn read_line(&mut self) -> Result<Option<Vec<u8>>, StoreError> {
        self.line += 1;
        let most = self.caps.session_bytes.min(self.caps.bytes - self.bytes);
        // One byte more than allowed shows that a line is too long, and no line is read further.
        let room = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(2);
        let mut text = Vec::new();
        let read = (&mut self.reader)
            .take(room)
            .read_until(b'\n', &mut text)
            .map_err(|source| StoreError::File {
                path: self.file.to_owned(),
                source,
            })?;
        if read == 0 {
            return Ok(None);
        }
        let length = text.strip_suffix(b"\n").map_or(read, <[u8]>::len);
        if length > self.caps.session_bytes {
            return Err(self.over(ImportLimit::SessionBytes(self.caps.session_bytes)));
        }
        if self.bytes + length > self.caps.bytes {
            return Err(self.over(ImportLimit::Bytes(self.caps.bytes)));
        }
        self.bytes += length;
        Ok(Some(text))
    }

    fn entry(&self, mut object: Map<String, Json>) -> Result<Entry, StoreError> {
        let messages = match object.shift_remove("messages") {
            Some(Json::Array(messages)) => messages,
            None | Some(Json::Null) => Vec::new(),
            Some(_) => return Err(self.bad(format_args!("`messages` is not a list"))),
        };
        if messages.len() > self.caps.session_messages {
            return Err(self.over(ImportLimit::SessionMessages(self.caps.session_messages)));
        }
        let rows = messages.into_iter().map(|message| match message {
            Json::Object(columns) => Ok(ReferenceRow::from_columns(columns)),
            _ => Err(self.bad(format_args!("a message is not an object"))),
        });
        let entry = Entry {
            line: self.line,
            rows: rows.collect::<Result<_, _>>()?,
            session: ReferenceSession::from_columns(object)
                .map_err(|error| at_line(self.file, self.line, error))?,
        };
        self.check_times(&entry)?;
        Ok(entry)
    }

    /// A time no calendar has would be stored for good and sort before or behind everything.
    fn check_times(&self, entry: &Entry) -> Result<(), StoreError> {
        let session = &entry.session;
        let own = [
            ("started_at", session.started_at),
            ("ended_at", session.ended_at),
            ("last_active", session.last_active),
        ];
        let rows = entry.rows.iter().map(|row| ("timestamp", row.timestamp));
        for (name, time) in own.into_iter().chain(rows) {
            if let Some(time) = time
                && !(0.0..=LATEST).contains(&time)
            {
                return Err(self.bad(format_args!(
                    "`{name}` is {time}, not seconds since 1970 up to the year 9999"
                )));
            }
        }
        Ok(())
    }

    fn bad_json(&self, error: &serde_json::Error) -> StoreError {
        // The parser saw one line only and calls it the first.
        let text = error.to_string();
        let what = text
            .rsplit_once(" at line ")
            .map_or(&*text, |(what, _)| what);
        self.bad(format_args!("column {}: {what}", error.column()))
    }

    fn bad(&self, detail: std::fmt::Arguments<'_>) -> StoreError {
        StoreError::BadImport {
            path: self.file.to_owned(),
            detail: format!("line {}: {detail}", self.line),
        }
    }

    fn over(&self, limit: ImportLimit) -> StoreError {
        StoreError::TooMuch {
            path: self.file.to_owned(),
            line: self.line,
            limit,
        }
    }
}

/// A line without a byte order mark and the space around it.
fn trimmed(line: &[u8]) -> &[u8] {
    line.strip_prefix(b"\xef\xbb\xbf")
        .unwrap_or(line)
        .trim_ascii()
}

/// A row that cannot be read is a fault of the file.
fn at_line(file: &Path, line: usize, error: StoreError) -> StoreError {
    match error {
        StoreError::BadRow { .. } => StoreError::BadImport {
            path: file.to_owned(),
            detail: format!("line {line}: {error}"),
        },
        other => other,
    }
}

fn calls<'m>(messages: impl Iterator<Item = &'m Converted>) -> u64 {
    messages
        .filter_map(|message| message.record.tool_calls.as_ref()?.as_array())
        .map(|calls| calls.len() as u64)
        .sum()
}

fn store(connection: &Connection, ready: Vec<Ready>) -> Result<Imported, StoreError> {
    let mut imported = Imported::default();
    let mut added = Vec::new();
    for Ready {
        line,
        mut session,
        messages,
    } in ready
    {
        if sessions::get(connection, &session.id)?.is_some() {
            if is_same(connection, &session.id, &messages)? {
                imported.unchanged += 1;
            } else {
                imported.skipped.push(Skipped {
                    session: session.id,
                    line,
                });
            }
            continue;
        }
        session.title = free_title(connection, session.title.as_deref())?;
        session.insert(connection, None)?;
        for Converted {
            record,
            timestamp,
            visibility,
        } in &messages
        {
            messages::insert(
                connection,
                &session.id,
                record,
                *timestamp,
                *visibility,
                None,
            )?;
        }
        imported.sessions += 1;
        imported.messages += messages.len();
        added.push(session);
    }
    for session in &added {
        link(connection, session)?;
    }
    Ok(imported)
}

/// Whether a session holds these messages and no others; an export may have left out hidden ones.
fn is_same(
    connection: &Connection,
    session: &SessionId,
    messages: &[Converted],
) -> Result<bool, StoreError> {
    let stored: Vec<Converted> = messages::records(connection, session, "")?
        .into_iter()
        .map(|record| Converted {
            timestamp: record.timestamp,
            visibility: record.visibility,
            record: messages::copy_of(record),
        })
        .collect();
    let shown = stored
        .iter()
        .filter(|message| message.visibility == Visibility::Active);
    Ok(stored.iter().eq(messages) || shown.eq(messages))
}

/// The title, cut and numbered where needed.
fn free_title(connection: &Connection, title: Option<&str>) -> Result<Option<String>, StoreError> {
    let cut = |title: &str, length: usize| title.chars().take(length).collect::<String>();
    let Some(title) = title else { return Ok(None) };
    let title = match clean_title(title) {
        Ok(title) => title,
        Err(StoreError::BadTitle { .. }) => clean_title(&cut(title, LONGEST))?,
        Err(error) => return Err(error),
    };
    let Some(title) = title else { return Ok(None) };
    let taken: bool = connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM sessions WHERE title = ?)")?
        .query_row([&title], |row| row.get(0))?;
    if taken {
        next_title(connection, cut(&title, LONGEST - NUMBER_ROOM).trim_end()).map(Some)
    } else {
        Ok(Some(title))
    }
}
