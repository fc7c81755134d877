//! Sessions as a person wants to see them: one line for each conversation.

use rusqlite::types::Value as Sql;
use rusqlite::{Connection, params_from_iter};

use hermes_core::SessionId;

use crate::error::StoreError;
use crate::filter::SessionFilter;
use crate::lineage;
use crate::record::{Relation, SESSION_COLUMNS, Session};
use crate::store::Store;
use crate::worker::Pending;

const PREVIEW: usize = 60;

/// Whether a session `s` is among its own parents and theirs.
const IN_CIRCLE: &str = "(s.parent_session_id IS NOT NULL AND EXISTS (WITH RECURSIVE above (id) AS \
    (SELECT s.parent_session_id UNION SELECT p.parent_session_id FROM sessions p JOIN above ON p.id = above.id \
     WHERE p.parent_session_id IS NOT NULL LIMIT 100) SELECT 1 FROM above WHERE above.id = s.id))";

/// What to list.
#[derive(Debug, Clone, Default)]
pub struct Listing {
    pub filter: SessionFilter,
    /// Sources that are left out unless the filter names one; `tool` for people.
    pub hidden_sources: Vec<String>,
    pub limit: usize,
}

/// A conversation, at the end of its chain of continuations.
#[derive(Debug, Clone, PartialEq)]
pub struct Listed {
    pub session: Session,
    /// Where the conversation began; the session itself when it was never continued.
    pub root: SessionId,
    /// The start of the first thing the user said.
    pub preview: String,
}

impl Store {
    /// Conversations, latest activity first.
    pub fn list(&self, listing: Listing) -> Pending<Vec<Listed>> {
        self.read(move |connection| list(connection, &listing))
    }

    /// The sources there are conversations from, in alphabetical order.
    pub fn sources(&self) -> Pending<Vec<String>> {
        self.read(|connection| {
            let mut statement =
                connection.prepare("SELECT DISTINCT source FROM sessions ORDER BY source")?;
            let rows = statement.query_map([], |row| row.get(0))?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }
}

fn list(connection: &Connection, listing: &Listing) -> Result<Vec<Listed>, StoreError> {
    let (mut conditions, mut values) = listing.filter.conditions();
    if listing.filter.source.is_none() && !listing.hidden_sources.is_empty() {
        let marks = vec!["?"; listing.hidden_sources.len()].join(", ");
        conditions.push_str(&format!(" AND s.source NOT IN ({marks})"));
        values.extend(listing.hidden_sources.iter().cloned().map(Sql::Text));
    }
    // A session that was continued is shown as its continuation; delegates are part of their parent.
    // Where sessions are each other's parents, nothing would be left to show them.
    let sql = format!(
        "SELECT {SESSION_COLUMNS} FROM sessions s WHERE {conditions} AND ((s.relation IS NOT 'delegate' \
         AND NOT EXISTS (SELECT 1 FROM sessions c WHERE c.parent_session_id = s.id AND c.relation = 'compaction')) \
         OR {IN_CIRCLE}) ORDER BY s.last_active_at DESC, s.id DESC"
    );
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query(params_from_iter(values))?;
    let mut listed = Vec::new();
    while let Some(row) = rows.next()? {
        if listed.len() >= listing.limit {
            break;
        }
        let session = Session::read(row)?;
        let root = match session.relation {
            Some(Relation::Compaction) => {
                let root = lineage::ancestors(connection, &session.id)?
                    .pop()
                    .unwrap_or_else(|| session.id.clone());
                // Of several continuations only one is where the conversation went on.
                if lineage::tip(connection, &root)? != session.id {
                    continue;
                }
                root
            }
            Some(Relation::Branch | Relation::Delegate) | None => session.id.clone(),
        };
        let preview = preview(connection, &root)?;
        listed.push(Listed {
            session,
            root,
            preview,
        });
    }
    Ok(listed)
}

fn preview(connection: &Connection, session: &SessionId) -> Result<String, StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT substr(content, 1, 400) FROM messages WHERE session_id = ? AND role = 'user' \
         AND content IS NOT NULL AND content <> '' ORDER BY id LIMIT 1",
    )?;
    let mut rows = statement.query([session.as_str()])?;
    let text: String = rows
        .next()?
        .map(|row| row.get(0))
        .transpose()?
        .unwrap_or_default();
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    Ok(if line.chars().count() > PREVIEW {
        format!(
            "{}…",
            line.chars().take(PREVIEW).collect::<String>().trim_end()
        )
    } else {
        line
    })
}
