//! Vectors of messages, made bit by bit behind everything else.
//!
//! Rows never change their text and new ones have larger ids, so one span of ids says what was looked at. It
//! begins at the newest message, follows what is said from then on and reaches back to the oldest.

use hermes_core::MessageId;
use rusqlite::{Connection, OptionalExtension};

use crate::error::StoreError;
use crate::search::packed;
use crate::store::Store;
use crate::worker::Pending;

/// Rows looked at for one batch, most of which may be the output of tools.
const LOOKED_AT: u32 = 512;
/// Most characters of a message; a model reads less than that.
const MOST_CHARACTERS: u32 = 4_000;

/// Messages whose vectors are to be made next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unembedded {
    /// They and their texts. May be empty although there is more: not every row is worth a vector.
    pub texts: Vec<(MessageId, String)>,
    /// How far the store was looked at once these are done; nothing when there was nothing left.
    pub reach: Option<Reach>,
}

/// The rows that were looked at for a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reach {
    first: i64,
    last: i64,
}

impl Store {
    /// What has no vector of this model yet: what was said last comes first.
    pub fn unembedded(&self, model: &str, most: usize) -> Pending<Unembedded> {
        let model = model.to_owned();
        self.read(move |connection| {
            let span = span(connection, &model)?;
            for side in [Side::Newer, Side::Older] {
                let next = next(connection, span, side, most)?;
                if next.reach.is_some() {
                    return Ok(next);
                }
            }
            Ok(Unembedded {
                texts: Vec::new(),
                reach: None,
            })
        })
    }

    /// Keeps vectors of a model, and that the rows up to `reach` were looked at, in one step.
    pub fn keep_embeddings(
        &self,
        model: &str,
        reach: Reach,
        vectors: Vec<(MessageId, Vec<f32>)>,
    ) -> Pending<()> {
        let model = model.to_owned();
        self.write(move |connection| {
            // Vectors of another model give way one by one; that they are complete is no longer true.
            connection
                .prepare_cached("DELETE FROM embedding_spans WHERE model <> ?")?
                .execute([&model])?;
            let mut insert = connection.prepare_cached(
                "INSERT OR REPLACE INTO embeddings (message_id, model, vector) SELECT ?1, ?2, ?3 \
                 WHERE EXISTS (SELECT 1 FROM messages WHERE id = ?1)",
            )?;
            for (message, vector) in &vectors {
                if let Some(bytes) = packed(vector) {
                    insert.execute((message.0, &model, bytes))?;
                }
            }
            connection
                .prepare_cached(
                    "INSERT INTO embedding_spans (model, first_id, last_id) VALUES (?1, ?2, ?3) \
                     ON CONFLICT (model) DO UPDATE SET first_id = min(first_id, excluded.first_id), \
                     last_id = max(last_id, excluded.last_id)",
                )?
                .execute((&model, reach.first, reach.last))?;
            Ok(())
        })
    }

    /// How many messages have still to be looked at for a model.
    pub fn embeddings_missing(&self, model: &str) -> Pending<u64> {
        let model = model.to_owned();
        self.read_widely(move |connection| {
            let (first, last) = match span(connection, &model)? {
                Some(reach) => (reach.first, reach.last),
                None => (i64::MAX, i64::MAX),
            };
            let sql =
                format!("SELECT count(*) FROM messages m WHERE (m.id < ? OR m.id > ?) AND {WORTH}");
            Ok(connection
                .prepare_cached(&sql)?
                .query_row((first, last), |row| row.get(0))?)
        })
    }
}

/// What people and models said, and nothing that was taken back.
const WORTH: &str = "m.role IN ('user', 'assistant') AND (m.active = 1 OR m.compacted = 1) \
     AND m.content IS NOT NULL AND m.content <> ''";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Newer,
    Older,
}

fn span(connection: &Connection, model: &str) -> Result<Option<Reach>, StoreError> {
    let mut statement = connection
        .prepare_cached("SELECT first_id, last_id FROM embedding_spans WHERE model = ?")?;
    let read = statement.query_row([model], |row| {
        Ok(Reach {
            first: row.get(0)?,
            last: row.get(1)?,
        })
    });
    Ok(read.optional()?)
}

fn next(
    connection: &Connection,
    span: Option<Reach>,
    side: Side,
    most: usize,
) -> Result<Unembedded, StoreError> {
    let nothing = Unembedded {
        texts: Vec::new(),
        reach: None,
    };
    let (bound, sql) = match (side, span) {
        (Side::Newer, None) => return Ok(nothing),
        (Side::Newer, Some(reach)) => (reach.last, "m.id > ?2 ORDER BY m.id"),
        (Side::Older, None) => (i64::MAX, "m.id <= ?2 ORDER BY m.id DESC"),
        (Side::Older, Some(reach)) => (reach.first, "m.id < ?2 ORDER BY m.id DESC"),
    };
    let sql = format!(
        "SELECT m.id, {WORTH}, substr(m.content, 1, ?1) FROM messages m WHERE {sql} LIMIT ?3"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query((MOST_CHARACTERS, bound, LOOKED_AT))?;
    let (mut texts, mut reach) = (Vec::new(), None);
    while let Some(row) = rows.next()? {
        let id: i64 = row.get(0)?;
        if row.get(1)? {
            texts.push((MessageId(id), row.get(2)?));
        }
        let seen = reach.or(span).unwrap_or(Reach {
            first: id,
            last: id,
        });
        reach = Some(Reach {
            first: seen.first.min(id),
            last: seen.last.max(id),
        });
        if texts.len() >= most {
            break;
        }
    }
    Ok(Unembedded { texts, reach })
}
