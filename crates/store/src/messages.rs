//! The rows of a conversation: appended, taken back, compacted, copied; never rewritten.

use hermes_core::{Message, MessageId, Part, RawTurn, Role, SessionId};
use rusqlite::Connection;
use serde_json::{Value as Json, json};

use crate::deliveries::as_copy;
use crate::error::StoreError;
use crate::record::{RECORD_COLUMNS, Record, Relation, Visibility};
use crate::search::{index_terms, search_text};
use crate::sessions::go_on;
use crate::store::Store;
use crate::worker::Pending;

/// A row that is about to be stored.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NewRecord {
    pub role: String,
    pub content: Option<String>,
    pub parts: Option<Json>,
    pub tool_call_id: Option<String>,
    pub tool_calls: Option<Json>,
    pub tool_name: Option<String>,
    /// When it was said; now, if not given.
    pub timestamp: Option<f64>,
    pub token_count: Option<u64>,
    pub finish_reason: Option<String>,
    pub reasoning: Option<String>,
    pub raw: Option<Json>,
    pub platform_message_id: Option<String>,
    pub extra: Option<Json>,
}

impl NewRecord {
    /// A row of plain text.
    pub fn text(role: Role, content: impl Into<String>) -> Self {
        Self {
            role: role.word().to_owned(),
            content: Some(content.into()),
            ..Self::default()
        }
    }
}

/// The parts are kept as JSON only where text, calls and one tool result do not say it all.
impl From<&Message> for NewRecord {
    fn from(message: &Message) -> Self {
        let mut record = Self::text(message.role, message.plain_text());
        let calls: Vec<Json> = message.tool_calls().map(call_json).collect();
        record.tool_calls = (!calls.is_empty()).then_some(Json::Array(calls));
        let (mut plain, mut unusual) = (0, false);
        for part in &message.parts {
            match part {
                Part::Text { .. } => plain += 1,
                Part::Media(_) => unusual = true,
                Part::Reasoning { text } => record.reasoning = Some(text.clone()),
                Part::ToolCall(_) => {}
                Part::ToolResult {
                    call, name, failed, ..
                } => {
                    unusual |= *failed;
                    record.tool_call_id = Some(call.0.clone());
                    record.tool_name = Some(name.clone());
                }
            }
        }
        let says_more = plain > 1 || unusual;
        record.parts = says_more.then(|| serde_json::to_value(&message.parts).unwrap_or_default());
        record.raw = message
            .raw
            .as_ref()
            .and_then(|raw| serde_json::to_value(raw).ok());
        record
    }
}

/// The form chat completions use, which the reference stores too.
fn call_json(call: &hermes_core::ToolCall) -> Json {
    json!({
        "id": call.id.0,
        "type": "function",
        "function": { "name": call.name, "arguments": call.arguments.to_string() },
    })
}

impl Record {
    /// The row as a message, in the neutral form.
    pub fn to_message(&self) -> Message {
        let role = self.role().unwrap_or(Role::User);
        let mut parts: Vec<Part> = Vec::new();
        if let Some(text) = &self.reasoning {
            parts.push(Part::Reasoning { text: text.clone() });
        }
        let stored: Option<Vec<Part>> = self
            .parts
            .clone()
            .and_then(|parts| serde_json::from_value(parts).ok());
        match (stored, &self.content, &self.tool_call_id) {
            (Some(stored), _, _) => {
                return Message {
                    role,
                    parts: stored,
                    raw: self.raw_turn(),
                };
            }
            (None, content, Some(call)) if role == Role::Tool => parts.push(Part::ToolResult {
                call: hermes_core::CallId(call.clone()),
                name: self.tool_name.clone().unwrap_or_default(),
                content: content.clone().unwrap_or_default(),
                failed: false,
            }),
            (None, Some(text), _) if !text.is_empty() => {
                parts.push(Part::Text { text: text.clone() })
            }
            (None, _, _) => {}
        }
        for call in self.tool_calls.iter().filter_map(Json::as_array).flatten() {
            parts.extend(read_call(call).map(Part::ToolCall));
        }
        Message {
            role,
            parts,
            raw: self.raw_turn(),
        }
    }

    fn raw_turn(&self) -> Option<RawTurn> {
        self.raw
            .clone()
            .and_then(|raw| serde_json::from_value(raw).ok())
    }
}

pub(crate) fn read_call(call: &Json) -> Option<hermes_core::ToolCall> {
    let function = call.get("function").unwrap_or(call);
    let arguments = match function.get("arguments") {
        Some(Json::String(text)) => {
            serde_json::from_str(text).unwrap_or_else(|_| Json::String(text.clone()))
        }
        Some(other) => other.clone(),
        None => json!({}),
    };
    Some(hermes_core::ToolCall {
        id: hermes_core::CallId(
            call.get("id")
                .and_then(Json::as_str)
                .unwrap_or_default()
                .to_owned(),
        ),
        name: function.get("name")?.as_str()?.to_owned(),
        arguments,
    })
}

impl Store {
    /// Adds rows to a session in one durable step and answers their ids.
    pub fn append(&self, session: &SessionId, records: Vec<NewRecord>) -> Pending<Vec<MessageId>> {
        let (session, now) = (session.clone(), self.now());
        let records: Vec<_> = records
            .into_iter()
            .map(|record| self.clean_record(record))
            .collect();
        self.write(move |connection| append(connection, &session, &records, now))
    }

    /// Puts rows in the place of the last one of a session, which is taken back: one durable step.
    pub fn replace_last(
        &self,
        session: &SessionId,
        last: MessageId,
        records: Vec<NewRecord>,
    ) -> Pending<Vec<MessageId>> {
        let (session, now) = (session.clone(), self.now());
        let records: Vec<_> = records
            .into_iter()
            .map(|record| self.clean_record(record))
            .collect();
        self.write(move |connection| replace_last(connection, &session, last, &records, now))
    }

    /// What the model sees of a session, in order.
    pub fn history(&self, session: &SessionId) -> Pending<Vec<Record>> {
        let session = session.clone();
        self.read(move |connection| records(connection, &session, "AND m.active = 1"))
    }

    /// Every row of a session, taken-back and compacted ones included.
    pub fn all_records(&self, session: &SessionId) -> Pending<Vec<Record>> {
        let session = session.clone();
        self.read(move |connection| records(connection, &session, ""))
    }

    /// Takes back a user message and everything after it; nothing is deleted. Answers how many rows.
    pub fn rewind(&self, session: &SessionId, to: MessageId) -> Pending<usize> {
        let session = session.clone();
        self.write(move |connection| take_back(connection, &session, to))
    }

    /// Takes back a user message and everything after it, and has it said again: one durable step, so that no end of
    /// the program leaves it taken back.
    pub fn say_again(
        &self,
        session: &SessionId,
        from: MessageId,
        record: NewRecord,
    ) -> Pending<Vec<MessageId>> {
        let (session, now) = (session.clone(), self.now());
        let mut record = self.clean_record(record);
        self.write(move |connection| {
            // It is the same message: what it carries, such as what a memory was told of it, stays with it.
            let said = records(connection, &session, "AND m.active = 1")?;
            let said = said.into_iter().find(|said| said.id == from);
            record.extra = record.extra.or(said.and_then(|said| said.extra));
            take_back(connection, &session, from)?;
            append(connection, &session, &[record], now)
        })
    }

    /// A copy of the conversation up to and including `after`, as a session of its own.
    pub fn branch(
        &self,
        session: &SessionId,
        after: MessageId,
        id: SessionId,
    ) -> Pending<SessionId> {
        let (session, now) = (session.clone(), self.now());
        self.write(move |connection| {
            go_on(connection, &session, &id, Relation::Branch, now)?;
            let rows: Vec<_> = records(connection, &session, "AND m.active = 1")?
                .into_iter()
                .filter(|record| record.id <= after)
                .map(copy_of)
                .map(|mut copy| {
                    as_copy(&mut copy.extra);
                    copy
                })
                .collect();
            append(connection, &id, &rows, now)?;
            Ok(id)
        })
    }

    pub(crate) fn clean_record(&self, record: NewRecord) -> NewRecord {
        let text = |text: Option<String>| text.map(|text| self.clean(text));
        let json = |json: Option<Json>| json.map(|json| self.clean_json(json));
        NewRecord {
            content: text(record.content),
            reasoning: text(record.reasoning),
            parts: json(record.parts),
            tool_calls: json(record.tool_calls),
            raw: json(record.raw),
            extra: json(record.extra),
            ..record
        }
    }
}

fn take_back(
    connection: &Connection,
    session: &SessionId,
    to: MessageId,
) -> Result<usize, StoreError> {
    let hidden = connection.execute(
        "UPDATE messages SET active = 0, compacted = 0 WHERE session_id = ?1 AND id >= ?2 AND active = 1 \
         AND EXISTS (SELECT 1 FROM messages WHERE id = ?2 AND session_id = ?1 AND role = 'user')",
        (session.as_str(), to.0),
    )?;
    if hidden > 0 {
        connection.execute(
            "UPDATE sessions SET rewind_count = rewind_count + 1 WHERE id = ?",
            [session.as_str()],
        )?;
        recount(connection, session)?;
    }
    Ok(hidden)
}

pub(crate) fn copy_of(record: Record) -> NewRecord {
    NewRecord {
        role: record.role,
        content: record.content,
        parts: record.parts,
        tool_call_id: record.tool_call_id,
        tool_calls: record.tool_calls,
        tool_name: record.tool_name,
        timestamp: Some(record.timestamp),
        token_count: record.token_count,
        finish_reason: record.finish_reason,
        reasoning: record.reasoning,
        raw: record.raw,
        platform_message_id: record.platform_message_id,
        extra: record.extra,
    }
}

pub(crate) fn records(
    connection: &Connection,
    session: &SessionId,
    condition: &str,
) -> Result<Vec<Record>, StoreError> {
    let sql = format!(
        "SELECT {RECORD_COLUMNS} FROM messages m WHERE m.session_id = ? {condition} ORDER BY m.id"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query([session.as_str()])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(Record::read(row)?);
    }
    Ok(found)
}

pub(crate) fn replace_last(
    connection: &Connection,
    session: &SessionId,
    last: MessageId,
    records: &[NewRecord],
    now: f64,
) -> Result<Vec<MessageId>, StoreError> {
    connection.execute(
        "UPDATE messages SET active = 0, compacted = 0 WHERE session_id = ?1 AND id = ?2",
        (session.as_str(), last.0),
    )?;
    let ids = append(connection, session, records, now)?;
    recount(connection, session)?;
    Ok(ids)
}

pub(crate) fn append(
    connection: &Connection,
    session: &SessionId,
    records: &[NewRecord],
    now: f64,
) -> Result<Vec<MessageId>, StoreError> {
    let mut ids = Vec::with_capacity(records.len());
    let mut latest = f64::MIN;
    for record in records {
        let timestamp = record.timestamp.unwrap_or(now);
        latest = latest.max(timestamp);
        ids.push(insert(
            connection,
            session,
            record,
            timestamp,
            Visibility::Active,
            None,
        )?);
    }
    let calls: usize = records.iter().map(call_count).sum();
    let changed = connection
        .prepare_cached(
            "UPDATE sessions SET message_count = message_count + ?2, tool_call_count = tool_call_count + ?3, \
             last_active_at = max(last_active_at, ?4) WHERE id = ?1",
        )?
        .execute((session.as_str(), records.len(), calls, latest))?;
    if changed == 0 && !records.is_empty() {
        return Err(StoreError::NoSuchSession {
            wanted: session.to_string(),
        });
    }
    Ok(ids)
}

fn call_count(record: &NewRecord) -> usize {
    record
        .tool_calls
        .as_ref()
        .and_then(Json::as_array)
        .map_or(0, Vec::len)
}

/// One row with its index entry; the caller keeps the session's counters.
pub(crate) fn insert(
    connection: &Connection,
    session: &SessionId,
    record: &NewRecord,
    timestamp: f64,
    visibility: Visibility,
    imported_id: Option<i64>,
) -> Result<MessageId, StoreError> {
    let (active, compacted) = visibility.flags();
    let json = |json: &Option<Json>| json.as_ref().map(Json::to_string);
    connection
        .prepare_cached(
            "INSERT INTO messages (session_id, role, content, parts, tool_call_id, tool_calls, tool_name, timestamp, \
               token_count, finish_reason, reasoning, raw, platform_message_id, active, compacted, extra, imported_id) \
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        )?
        .execute(rusqlite::params![
            session.as_str(),
            record.role,
            record.content,
            json(&record.parts),
            record.tool_call_id,
            json(&record.tool_calls),
            record.tool_name,
            timestamp,
            record.token_count,
            record.finish_reason,
            record.reasoning,
            json(&record.raw),
            record.platform_message_id,
            active,
            compacted,
            json(&record.extra),
            imported_id,
        ])?;
    let id = connection.last_insert_rowid();
    let content = record.content.as_deref().unwrap_or_default();
    let terms = index_terms(&search_text(
        &record.role,
        content,
        record.tool_name.as_deref(),
    ));
    if !terms.is_empty() {
        connection
            .prepare_cached("INSERT INTO search (rowid, terms) VALUES (?, ?)")?
            .execute((id, terms))?;
    }
    for hash in blob_hashes(record.parts.as_ref()) {
        connection
            .prepare_cached("INSERT OR IGNORE INTO message_blobs (message_id, hash) VALUES (?, ?)")?
            .execute((id, hash))?;
    }
    Ok(MessageId(id))
}

/// The blobs a message's parts refer to.
fn blob_hashes(parts: Option<&Json>) -> Vec<String> {
    parts
        .and_then(Json::as_array)
        .into_iter()
        .flatten()
        .filter_map(|part| {
            part.get("source")?
                .get("blob")?
                .as_str()
                .map(ToOwned::to_owned)
        })
        .collect()
}

pub(crate) fn recount(connection: &Connection, session: &SessionId) -> Result<(), StoreError> {
    connection.execute(
        "UPDATE sessions SET message_count = (SELECT count(*) FROM messages WHERE session_id = ?1 AND active = 1) \
         WHERE id = ?1",
        [session.as_str()],
    )?;
    Ok(())
}
