//! Parts of a conversation: what lies around a message, how it began and ended. Texts are cut where they are
//! read, so that a view of a long conversation costs what is shown of it.

use hermes_core::{MessageId, SessionId};
use rusqlite::types::Value as Sql;
use rusqlite::{Connection, Row, params_from_iter};
use serde_json::Value as Json;

use crate::error::StoreError;
use crate::lineage::session_id;
use crate::messages::read_call;
use crate::search::UNSEEN;
use crate::store::Store;
use crate::worker::Pending;

/// Which rows of a conversation are shown, and how much of each.
#[derive(Debug, Clone)]
pub struct ViewFilter {
    /// Only these roles; all when empty.
    pub roles: Vec<String>,
    /// Only rows that say something in words.
    pub with_text: bool,
    /// Nothing that the model of this session sees already.
    pub unseen_by: Option<SessionId>,
    /// Most characters of a text.
    pub characters: usize,
}

/// A row as it is shown.
#[derive(Debug, Clone, PartialEq)]
pub struct Excerpt {
    pub id: MessageId,
    pub session: SessionId,
    pub role: String,
    /// The beginning of the text.
    pub text: String,
    /// Characters of the text that are not shown.
    pub left_out: usize,
    pub tool_name: Option<String>,
    /// The tools that were called.
    pub calls: Vec<String>,
    pub timestamp: f64,
}

/// Rows around one of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Around {
    pub rows: Vec<Excerpt>,
    /// How many there are before and after these.
    pub before: u64,
    pub after: u64,
}

/// The first and the last rows, none of them twice.
#[derive(Debug, Clone, PartialEq)]
pub struct Ends {
    pub first: Vec<Excerpt>,
    pub last: Vec<Excerpt>,
    /// How many there are in all.
    pub count: u64,
}

impl Store {
    /// The rows around a message: itself, whatever the filter says, and up to `window` on each side. `None` when
    /// the session has no such message that can be found.
    pub fn around(
        &self,
        session: &SessionId,
        message: MessageId,
        window: usize,
        filter: ViewFilter,
    ) -> Pending<Option<Around>> {
        let session = session.clone();
        self.read(move |connection| {
            let view = View::new(connection, &session, &filter);
            let Some(middle) = view.one(message)? else {
                return Ok(None);
            };
            let mut rows = view.rows("AND m.id < ? ORDER BY m.id DESC", message, window)?;
            let later = view.rows("AND m.id > ? ORDER BY m.id", message, window)?;
            let before = view.count("AND m.id < ?", message)? - rows.len() as u64;
            let after = view.count("AND m.id > ?", message)? - later.len() as u64;
            rows.reverse();
            rows.push(middle);
            rows.extend(later);
            Ok(Some(Around {
                rows,
                before,
                after,
            }))
        })
    }

    /// How a conversation began and how it ended.
    pub fn ends(
        &self,
        session: &SessionId,
        first: usize,
        last: usize,
        filter: ViewFilter,
    ) -> Pending<Ends> {
        let session = session.clone();
        self.read(move |connection| {
            let view = View::new(connection, &session, &filter);
            let begin = MessageId(i64::MIN);
            let count = view.count("AND m.id > ?", begin)?;
            let first = view.rows("AND m.id > ? ORDER BY m.id", begin, first)?;
            let from = first.last().map_or(begin, |row| row.id);
            let mut last = view.rows("AND m.id > ? ORDER BY m.id DESC", from, last)?;
            last.reverse();
            Ok(Ends { first, last, count })
        })
    }

    /// The session a message belongs to, unless it was taken back.
    pub fn session_of(&self, message: MessageId) -> Pending<Option<SessionId>> {
        self.read(move |connection| {
            let sql = format!("SELECT m.session_id FROM messages m WHERE m.id = ? {FINDABLE}");
            let mut statement = connection.prepare_cached(&sql)?;
            let mut rows = statement.query([message.0])?;
            let id = rows.next()?.map(|row| row.get(0)).transpose()?;
            id.map(session_id).transpose()
        })
    }
}

/// Nothing that was taken back.
const FINDABLE: &str = "AND (m.active = 1 OR m.compacted = 1)";

struct View<'a> {
    connection: &'a Connection,
    session: &'a SessionId,
    filter: &'a ViewFilter,
    conditions: String,
    values: Vec<Sql>,
}

impl<'a> View<'a> {
    fn new(connection: &'a Connection, session: &'a SessionId, filter: &'a ViewFilter) -> Self {
        let mut conditions = match filter.with_text {
            true => " AND coalesce(m.content, '') <> ''".to_owned(),
            false => " AND (coalesce(m.content, '') <> '' OR m.tool_calls IS NOT NULL)".to_owned(),
        };
        let mut values = Vec::new();
        if !filter.roles.is_empty() {
            let marks = vec!["?"; filter.roles.len()].join(", ");
            conditions.push_str(&format!(" AND m.role IN ({marks})"));
            values.extend(filter.roles.iter().cloned().map(Sql::Text));
        }
        if let Some(seeing) = &filter.unseen_by {
            conditions.push_str(UNSEEN);
            let seeing = Sql::Text(seeing.as_str().to_owned());
            values.extend([seeing.clone(), seeing]);
        }
        Self {
            connection,
            session,
            filter,
            conditions,
            values,
        }
    }

    fn one(&self, message: MessageId) -> Result<Option<Excerpt>, StoreError> {
        let sql = format!(
            "{} WHERE m.session_id = ? AND m.id = ? {FINDABLE}",
            self.select()
        );
        let mut statement = self.connection.prepare_cached(&sql)?;
        let mut rows = statement.query((self.session.as_str(), message.0))?;
        rows.next()?.map(excerpt).transpose()
    }

    /// Up to `most` rows; `order` says on which side of a row, and in which order.
    fn rows(&self, order: &str, from: MessageId, most: usize) -> Result<Vec<Excerpt>, StoreError> {
        let sql = format!(
            "{} WHERE m.session_id = ? {FINDABLE}{} {order} LIMIT ?",
            self.select(),
            self.conditions
        );
        let mut values = self.bound(from);
        values.push(Sql::Integer(i64::try_from(most).unwrap_or(i64::MAX)));
        let mut statement = self.connection.prepare_cached(&sql)?;
        let mut rows = statement.query(params_from_iter(values))?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            found.push(excerpt(row)?);
        }
        Ok(found)
    }

    fn count(&self, side: &str, from: MessageId) -> Result<u64, StoreError> {
        let sql = format!(
            "SELECT count(*) FROM messages m WHERE m.session_id = ? {FINDABLE}{} {side}",
            self.conditions
        );
        let mut statement = self.connection.prepare_cached(&sql)?;
        Ok(statement.query_row(params_from_iter(self.bound(from)), |row| row.get(0))?)
    }

    fn bound(&self, from: MessageId) -> Vec<Sql> {
        let session = Sql::Text(self.session.as_str().to_owned());
        let mut values = vec![session];
        values.extend(self.values.iter().cloned());
        values.push(Sql::Integer(from.0));
        values
    }

    fn select(&self) -> String {
        format!(
            "SELECT m.id, m.session_id, m.role, substr(coalesce(m.content, ''), 1, {0}), \
             max(length(coalesce(m.content, '')) - {0}, 0), m.tool_name, m.tool_calls, m.timestamp FROM messages m",
            self.filter.characters
        )
    }
}

/// Reads id, session, role, text, characters left out, tool, calls and time, in this order.
pub(crate) fn excerpt(row: &Row<'_>) -> Result<Excerpt, StoreError> {
    let calls: Option<String> = row.get(6)?;
    // Calls that cannot be read were made by another program; what was said still counts.
    let calls = calls.and_then(|calls| serde_json::from_str::<Json>(&calls).ok());
    let calls = calls.iter().filter_map(Json::as_array).flatten();
    Ok(Excerpt {
        id: MessageId(row.get(0)?),
        session: session_id(row.get(1)?)?,
        role: row.get(2)?,
        text: row.get(3)?,
        left_out: row.get(4)?,
        tool_name: row.get(5)?,
        calls: calls.filter_map(read_call).map(|call| call.name).collect(),
        timestamp: row.get(7)?,
    })
}
