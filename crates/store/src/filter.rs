//! Which sessions a listing, an export or a clean-up means.

use hermes_core::SessionId;
use rusqlite::types::Value as Sql;
use rusqlite::{Connection, params_from_iter};

use crate::error::StoreError;
use crate::record::{SESSION_COLUMNS, Session};

/// Narrows to some sessions; what is `None` does not matter.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SessionFilter {
    pub id: Option<SessionId>,
    /// Last active before or after these times.
    pub active_before: Option<f64>,
    pub active_after: Option<f64>,
    pub source: Option<String>,
    /// A part of the title.
    pub title: Option<String>,
    pub end_reason: Option<String>,
    /// The working directory or one above it.
    pub cwd: Option<String>,
    /// A part of the model's name.
    pub model: Option<String>,
    pub provider: Option<String>,
    pub user: Option<String>,
    pub chat_id: Option<String>,
    pub chat_type: Option<String>,
    pub branch: Option<String>,
    pub messages: Bounds<i64>,
    pub tokens: Bounds<i64>,
    pub tool_calls: Bounds<i64>,
    pub cost: Bounds<f64>,
    /// Only sessions that have ended.
    pub ended_only: bool,
    pub include_archived: bool,
}

/// Least and most, both included.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Bounds<T> {
    pub least: Option<T>,
    pub most: Option<T>,
}

impl SessionFilter {
    /// Whether nothing narrows the choice.
    pub fn is_empty(&self) -> bool {
        let bare = Self {
            ended_only: self.ended_only,
            include_archived: self.include_archived,
            ..Self::default()
        };
        *self == bare
    }

    pub(crate) fn ids(&self, connection: &Connection) -> Result<Vec<String>, StoreError> {
        let (conditions, values) = self.conditions();
        let sql = format!(
            "SELECT s.id FROM sessions s WHERE {conditions} ORDER BY s.last_active_at DESC"
        );
        let mut statement = connection.prepare(&sql)?;
        let rows = statement.query_map(params_from_iter(values), |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    pub(crate) fn sessions(&self, connection: &Connection) -> Result<Vec<Session>, StoreError> {
        let (conditions, values) = self.conditions();
        let sql = format!(
            "SELECT {SESSION_COLUMNS} FROM sessions s WHERE {conditions} ORDER BY s.last_active_at DESC"
        );
        let mut statement = connection.prepare(&sql)?;
        let mut rows = statement.query(params_from_iter(values))?;
        let mut sessions = Vec::new();
        while let Some(row) = rows.next()? {
            sessions.push(Session::read(row)?);
        }
        Ok(sessions)
    }

    /// A condition over `sessions s` and its values.
    pub(crate) fn conditions(&self) -> (String, Vec<Sql>) {
        let mut all = Conditions::default();
        let text = |value: &Option<String>| value.clone().map(Sql::Text);
        all.with(
            "s.id = ?",
            self.id.as_ref().map(|id| Sql::Text(id.to_string())),
        );
        all.with("s.last_active_at < ?", self.active_before.map(Sql::Real));
        all.with("s.last_active_at >= ?", self.active_after.map(Sql::Real));
        all.with("s.source = ?", text(&self.source));
        all.with("instr(lower(s.title), lower(?)) > 0", text(&self.title));
        all.with("s.end_reason = ?", text(&self.end_reason));
        all.with(
            "(s.cwd || '/') LIKE (rtrim(?, '/') || '/%')",
            text(&self.cwd),
        );
        all.with("instr(lower(s.model), lower(?)) > 0", text(&self.model));
        all.with("s.billing_provider = ?", text(&self.provider));
        all.with("s.user_id = ?", text(&self.user));
        all.with("s.chat_id = ?", text(&self.chat_id));
        all.with("s.chat_type = ?", text(&self.chat_type));
        all.with("s.git_branch = ?", text(&self.branch));
        let tokens =
            "(s.input_tokens + s.output_tokens + s.cache_read_tokens + s.cache_write_tokens)";
        let cost = "coalesce(s.actual_cost_usd, s.estimated_cost_usd, 0)";
        all.between("s.message_count", &self.messages, Sql::Integer);
        all.between(tokens, &self.tokens, Sql::Integer);
        all.between("s.tool_call_count", &self.tool_calls, Sql::Integer);
        all.between(cost, &self.cost, Sql::Real);
        if self.ended_only {
            all.sql.push("s.ended_at IS NOT NULL".to_owned());
        }
        if !self.include_archived {
            all.sql.push("s.archived = 0".to_owned());
        }
        if all.sql.is_empty() {
            all.sql.push("1".to_owned());
        }
        (all.sql.join(" AND "), all.values)
    }
}

#[derive(Default)]
struct Conditions {
    sql: Vec<String>,
    values: Vec<Sql>,
}

impl Conditions {
    fn with(&mut self, sql: &str, value: Option<Sql>) {
        if let Some(value) = value {
            self.sql.push(sql.to_owned());
            self.values.push(value);
        }
    }

    fn between<T: Copy>(&mut self, column: &str, bounds: &Bounds<T>, wrap: impl Fn(T) -> Sql) {
        self.with(&format!("{column} >= ?"), bounds.least.map(&wrap));
        self.with(&format!("{column} <= ?"), bounds.most.map(&wrap));
    }
}
