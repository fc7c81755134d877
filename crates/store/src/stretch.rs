//! The stretch of a conversation around a message, for somebody who reads it as one text.

use hermes_core::{MessageId, SessionId};
use rusqlite::{Connection, OptionalExtension};

use crate::error::StoreError;
use crate::store::Store;
use crate::view::{Excerpt, excerpt};
use crate::worker::Pending;

/// Rows of one side at most, however short they are.
const MOST_ROWS: u32 = 5_000;

/// How much of a conversation is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StretchLimits {
    /// Characters on each side of the message at least, where there are so many.
    pub characters: usize,
    /// Longer output of a tool is cut to its beginning and its end, which make up this many characters.
    pub tool_output: usize,
}

/// Rows in order, and which of them is the one in the middle.
#[derive(Debug, Clone, PartialEq)]
pub struct Stretch {
    pub rows: Vec<Excerpt>,
    pub at: usize,
}

impl Store {
    /// What was said before and after a message, in whole rows; without a message, from the beginning. `None` when
    /// there is nothing.
    pub fn stretch(
        &self,
        session: &SessionId,
        message: Option<MessageId>,
        limits: StretchLimits,
    ) -> Pending<Option<Stretch>> {
        let session = session.clone();
        self.read(move |connection| {
            let message = match message {
                Some(message) => message,
                None => match first(connection, &session)? {
                    Some(first) => first,
                    None => return Ok(None),
                },
            };
            let side = |order: &str| side(connection, &session, message, order, limits);
            let mut rows = side("m.id < ?2 ORDER BY m.id DESC")?;
            rows.reverse();
            let at = rows.len();
            rows.extend(side("m.id >= ?2 ORDER BY m.id")?);
            Ok((at < rows.len()).then_some(Stretch { rows, at }))
        })
    }
}

/// What can be found and says something.
const SAID: &str = "(m.active = 1 OR m.compacted = 1) AND (coalesce(m.content, '') <> '' OR m.tool_calls IS NOT NULL)";

fn first(connection: &Connection, session: &SessionId) -> Result<Option<MessageId>, StoreError> {
    let sql = format!(
        "SELECT m.id FROM messages m WHERE m.session_id = ? AND {SAID} ORDER BY m.id LIMIT 1"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let found = statement.query_row([session.as_str()], |row| row.get(0));
    Ok(found.optional()?.map(MessageId))
}

fn side(
    connection: &Connection,
    session: &SessionId,
    message: MessageId,
    order: &str,
    limits: StretchLimits,
) -> Result<Vec<Excerpt>, StoreError> {
    let half = limits.tool_output / 2;
    let sql = format!(
        "SELECT m.id, m.session_id, m.role, CASE WHEN m.role = 'tool' AND length(m.content) > {most} \
         THEN substr(m.content, 1, {half}) || ' … ' || substr(m.content, -{half}) \
         ELSE coalesce(m.content, '') END, 0, m.tool_name, m.tool_calls, m.timestamp FROM messages m \
         WHERE m.session_id = ?1 AND {SAID} AND {order} LIMIT {MOST_ROWS}",
        most = limits.tool_output
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query((session.as_str(), message.0))?;
    let (mut found, mut characters) = (Vec::new(), 0);
    while let Some(row) = rows.next()? {
        let row = excerpt(row)?;
        characters += row.text.chars().count();
        found.push(row);
        if characters > limits.characters {
            break;
        }
    }
    Ok(found)
}
