//! Writing what was read, one batch one transaction.

use std::collections::HashMap;
use std::path::Path;

use hermes_core::SessionId;
use rusqlite::{Connection, OptionalExtension};
use serde_json::{Map, Value as Json};

use super::source::{Detail, SourceMessage};
use crate::error::StoreError;
use crate::messages::{self, NewRecord};
use crate::record::Visibility;
use crate::reference_row::{ReferenceRow, ReferenceSession, link};
use crate::store::Store;
use crate::title;

pub(super) struct Target<'s> {
    store: &'s Store,
    import: i64,
    last_message_id: i64,
}

/// What became of a batch of sessions.
#[derive(Default)]
pub(super) struct Written {
    pub(super) new: u64,
    pub(super) changed: u64,
    pub(super) skipped: Vec<String>,
}

/// A message ready to be stored.
struct Ready {
    session: String,
    imported_id: i64,
    timestamp: f64,
    visibility: Visibility,
    record: NewRecord,
}

impl<'s> Target<'s> {
    pub(super) fn begin(store: &'s Store, path: &Path, version: u32) -> Result<Self, StoreError> {
        let name = name_of(path, store.path());
        let begun = store.write(move |connection| {
            connection.execute(
                "INSERT INTO imports (path, schema_version) VALUES (?1, ?2) \
                 ON CONFLICT (path) DO UPDATE SET schema_version = ?2",
                (&name, version),
            )?;
            let row = connection.query_row(
                "SELECT id, last_message_id FROM imports WHERE path = ?",
                [&name],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )?;
            Ok(row)
        });
        let (import, last_message_id) = begun.wait()?;
        Ok(Self {
            store,
            import,
            last_message_id,
        })
    }

    /// The newest message of the source that is here already.
    pub(super) fn last_message_id(&self) -> i64 {
        self.last_message_id
    }

    pub(super) fn fingerprints(&self) -> Result<HashMap<String, String>, StoreError> {
        let import = self.import;
        let seen = self.store.read(move |connection| {
            let mut statement = connection.prepare(
                "SELECT original_id, fingerprint FROM imported_sessions WHERE import_id = ?",
            )?;
            let rows = statement.query_map([import], |row| Ok((row.get(0)?, row.get(1)?)))?;
            Ok(rows.collect::<Result<_, _>>()?)
        });
        seen.wait()
    }

    pub(super) fn write_sessions(
        &self,
        rows: Vec<Map<String, Json>>,
    ) -> Result<Written, StoreError> {
        let mut sessions = Vec::with_capacity(rows.len());
        for row in rows {
            let mut session = ReferenceSession::from_columns(row)?;
            self.store.clean_session(&mut session);
            sessions.push(session);
        }
        let import = self.import;
        let written = self.store.write(move |connection| {
            let mut written = Written::default();
            for session in sessions {
                write_session(connection, session, import, &mut written)?;
            }
            Ok(written)
        });
        written.wait()
    }

    pub(super) fn link(&self, rows: Vec<Map<String, Json>>) -> Result<(), StoreError> {
        let sessions: Vec<_> = rows
            .into_iter()
            .map(ReferenceSession::from_columns)
            .collect::<Result<_, _>>()?;
        let import = self.import;
        let linked = self.store.write(move |connection| {
            let mut ours = connection
                .prepare("SELECT EXISTS (SELECT 1 FROM sessions WHERE id = ? AND import_id = ? AND parent_session_id IS NULL)")?;
            for session in &sessions {
                if ours.query_row((session.id.as_str(), import), |row| row.get::<_, bool>(0))? {
                    link(connection, session)?;
                }
            }
            Ok(())
        });
        linked.wait()
    }

    /// Stores messages and moves the mark from `after` to `newest`, in one step.
    pub(super) fn write_messages(
        &self,
        batch: Vec<SourceMessage>,
        after: i64,
        newest: i64,
    ) -> Result<(), StoreError> {
        let mut ready = Vec::with_capacity(batch.len());
        for message in batch {
            let converted =
                ReferenceRow::from_columns(message.columns).convert(self.store.blobs())?;
            ready.push(Ready {
                session: message.session,
                imported_id: message.id,
                timestamp: converted.timestamp,
                visibility: converted.visibility,
                record: self.store.clean_record(converted.record),
            });
        }
        let import = self.import;
        let written = self.store.write(move |connection| {
            let moved = connection.execute(
                "UPDATE imports SET last_message_id = ?2 WHERE id = ?1 AND last_message_id = ?3",
                (import, newest, after),
            )?;
            // Another process imports the same file and was faster: its rows are these rows.
            if moved == 0 {
                return Ok(());
            }
            let mut owned = OwnSessions::new(connection, import)?;
            for message in &ready {
                if let Some(owned) = owned.get(&message.session)?
                    && message.imported_id > owned.newest
                {
                    messages::insert(
                        connection,
                        &owned.session,
                        &message.record,
                        message.timestamp,
                        message.visibility,
                        Some(message.imported_id),
                    )?;
                }
            }
            Ok(())
        });
        written.wait()
    }

    /// Usage, flags and the mark that a session is complete.
    pub(super) fn finish_sessions(&self, details: Vec<Detail>) -> Result<(), StoreError> {
        let import = self.import;
        let finished = self.store.write(move |connection| {
            for detail in &details {
                finish_session(connection, detail, import)?;
            }
            Ok(())
        });
        finished.wait()
    }

    pub(super) fn finish(&self, signature: String) -> Result<(), StoreError> {
        let (import, now) = (self.import, self.store.now());
        let finished = self.store.write(move |connection| {
            connection.execute(
                "UPDATE imports SET finished_at = ?2, signature = ?3 WHERE id = ?1",
                (import, now, signature),
            )?;
            Ok(())
        });
        finished.wait()
    }
}

/// What a file is remembered by.
///
/// Beside our own database it is only its name, so that a home can be moved.
pub(super) fn name_of(path: &Path, own: &Path) -> String {
    let whole = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let (path, own) = (whole(path), whole(own));
    if path.parent() == own.parent()
        && let Some(name) = path.file_name()
    {
        return name.to_string_lossy().into_owned();
    }
    path.to_string_lossy().into_owned()
}

/// Which sessions belong to this import; asked once for each.
struct OwnSessions<'c> {
    statement: rusqlite::CachedStatement<'c>,
    import: i64,
    known: HashMap<String, Option<Owned>>,
}

/// A session of this import, and the newest of its messages that is here already.
#[derive(Clone)]
struct Owned {
    session: SessionId,
    newest: i64,
}

impl<'c> OwnSessions<'c> {
    fn new(connection: &'c Connection, import: i64) -> Result<Self, StoreError> {
        let sql = "SELECT s.session_id, \
               (SELECT coalesce(max(imported_id), 0) FROM messages m WHERE m.session_id = s.session_id) \
             FROM imported_sessions s WHERE s.import_id = ? AND s.original_id = ?";
        Ok(Self {
            statement: connection.prepare_cached(sql)?,
            import,
            known: HashMap::new(),
        })
    }

    fn get(&mut self, original: &str) -> Result<Option<Owned>, StoreError> {
        if let Some(known) = self.known.get(original) {
            return Ok(known.clone());
        }
        let found: Option<(Option<String>, i64)> = self
            .statement
            .query_row((self.import, original), |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .optional()?;
        let owned = match found {
            Some((Some(session), newest)) => Some(Owned {
                session: crate::lineage::session_id(session)?,
                newest,
            }),
            _ => None,
        };
        self.known.insert(original.to_owned(), owned.clone());
        Ok(owned)
    }
}

fn write_session(
    connection: &Connection,
    mut session: ReferenceSession,
    import: i64,
    written: &mut Written,
) -> Result<(), StoreError> {
    let id = session.id.clone();
    let origin: Option<Option<i64>> = connection
        .prepare_cached("SELECT import_id FROM sessions WHERE id = ?")?
        .query_row([id.as_str()], |row| row.get(0))
        .optional()?;
    match origin {
        None if deleted_here(connection, &id, import)? => {}
        None => {
            session.title = free_title(connection, session.title.take(), &id)?;
            session.insert(connection, Some(import))?;
            connection
                .prepare_cached(
                    "INSERT INTO imported_sessions (import_id, original_id, session_id, fingerprint) VALUES (?, ?, ?, '')",
                )?
                .execute((import, id.as_str(), id.as_str()))?;
            written.new += 1;
        }
        Some(Some(owner)) if owner == import => {
            if !continued_here(connection, &id)? {
                update_session(connection, &session)?;
            }
            written.changed += 1;
        }
        Some(_) if came_over_before(connection, &id)? => {
            adopt(connection, &id, import)?;
            written.changed += 1;
        }
        Some(_) => written.skipped.push(id.into()),
    }
    Ok(())
}

/// Whether the session is of an earlier import whose record was lost.
fn came_over_before(connection: &Connection, id: &SessionId) -> Result<bool, StoreError> {
    Ok(connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM messages WHERE session_id = ? AND imported_id IS NOT NULL)",
        )?
        .query_row([id.as_str()], |row| row.get(0))?)
}

/// Takes a session of an earlier import over; its messages are known by their ids there.
fn adopt(connection: &Connection, id: &SessionId, import: i64) -> Result<(), StoreError> {
    connection.execute(
        "UPDATE sessions SET import_id = ?2 WHERE id = ?1",
        (id.as_str(), import),
    )?;
    connection.execute(
        "INSERT OR IGNORE INTO imported_sessions (import_id, original_id, session_id, fingerprint) \
         VALUES (?1, ?2, ?2, '')",
        (import, id.as_str()),
    )?;
    Ok(())
}

/// Whether the session came over before and was deleted since.
fn deleted_here(connection: &Connection, id: &SessionId, import: i64) -> Result<bool, StoreError> {
    Ok(connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM imported_sessions WHERE import_id = ? AND original_id = ?)",
        )?
        .query_row((import, id.as_str()), |row| row.get(0))?)
}

/// Titles are unique; one that is taken gets the next number.
fn free_title(
    connection: &Connection,
    wanted: Option<String>,
    id: &SessionId,
) -> Result<Option<String>, StoreError> {
    let Some(wanted) = wanted.and_then(|title| title::clean_title(&title).ok().flatten()) else {
        return Ok(None);
    };
    let taken: bool = connection.query_row(
        "SELECT EXISTS (SELECT 1 FROM sessions WHERE title = ? AND id <> ?)",
        (&wanted, id.as_str()),
        |row| row.get(0),
    )?;
    if taken {
        title::next_title(connection, &wanted).map(Some)
    } else {
        Ok(Some(wanted))
    }
}

/// Whether messages were added after the import.
fn continued_here(connection: &Connection, id: &SessionId) -> Result<bool, StoreError> {
    Ok(connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM messages WHERE session_id = ? AND imported_id IS NULL)",
        )?
        .query_row([id.as_str()], |row| row.get(0))?)
}

fn update_session(connection: &Connection, session: &ReferenceSession) -> Result<(), StoreError> {
    let title = free_title(connection, session.title.clone(), &session.id)?;
    connection
        .prepare_cached(
            "UPDATE sessions SET title = ?2, ended_at = ?3, end_reason = ?4, archived = ?5, rewind_count = ?6, \
               message_count = ?7, tool_call_count = ?8, api_call_count = ?9, input_tokens = ?10, output_tokens = ?11, \
               cache_read_tokens = ?12, cache_write_tokens = ?13, reasoning_tokens = ?14, estimated_cost_usd = ?15, \
               actual_cost_usd = ?16, cost_status = ?17, cost_source = ?18, model = ?19 WHERE id = ?1",
        )?
        .execute(rusqlite::params![
            session.id.as_str(),
            title,
            session.ended_at,
            session.end_reason,
            session.archived,
            session.rewind_count,
            session.message_count.unwrap_or(0),
            session.tool_call_count.unwrap_or(0),
            session.api_call_count,
            session.usage.input_tokens,
            session.usage.output_tokens,
            session.usage.cache_read_tokens,
            session.usage.cache_write_tokens,
            session.usage.reasoning_tokens,
            session.estimated_cost_usd,
            session.actual_cost_usd,
            session.cost_status,
            session.cost_source,
            session.model,
        ])?;
    Ok(())
}

fn finish_session(connection: &Connection, detail: &Detail, import: i64) -> Result<(), StoreError> {
    connection
        .prepare_cached(
            "UPDATE imported_sessions SET fingerprint = ?3 WHERE import_id = ?1 AND original_id = ?2",
        )?
        .execute((import, &detail.session, &detail.fingerprint))?;
    if OwnSessions::new(connection, import)?
        .get(&detail.session)?
        .is_none()
    {
        return Ok(());
    }
    take_flags_over(connection, detail)?;
    connection
        .prepare_cached("DELETE FROM model_calls WHERE session_id = ? AND import_id = ?")?
        .execute((&detail.session, import))?;
    for usage in &detail.usage {
        insert_usage(connection, &detail.session, usage, import)?;
    }
    connection
        .prepare_cached(
            "UPDATE sessions SET message_count = \
               (SELECT count(*) FROM messages WHERE session_id = ?1 AND active = 1), \
               last_active_at = max(started_at, \
               coalesce((SELECT max(timestamp) FROM messages WHERE session_id = ?1), started_at)) WHERE id = ?1",
        )?
        .execute([&detail.session])?;
    Ok(())
}

/// Brings what was taken back or compacted over there. One pass over the session: a session may have
/// a hundred thousand rows, and rows are not indexed by their number in the file.
fn take_flags_over(connection: &Connection, detail: &Detail) -> Result<(), StoreError> {
    let theirs: HashMap<i64, _> = detail
        .flags
        .iter()
        .map(|(message, active, compacted)| (*message, (*active, *compacted)))
        .collect();
    let mut changed = Vec::new();
    let mut rows = connection.prepare_cached(
        "SELECT id, imported_id, active, compacted FROM messages \
         WHERE session_id = ? AND imported_id IS NOT NULL",
    )?;
    let mut rows = rows.query([&detail.session])?;
    while let Some(row) = rows.next()? {
        if let Some(theirs) = theirs.get(&row.get(1)?)
            && *theirs != (row.get(2)?, row.get(3)?)
        {
            changed.push((row.get::<_, i64>(0)?, *theirs));
        }
    }
    let mut update = connection
        .prepare_cached("UPDATE messages SET active = ?2, compacted = ?3 WHERE id = ?1")?;
    for (message, (active, compacted)) in changed {
        update.execute((message, active, compacted))?;
    }
    Ok(())
}

fn insert_usage(
    connection: &Connection,
    session: &str,
    usage: &Map<String, Json>,
    import: i64,
) -> Result<(), StoreError> {
    let text = |name: &str| usage.get(name).and_then(Json::as_str).unwrap_or_default();
    let optional = |name: &str| usage.get(name).and_then(Json::as_str);
    let count = |name: &str| usage.get(name).and_then(Json::as_i64).unwrap_or(0);
    let money = |name: &str| usage.get(name).and_then(Json::as_f64);
    connection
        .prepare_cached(
            "INSERT INTO model_calls (session_id, task, model, billing_provider, billing_base_url, billing_mode, calls, \
               input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, \
               estimated_cost_usd, actual_cost_usd, cost_status, cost_source, started_at, ended_at, import_id) \
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        )?
        .execute(rusqlite::params![
            session,
            text("task"),
            text("model"),
            text("billing_provider"),
            text("billing_base_url"),
            text("billing_mode"),
            count("api_call_count"),
            count("input_tokens"),
            count("output_tokens"),
            count("cache_read_tokens"),
            count("cache_write_tokens"),
            count("reasoning_tokens"),
            money("estimated_cost_usd"),
            money("actual_cost_usd"),
            optional("cost_status"),
            optional("cost_source"),
            money("first_seen").unwrap_or(0.0),
            money("last_seen"),
            import,
        ])?;
    Ok(())
}
