//! A conversation made shorter: some of its rows replaced by a summary, all in one step.

use std::collections::HashSet;

use hermes_core::{MessageId, SessionId};
use rusqlite::{Connection, OptionalExtension};
use serde_json::Value as Json;

use crate::error::StoreError;
use crate::inbox;
use crate::messages::{NewRecord, append, copy_of, insert, records, recount};
use crate::record::{Record, Relation, Visibility};
use crate::sessions::{end, get, go_on};
use crate::store::Store;
use crate::title::next_title;
use crate::worker::Pending;

impl Store {
    /// Replaces rows of the conversation by a summary, in the place of the first of them. They stay
    /// findable; what lies between or behind them follows the summary, in its order.
    ///
    /// Answers `false`, with nothing changed, when one of the rows is not in the conversation any more:
    /// somebody else took it back or replaced it in the meantime.
    pub fn compact(
        &self,
        session: &SessionId,
        replaced: Vec<MessageId>,
        summary: Vec<NewRecord>,
    ) -> Pending<bool> {
        let (session, now) = (session.clone(), self.now());
        let summary: Vec<_> = summary
            .into_iter()
            .map(|record| self.clean_record(record))
            .collect();
        self.write(move |connection| {
            let replaced: HashSet<MessageId> = replaced.into_iter().collect();
            let Some(active) = with_all(connection, &session, &replaced)? else {
                return Ok(false);
            };
            let behind = active
                .into_iter()
                .skip_while(|record| !replaced.contains(&record.id));
            let mut moved = Vec::new();
            for record in behind {
                // A moved row lives on as its copy; only what was replaced is found under its old id.
                let seen = if replaced.contains(&record.id) {
                    Visibility::Compacted
                } else {
                    Visibility::Rewound
                };
                let (active, compacted) = seen.flags();
                connection
                    .prepare_cached(
                        "UPDATE messages SET active = ?2, compacted = ?3 WHERE id = ?1",
                    )?
                    .execute((record.id.0, active, compacted))?;
                if seen == Visibility::Rewound {
                    moved.push(copy_of(record));
                }
            }
            append(connection, &session, &summary, now)?;
            // Rows are ordered by id, so what follows the summary moves behind it.
            for record in &moved {
                let said = record.timestamp.unwrap_or(now);
                insert(connection, &session, record, said, Visibility::Active, None)?;
            }
            recount(connection, &session)?;
            Ok(true)
        })
    }

    /// As `compact`, but the conversation goes on in the session `child`, which is made for it; the old
    /// one is ended and stays as it is.
    pub fn compact_into(
        &self,
        session: &SessionId,
        child: SessionId,
        replaced: Vec<MessageId>,
        summary: Vec<NewRecord>,
    ) -> Pending<bool> {
        let (session, now) = (session.clone(), self.now());
        let summary: Vec<_> = summary
            .into_iter()
            .map(|record| self.clean_record(record))
            .collect();
        self.write(move |connection| {
            let replaced: HashSet<MessageId> = replaced.into_iter().collect();
            let Some(active) = with_all(connection, &session, &replaced)? else {
                return Ok(false);
            };
            go_on(connection, &session, &child, Relation::Compaction, now)?;
            let title = get(connection, &session)?.and_then(|session| session.title);
            if let Some(title) = title {
                let title = next_title(connection, &title)?;
                connection.execute(
                    "UPDATE sessions SET title = ?2 WHERE id = ?1",
                    (child.as_str(), title),
                )?;
            }
            let first = active
                .iter()
                .position(|record| replaced.contains(&record.id));
            let mut kept: Vec<_> = Vec::new();
            for (at, record) in active.into_iter().enumerate() {
                if Some(at) == first {
                    kept.extend(summary.iter().cloned());
                }
                if !replaced.contains(&record.id) {
                    kept.push(copy_of(record));
                }
            }
            append(connection, &child, &kept, now)?;
            inbox::follow(connection, &session, &child)?;
            end(connection, &session, "compression", now)?;
            Ok(true)
        })
    }

    /// What was noted about shortening a conversation.
    pub fn compaction_notes(&self, session: &SessionId) -> Pending<Option<Json>> {
        let session = session.clone();
        self.read(move |connection| {
            let text: Option<Option<String>> = connection
                .query_row(
                    "SELECT compaction FROM sessions WHERE id = ?",
                    [session.as_str()],
                    |row| row.get(0),
                )
                .optional()?;
            // Notes nobody can read are worth as much as none.
            Ok(text
                .flatten()
                .and_then(|text| serde_json::from_str(&text).ok()))
        })
    }

    /// Notes something about shortening a conversation, in place of what was noted before.
    pub fn set_compaction_notes(&self, session: &SessionId, notes: &Json) -> Pending<()> {
        let (session, notes) = (session.clone(), self.clean_json(notes.clone()).to_string());
        self.write(move |connection| {
            let changed = connection.execute(
                "UPDATE sessions SET compaction = ?2 WHERE id = ?1",
                (session.as_str(), notes),
            )?;
            if changed == 0 {
                return Err(StoreError::NoSuchSession {
                    wanted: session.to_string(),
                });
            }
            Ok(())
        })
    }
}

/// The rows of a conversation, if all of `wanted` are among them.
fn with_all(
    connection: &Connection,
    session: &SessionId,
    wanted: &HashSet<MessageId>,
) -> Result<Option<Vec<Record>>, StoreError> {
    let active = records(connection, session, "AND m.active = 1")?;
    let found = active.iter().filter(|record| wanted.contains(&record.id));
    let all = !wanted.is_empty() && found.count() == wanted.len();
    Ok(all.then_some(active))
}
