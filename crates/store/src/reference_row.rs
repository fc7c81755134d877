//! Rows by the reference's names, read from its database or from an export, in the form we store.
//!
//! Whatever has no column of ours goes to `extra` under its own name. A name in `extra` stands before
//! the column of that name when a row is written out again, so an odd value comes back as it was.

mod columns;
mod content;
mod media;
mod session;
mod spaced;

use serde_json::{Map, Value as Json};

use crate::blobs::Blobs;
use crate::error::StoreError;
use crate::messages::NewRecord;
use crate::record::{Record, Visibility};

pub use media::MediaForm;
pub(crate) use media::{data_address, is_blob_address, is_hash};
pub(crate) use session::{Beside, ReferenceSession, link};
pub(crate) use spaced::{spaced, write_spaced};

use columns::Columns;
use content::Around;

/// The names of a message, in the order exports use, with the value that says nothing.
const MESSAGE_KEYS: &[(&str, Json)] = &[
    ("id", Json::Null),
    ("session_id", Json::Null),
    ("role", Json::Null),
    ("content", Json::Null),
    ("tool_call_id", Json::Null),
    ("tool_calls", Json::Null),
    ("tool_name", Json::Null),
    ("effect_disposition", Json::Null),
    ("timestamp", Json::Null),
    ("token_count", Json::Null),
    ("finish_reason", Json::Null),
    ("reasoning", Json::Null),
    ("reasoning_content", Json::Null),
    ("reasoning_details", Json::Null),
    ("codex_reasoning_items", Json::Null),
    ("codex_message_items", Json::Null),
    ("platform_message_id", Json::Null),
    ("observed", ZERO),
    ("active", ZERO),
    ("compacted", ZERO),
    ("api_content", Json::Null),
];

/// `0` cannot be built in a constant, `false` can; both say that nothing is set.
const ZERO: Json = Json::Bool(false);

/// What stands before JSON in a text column of the reference.
const ENCODED: &str = "\0json:";

/// A message by the reference's column names.
///
/// A column that holds something other than its type is in `other`. Nothing here is masked: that is
/// up to whoever stores it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ReferenceRow {
    pub(crate) id: Option<i64>,
    pub(crate) role: Option<String>,
    /// Text, text that begins with NUL and `json:`, or the list or object itself.
    pub(crate) content: Option<Json>,
    pub(crate) tool_call_id: Option<String>,
    /// A list, or the text of one.
    pub(crate) tool_calls: Option<Json>,
    pub(crate) tool_name: Option<String>,
    pub(crate) timestamp: Option<f64>,
    pub(crate) token_count: Option<u64>,
    pub(crate) finish_reason: Option<String>,
    pub(crate) reasoning: Option<String>,
    pub(crate) reasoning_content: Option<String>,
    pub(crate) platform_message_id: Option<String>,
    /// In the conversation unless it says no.
    pub(crate) active: Option<bool>,
    pub(crate) compacted: Option<bool>,
    /// Our own parts, in exports of ours where `content` cannot say them.
    pub(crate) parts: Option<Json>,
    /// Our own raw turn.
    pub(crate) raw: Option<Json>,
    /// Every other column that holds something.
    pub(crate) other: Map<String, Json>,
}

/// A message of the reference in the form we store.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Converted {
    pub(crate) record: NewRecord,
    /// Zero when the row had none.
    pub(crate) timestamp: f64,
    pub(crate) visibility: Visibility,
}

impl ReferenceRow {
    /// Sorts columns by name; the row's session is the caller's business and left out.
    pub(crate) fn from_columns(columns: Map<String, Json>) -> Self {
        let mut columns = Columns::new(columns);
        let id = columns.integer("id");
        columns.drop("id");
        columns.drop("session_id");
        Self {
            id,
            role: columns.text("role"),
            content: columns.value("content"),
            tool_call_id: columns.text("tool_call_id"),
            tool_calls: columns.value("tool_calls"),
            tool_name: columns.text("tool_name"),
            timestamp: columns.number("timestamp"),
            token_count: columns.count("token_count"),
            finish_reason: columns.text("finish_reason"),
            reasoning: columns.text("reasoning"),
            reasoning_content: columns.text("reasoning_content"),
            platform_message_id: columns.text("platform_message_id"),
            active: columns.flag("active"),
            compacted: columns.flag("compacted"),
            parts: columns.value("parts"),
            raw: columns.value("raw"),
            other: columns.rest(MESSAGE_KEYS),
        }
    }

    /// The row in our form; media that are part of it go to `blobs`.
    pub(crate) fn convert(self, blobs: &Blobs) -> Result<Converted, StoreError> {
        let role = self
            .role
            .filter(|role| !role.is_empty())
            .ok_or_else(|| StoreError::BadRow {
                table: "messages",
                row: self.id.map_or_else(|| "?".to_owned(), |id| id.to_string()),
                detail: "it has no role".to_owned(),
            })?;
        let mut extra = self.other;
        let tool_calls = match self.tool_calls {
            Some(Json::String(text)) => decode_calls(text, &mut extra),
            other => other,
        };
        let reasoning = shown_thinking(self.reasoning, self.reasoning_content, &mut extra);
        let around = Around {
            role: &role,
            tool_call_id: self.tool_call_id.as_deref(),
            tool_name: self.tool_name.as_deref(),
            tool_calls: tool_calls.as_ref(),
            reasoning: reasoning.as_deref(),
        };
        let mut content = self.content.map(decode_content);
        if let Some(content) = &mut content {
            media::keep(content, blobs)?;
        }
        let (content, parts) = match (self.parts, content) {
            (Some(parts), content) => (content::text_of(content.as_ref()), Some(parts)),
            (None, None) => (None, None),
            (None, Some(content)) => {
                let read = around.read(content);
                extra.extend(read.original.map(|json| ("content".to_owned(), json)));
                (read.text, read.parts)
            }
        };
        let timestamp = self.timestamp.unwrap_or(0.0);
        Ok(Converted {
            timestamp,
            visibility: Visibility::from_flags(
                self.active.unwrap_or(true),
                self.compacted.unwrap_or(false),
            ),
            record: NewRecord {
                content,
                parts,
                tool_call_id: self.tool_call_id,
                tool_calls,
                tool_name: self.tool_name,
                timestamp: Some(timestamp),
                token_count: self.token_count,
                finish_reason: self.finish_reason,
                reasoning,
                raw: self.raw,
                platform_message_id: self.platform_message_id,
                extra: (!extra.is_empty()).then_some(Json::Object(extra)),
                role,
            },
        })
    }
}

impl Record {
    /// The row by the reference's names, in their fixed order, what it carries beyond them at the end.
    pub(crate) fn to_reference(
        &self,
        blobs: &Blobs,
        form: MediaForm,
    ) -> Result<Map<String, Json>, StoreError> {
        let around = Around::of(self);
        let written = around.write(self.content.as_deref(), self.parts.as_ref());
        let (active, compacted) = self.visibility.flags();
        let mut row = Map::new();
        for (key, _) in MESSAGE_KEYS {
            let value = match *key {
                "id" => self.id.0.into(),
                "session_id" => self.session.as_str().into(),
                "role" => self.role.as_str().into(),
                "content" => written.content.clone(),
                "tool_call_id" => self.tool_call_id.clone().into(),
                "tool_calls" => self.tool_calls.clone().unwrap_or_default(),
                "tool_name" => self.tool_name.clone().into(),
                "timestamp" => self.timestamp.into(),
                "token_count" => self.token_count.into(),
                "finish_reason" => self.finish_reason.clone().into(),
                "reasoning" => self.reasoning.clone().into(),
                "platform_message_id" => self.platform_message_id.clone().into(),
                "observed" => 0.into(),
                "active" => u8::from(active).into(),
                "compacted" => u8::from(compacted).into(),
                _ => Json::Null,
            };
            row.insert((*key).to_owned(), value);
        }
        row.extend(written.parts.map(|parts| ("parts".to_owned(), parts)));
        row.extend(self.raw.clone().map(|raw| ("raw".to_owned(), raw)));
        if let Some(Json::Object(extra)) = &self.extra {
            row.extend(extra.clone());
        }
        if form == MediaForm::Inline
            && let Some(content) = row.get_mut("content")
        {
            media::inline(content, blobs)?;
        }
        Ok(row)
    }
}

/// The thinking that is shown. A row that only had the other field must get it back alone.
fn shown_thinking(
    shown: Option<String>,
    sent: Option<String>,
    extra: &mut Map<String, Json>,
) -> Option<String> {
    let Some(sent) = sent else { return shown };
    if shown.is_none() {
        extra.insert("reasoning".to_owned(), Json::Null);
    }
    extra.insert("reasoning_content".to_owned(), Json::String(sent.clone()));
    Some(shown.unwrap_or(sent))
}

fn decode_content(content: Json) -> Json {
    let Json::String(text) = content else {
        return content;
    };
    match text.strip_prefix(ENCODED) {
        None => Json::String(text),
        // What claims to be JSON and is not, is text.
        Some(json) => serde_json::from_str(json).unwrap_or_else(|_| Json::String(json.to_owned())),
    }
}

fn decode_calls(text: String, extra: &mut Map<String, Json>) -> Option<Json> {
    if text.is_empty() {
        return None;
    }
    match serde_json::from_str(&text) {
        Ok(calls) => Some(calls),
        Err(_) => {
            extra.insert("tool_calls".to_owned(), Json::String(text));
            None
        }
    }
}

#[cfg(test)]
#[path = "reference_row_tests.rs"]
mod tests;
