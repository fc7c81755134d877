//! A session by the reference's names.

use hermes_core::{SessionId, Usage};
use rusqlite::Connection;
use serde_json::{Map, Value as Json};

use super::ZERO;
use super::columns::Columns;
use super::spaced::spaced;
use crate::error::StoreError;
use crate::record::{Relation, Session};
use crate::sessions::keep_text;

/// The names of a session, in the order exports use, with the value that says nothing.
const SESSION_KEYS: &[(&str, Json)] = &[
    ("id", Json::Null),
    ("source", Json::Null),
    ("user_id", Json::Null),
    ("session_key", Json::Null),
    ("chat_id", Json::Null),
    ("chat_type", Json::Null),
    ("thread_id", Json::Null),
    ("display_name", Json::Null),
    ("origin_json", Json::Null),
    ("expiry_finalized", ZERO),
    ("model", Json::Null),
    ("model_config", Json::Null),
    ("system_prompt", Json::Null),
    ("parent_session_id", Json::Null),
    ("started_at", Json::Null),
    ("ended_at", Json::Null),
    ("end_reason", Json::Null),
    ("message_count", ZERO),
    ("tool_call_count", ZERO),
    ("input_tokens", ZERO),
    ("output_tokens", ZERO),
    ("cache_read_tokens", ZERO),
    ("cache_write_tokens", ZERO),
    ("reasoning_tokens", ZERO),
    ("cwd", Json::Null),
    ("git_branch", Json::Null),
    ("git_repo_root", Json::Null),
    ("billing_provider", Json::Null),
    ("billing_base_url", Json::Null),
    ("billing_mode", Json::Null),
    ("estimated_cost_usd", Json::Null),
    ("actual_cost_usd", Json::Null),
    ("cost_status", Json::Null),
    ("cost_source", Json::Null),
    ("pricing_version", Json::Null),
    ("title", Json::Null),
    ("api_call_count", ZERO),
    ("handoff_state", Json::Null),
    ("handoff_platform", Json::Null),
    ("handoff_error", Json::Null),
    ("compression_failure_cooldown_until", Json::Null),
    ("compression_failure_error", Json::Null),
    ("compression_fallback_streak", ZERO),
    ("profile_name", Json::Null),
    ("rewind_count", ZERO),
    ("archived", ZERO),
    ("last_active", Json::Null),
];

/// How `model_config` marks a child that is no continuation.
const MARKERS: [(&str, Relation); 2] = [
    ("_branched_from", Relation::Branch),
    ("_delegate_from", Relation::Delegate),
];

/// Says in an export of ours that a child is nothing in particular to its parent.
const NO_RELATION: &str = "none";

/// A session by the reference's column names, in the form we store.
///
/// Nothing is masked and the title is as it was; both are up to whoever stores it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ReferenceSession {
    pub(crate) id: SessionId,
    pub(crate) source: String,
    pub(crate) user_id: Option<String>,
    pub(crate) session_key: Option<String>,
    pub(crate) chat_id: Option<String>,
    pub(crate) chat_type: Option<String>,
    pub(crate) thread_id: Option<String>,
    pub(crate) display_name: Option<String>,
    pub(crate) parent_session_id: Option<String>,
    pub(crate) title: Option<String>,
    pub(crate) model: Option<String>,
    /// Without the marker of a branch or a delegate.
    pub(crate) model_config: Option<Json>,
    pub(crate) system_prompt: Option<String>,
    pub(crate) cwd: Option<String>,
    pub(crate) git_branch: Option<String>,
    pub(crate) git_repo_root: Option<String>,
    pub(crate) started_at: Option<f64>,
    pub(crate) ended_at: Option<f64>,
    pub(crate) end_reason: Option<String>,
    /// Only exports say it; a database has it in its messages.
    pub(crate) last_active: Option<f64>,
    pub(crate) archived: bool,
    pub(crate) rewind_count: u64,
    pub(crate) message_count: Option<u64>,
    pub(crate) tool_call_count: Option<u64>,
    pub(crate) api_call_count: u64,
    pub(crate) usage: Usage,
    pub(crate) billing_provider: Option<String>,
    pub(crate) billing_base_url: Option<String>,
    pub(crate) billing_mode: Option<String>,
    pub(crate) estimated_cost_usd: Option<f64>,
    pub(crate) actual_cost_usd: Option<f64>,
    pub(crate) cost_status: Option<String>,
    pub(crate) cost_source: Option<String>,
    pub(crate) pricing_version: Option<String>,
    /// Every other column that holds something.
    pub(crate) extra: Option<Json>,
    marker: Option<Relation>,
    declared: Option<String>,
}

const INSERT: &str = "INSERT INTO sessions (id, source, user_id, session_key, chat_id, chat_type, thread_id, \
       display_name, title, model, model_config, system_prompt_hash, cwd, git_branch, git_repo_root, \
       started_at, ended_at, end_reason, last_active_at, archived, rewind_count, message_count, \
       tool_call_count, api_call_count, input_tokens, output_tokens, cache_read_tokens, \
       cache_write_tokens, reasoning_tokens, billing_provider, billing_base_url, billing_mode, \
       estimated_cost_usd, actual_cost_usd, cost_status, cost_source, pricing_version, extra, import_id) \
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, \
       ?, ?, ?, ?, ?, ?, ?, ?)";

fn usage(columns: &mut Columns) -> Usage {
    let mut tokens = |name| columns.count(name).unwrap_or(0);
    Usage {
        input_tokens: tokens("input_tokens"),
        output_tokens: tokens("output_tokens"),
        cache_read_tokens: tokens("cache_read_tokens"),
        cache_write_tokens: tokens("cache_write_tokens"),
        reasoning_tokens: tokens("reasoning_tokens"),
    }
}

impl ReferenceSession {
    /// Sorts columns by name. `messages` is left out.
    pub(crate) fn from_columns(columns: Map<String, Json>) -> Result<Self, StoreError> {
        let mut columns = Columns::new(columns);
        columns.drop("messages");
        let id = columns.text("id").unwrap_or_default();
        let id = SessionId::try_from(id.clone()).map_err(|error| StoreError::BadRow {
            table: "sessions",
            row: id,
            detail: error.to_string(),
        })?;
        let (model_config, marker) = model_config(&mut columns);
        let usage = usage(&mut columns);
        Ok(Self {
            id,
            source: columns
                .text("source")
                .unwrap_or_else(|| "import".to_owned()),
            user_id: columns.text("user_id"),
            session_key: columns.text("session_key"),
            chat_id: columns.text("chat_id"),
            chat_type: columns.text("chat_type"),
            thread_id: columns.text("thread_id"),
            display_name: columns.text("display_name"),
            parent_session_id: columns.text("parent_session_id"),
            title: columns.text("title"),
            model: columns.text("model"),
            model_config,
            system_prompt: columns.text("system_prompt"),
            cwd: columns.text("cwd"),
            git_branch: columns.text("git_branch"),
            git_repo_root: columns.text("git_repo_root"),
            started_at: columns.number("started_at"),
            ended_at: columns.number("ended_at"),
            end_reason: columns.text("end_reason"),
            last_active: columns.number("last_active"),
            archived: columns.flag("archived").unwrap_or(false),
            rewind_count: columns.count("rewind_count").unwrap_or(0),
            message_count: columns.count("message_count"),
            tool_call_count: columns.count("tool_call_count"),
            api_call_count: columns.count("api_call_count").unwrap_or(0),
            usage,
            billing_provider: columns.text("billing_provider"),
            billing_base_url: columns.text("billing_base_url"),
            billing_mode: columns.text("billing_mode"),
            estimated_cost_usd: columns.number("estimated_cost_usd"),
            actual_cost_usd: columns.number("actual_cost_usd"),
            cost_status: columns.text("cost_status"),
            cost_source: columns.text("cost_source"),
            pricing_version: columns.text("pricing_version"),
            declared: columns.text("relation"),
            marker,
            extra: Some(columns.rest(SESSION_KEYS))
                .filter(|rest| !rest.is_empty())
                .map(Json::Object),
        })
    }

    /// What the session is to its parent, given how the parent ended.
    pub(crate) fn relation(&self, parent_end_reason: Option<&str>) -> Option<Relation> {
        match &self.declared {
            Some(word) => Relation::from_word(word),
            None => self
                .marker
                .or_else(|| implied(parent_end_reason, &self.source)),
        }
    }

    /// Writes the row without its parent, which may not be there yet: see `link`.
    pub(crate) fn insert(
        &self,
        connection: &Connection,
        import_id: Option<i64>,
    ) -> Result<(), StoreError> {
        let prompt = self
            .system_prompt
            .as_deref()
            .map(|prompt| keep_text(connection, prompt))
            .transpose()?;
        let started_at = self.started_at.or(self.last_active).unwrap_or(0.0);
        connection
            .prepare_cached(INSERT)?
            .execute(rusqlite::params![
                self.id.as_str(),
                self.source,
                self.user_id,
                self.session_key,
                self.chat_id,
                self.chat_type,
                self.thread_id,
                self.display_name,
                self.title,
                self.model,
                self.model_config.as_ref().map(Json::to_string),
                prompt,
                self.cwd,
                self.git_branch,
                self.git_repo_root,
                started_at,
                self.ended_at,
                self.end_reason,
                self.last_active.unwrap_or(started_at),
                self.archived,
                self.rewind_count,
                self.message_count.unwrap_or(0),
                self.tool_call_count.unwrap_or(0),
                self.api_call_count,
                self.usage.input_tokens,
                self.usage.output_tokens,
                self.usage.cache_read_tokens,
                self.usage.cache_write_tokens,
                self.usage.reasoning_tokens,
                self.billing_provider,
                self.billing_base_url,
                self.billing_mode,
                self.estimated_cost_usd,
                self.actual_cost_usd,
                self.cost_status,
                self.cost_source,
                self.pricing_version,
                self.extra.as_ref().map(Json::to_string),
                import_id,
            ])?;
        Ok(())
    }
}

/// Ties a session to its parent, if that is there, and says what it is to it.
///
/// Called once every session of an import is written, since children may come before parents. A parent
/// that descends from the session itself is none: such a circle would have no end to show.
pub(crate) fn link(connection: &Connection, session: &ReferenceSession) -> Result<(), StoreError> {
    let parent = session.parent_session_id.as_deref();
    let circular = match parent {
        Some(parent) => descends(connection, parent, session.id.as_str())?,
        None => false,
    };
    let (parent, relation) = if circular {
        (None, None)
    } else {
        let reason = end_reason(connection, parent)?;
        let relation = session.relation(reason.as_ref().and_then(Option::as_deref));
        (parent.filter(|_| reason.is_some()), relation)
    };
    connection
        .prepare_cached("UPDATE sessions SET parent_session_id = ?2, relation = ?3 WHERE id = ?1")?
        .execute((session.id.as_str(), parent, relation.map(Relation::word)))?;
    Ok(())
}

/// Whether `session` is `origin` or has it among its parents and theirs.
fn descends(connection: &Connection, session: &str, origin: &str) -> Result<bool, StoreError> {
    if session == origin {
        return Ok(true);
    }
    // Most sessions have no child yet, and then nothing can descend from them.
    let mut statement = connection.prepare_cached(
        "SELECT CASE WHEN EXISTS (SELECT 1 FROM sessions WHERE parent_session_id = ?2) THEN \
           EXISTS (WITH RECURSIVE above (id) AS (SELECT ?1 UNION \
             SELECT s.parent_session_id FROM sessions s JOIN above ON s.id = above.id LIMIT 10000) \
           SELECT 1 FROM above WHERE id = ?2) ELSE 0 END",
    )?;
    Ok(statement.query_row([session, origin], |row| row.get(0))?)
}

/// How a session ended; the outer `None` when there is no such session.
fn end_reason(
    connection: &Connection,
    session: Option<&str>,
) -> Result<Option<Option<String>>, StoreError> {
    let mut statement =
        connection.prepare_cached("SELECT end_reason FROM sessions WHERE id = ?")?;
    let mut rows = statement.query([session])?;
    Ok(rows.next()?.map(|row| row.get(0)).transpose()?)
}

/// What an unmarked child is taken for.
fn implied(parent_end_reason: Option<&str>, source: &str) -> Option<Relation> {
    match (parent_end_reason, source) {
        (_, "subagent") => Some(Relation::Delegate),
        (Some("compression"), _) => Some(Relation::Compaction),
        (Some("branched"), _) => Some(Relation::Branch),
        (_, _) => None,
    }
}

/// The configuration as JSON, without the marker of a branch or a delegate.
fn model_config(columns: &mut Columns) -> (Option<Json>, Option<Relation>) {
    let mut config = match columns.value("model_config") {
        Some(Json::String(text)) => match serde_json::from_str(&text) {
            Ok(config) => config,
            Err(_) => {
                columns.put("model_config", Json::String(text));
                return (None, None);
            }
        },
        Some(other) => other,
        None => return (None, None),
    };
    let Some(fields) = config.as_object_mut() else {
        return (Some(config), None);
    };
    let marker = MARKERS
        .into_iter()
        .find(|(name, _)| fields.get(*name).is_some_and(|value| !value.is_null()));
    let Some((name, relation)) = marker else {
        return (Some(config), None);
    };
    fields.shift_remove(name);
    let emptied = fields.is_empty();
    ((!emptied).then_some(config), Some(relation))
}

/// What a session's export needs beside its row.
#[derive(Debug, Clone, Default)]
pub(crate) struct Beside {
    session_key: Option<String>,
    system_prompt: Option<String>,
    parent_end_reason: Option<String>,
}

impl Beside {
    pub(crate) fn read(connection: &Connection, session: &Session) -> Result<Self, StoreError> {
        let (session_key, system_prompt) = connection
            .prepare_cached(
                "SELECT session_key, (SELECT body FROM texts WHERE hash = system_prompt_hash) FROM sessions WHERE id = ?",
            )?
            .query_row([session.id.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let parent = session.parent.as_ref().map(SessionId::as_str);
        Ok(Self {
            session_key,
            system_prompt,
            parent_end_reason: end_reason(connection, parent)?.flatten(),
        })
    }

    pub(crate) fn system_prompt_mut(&mut self) -> &mut Option<String> {
        &mut self.system_prompt
    }
}

impl Session {
    /// The session by the reference's names, in their fixed order, without its messages.
    pub(crate) fn to_reference(&self, beside: &Beside) -> Map<String, Json> {
        let mut row = Map::new();
        for (key, usual) in SESSION_KEYS {
            let value = self.reference_value(key, beside);
            let value = value.unwrap_or_else(|| match usual {
                Json::Bool(_) => 0.into(),
                other => other.clone(),
            });
            row.insert((*key).to_owned(), value);
        }
        let marked = MARKERS
            .iter()
            .any(|(_, relation)| Some(*relation) == self.relation);
        let told = implied(beside.parent_end_reason.as_deref(), &self.source);
        if !marked && told != self.relation {
            let word = self.relation.map_or(NO_RELATION, Relation::word);
            row.insert("relation".to_owned(), word.into());
        }
        if let Some(Json::Object(extra)) = &self.extra {
            row.extend(extra.clone());
        }
        row
    }

    fn reference_value(&self, key: &str, beside: &Beside) -> Option<Json> {
        Some(match key {
            "id" => self.id.as_str().into(),
            "source" => self.source.as_str().into(),
            "user_id" => self.user_id.clone().into(),
            "session_key" => beside.session_key.clone().into(),
            "chat_id" => self.chat_id.clone().into(),
            "chat_type" => self.chat_type.clone().into(),
            "thread_id" => self.thread_id.clone().into(),
            "display_name" => self.display_name.clone().into(),
            "model" => self.model.clone().into(),
            "model_config" => self.marked_config().map(|config| spaced(&config)).into(),
            "system_prompt" => beside.system_prompt.clone().into(),
            "parent_session_id" => self.parent.as_ref().map(SessionId::as_str).into(),
            "started_at" => self.started_at.into(),
            "ended_at" => self.ended_at.into(),
            "end_reason" => self.end_reason.clone().into(),
            "message_count" => self.message_count.into(),
            "tool_call_count" => self.tool_call_count.into(),
            "input_tokens" => self.usage.input_tokens.into(),
            "output_tokens" => self.usage.output_tokens.into(),
            "cache_read_tokens" => self.usage.cache_read_tokens.into(),
            "cache_write_tokens" => self.usage.cache_write_tokens.into(),
            "reasoning_tokens" => self.usage.reasoning_tokens.into(),
            "cwd" => self.cwd.clone().into(),
            "git_branch" => self.git_branch.clone().into(),
            "git_repo_root" => self.git_repo_root.clone().into(),
            "billing_provider" => self.billing_provider.clone().into(),
            "billing_base_url" => self.billing_base_url.clone().into(),
            "billing_mode" => self.billing_mode.clone().into(),
            "estimated_cost_usd" => self.estimated_cost_usd.into(),
            "actual_cost_usd" => self.actual_cost_usd.into(),
            "cost_status" => self.cost_status.clone().into(),
            "cost_source" => self.cost_source.clone().into(),
            "pricing_version" => self.pricing_version.clone().into(),
            "title" => self.title.clone().into(),
            "api_call_count" => self.api_call_count.into(),
            "rewind_count" => self.rewind_count.into(),
            "archived" => u8::from(self.archived).into(),
            "last_active" => self.last_active_at.into(),
            _ => return None,
        })
    }

    /// The configuration with the marker the reference knows branches and delegates by.
    fn marked_config(&self) -> Option<Json> {
        let marker = MARKERS
            .iter()
            .find(|(_, relation)| Some(*relation) == self.relation);
        let Some((name, _)) = marker else {
            return self.model_config.clone();
        };
        // A parent that was deleted leaves an empty marker, which still marks.
        let parent = self.parent.as_ref().map_or("", SessionId::as_str);
        let mut config = match &self.model_config {
            Some(Json::Object(fields)) => fields.clone(),
            Some(_) | None => Map::new(),
        };
        config.insert((*name).to_owned(), parent.into());
        Some(Json::Object(config))
    }
}
