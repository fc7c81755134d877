//! Which messages a search looks at.

use hermes_core::SessionId;
use rusqlite::types::Value as Sql;

/// Narrows a search; empty lists mean no limit.
#[derive(Debug, Clone, Default)]
pub struct SearchFilter {
    /// Only sessions of these sources.
    pub sources: Vec<String>,
    /// No sessions of these sources.
    pub hidden_sources: Vec<String>,
    /// Only messages of these roles.
    pub roles: Vec<String>,
    /// Only this session.
    pub session: Option<SessionId>,
    /// Only messages after this time.
    pub after: Option<f64>,
    /// Only messages before this time.
    pub before: Option<f64>,
    /// Nothing that the model of this session sees already.
    pub unseen_by: Option<SessionId>,
}

/// A condition over `messages m` that leaves out what a session's model sees: its rows in use, and the rows of
/// earlier parts that it carries on as copies. Takes the session twice. The first look is at times alone, so
/// that nearly all rows are done with at once.
pub(crate) const UNSEEN: &str = " AND NOT (m.timestamp IN \
    (SELECT w.timestamp FROM messages w WHERE w.session_id = ? AND w.active = 1) \
    AND EXISTS (SELECT 1 FROM messages o WHERE o.session_id = ? AND o.active = 1 \
    AND o.timestamp = m.timestamp AND o.role = m.role AND o.content IS m.content))";

impl SearchFilter {
    /// SQL conditions over `messages m`, each starting with AND, and their values.
    pub(super) fn conditions(&self) -> (String, Vec<Sql>) {
        let mut sql = String::new();
        let mut values = Vec::new();
        let mut list = |before: &str, words: &[String], after: &str| {
            if !words.is_empty() {
                let marks = vec!["?"; words.len()].join(", ");
                sql.push_str(&format!(" AND {before} IN ({marks}){after}"));
                values.extend(words.iter().cloned().map(Sql::Text));
            }
        };
        let of_source = "m.session_id IN (SELECT id FROM sessions WHERE source";
        list(of_source, &self.sources, ")");
        list(&format!("{of_source} NOT"), &self.hidden_sources, ")");
        list("m.role", &self.roles, "");
        if let Some(session) = &self.session {
            sql.push_str(" AND m.session_id = ?");
            values.push(Sql::Text(session.as_str().to_owned()));
        }
        if let Some(after) = self.after {
            sql.push_str(" AND m.timestamp >= ?");
            values.push(Sql::Real(after));
        }
        if let Some(before) = self.before {
            sql.push_str(" AND m.timestamp < ?");
            values.push(Sql::Real(before));
        }
        if let Some(session) = &self.unseen_by {
            sql.push_str(UNSEEN);
            let session = Sql::Text(session.as_str().to_owned());
            values.extend([session.clone(), session]);
        }
        (sql, values)
    }
}
