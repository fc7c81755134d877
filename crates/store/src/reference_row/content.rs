//! List content of the reference and our parts, in both directions.

use hermes_core::{CallId, Part};
use serde_json::{Value as Json, json};

use super::media;
use crate::messages::read_call;
use crate::record::Record;

/// The rest of a row, which parts repeat.
pub(crate) struct Around<'r> {
    pub(crate) role: &'r str,
    pub(crate) tool_call_id: Option<&'r str>,
    pub(crate) tool_name: Option<&'r str>,
    pub(crate) tool_calls: Option<&'r Json>,
    pub(crate) reasoning: Option<&'r str>,
}

/// Content as we store it.
pub(super) struct Read {
    pub(super) text: Option<String>,
    pub(super) parts: Option<Json>,
    /// The content itself, where text and parts would not give it back.
    pub(super) original: Option<Json>,
}

/// Content as the reference writes it.
pub(super) struct Written {
    pub(super) content: Json,
    /// Our parts, where the content would not give them back.
    pub(super) parts: Option<Json>,
}

impl<'r> Around<'r> {
    pub(crate) fn of(record: &'r Record) -> Self {
        Self {
            role: &record.role,
            tool_call_id: record.tool_call_id.as_deref(),
            tool_name: record.tool_name.as_deref(),
            tool_calls: record.tool_calls.as_ref(),
            reasoning: record.reasoning.as_deref(),
        }
    }

    pub(super) fn read(&self, content: Json) -> Read {
        match content {
            Json::Null => Read {
                text: None,
                parts: None,
                original: None,
            },
            Json::String(text) => Read {
                text: Some(text),
                parts: None,
                original: None,
            },
            Json::Array(items) => self.read_list(items),
            other @ (Json::Object(_) | Json::Bool(_) | Json::Number(_)) => Read {
                text: Some(other.to_string()),
                parts: None,
                original: Some(other),
            },
        }
    }

    fn read_list(&self, items: Vec<Json>) -> Read {
        let pieces: Vec<Part> = items.iter().map(read_item).collect();
        let text = join(&pieces);
        let parts = self.surround(pieces, &text);
        let again: Vec<Json> = parts.iter().filter_map(write_part).collect();
        Read {
            text: Some(text),
            parts: serde_json::to_value(&parts).ok(),
            original: (again != items).then_some(Json::Array(items)),
        }
    }

    /// Adds what other columns say, since stored parts are the whole message.
    fn surround(&self, pieces: Vec<Part>, text: &str) -> Vec<Part> {
        let mut parts = Vec::new();
        if let Some(text) = self.reasoning {
            parts.push(Part::Reasoning {
                text: text.to_owned(),
            });
        }
        match self.tool_call_id {
            Some(call) if self.role == "tool" => {
                parts.push(Part::ToolResult {
                    call: CallId(call.to_owned()),
                    name: self.tool_name.unwrap_or_default().to_owned(),
                    content: text.to_owned(),
                    failed: false,
                });
                let media = pieces
                    .into_iter()
                    .filter(|part| matches!(part, Part::Media(_)));
                parts.extend(media);
            }
            _ => parts.extend(pieces),
        }
        let calls = self.tool_calls.and_then(Json::as_array);
        parts.extend(
            calls
                .into_iter()
                .flatten()
                .filter_map(read_call)
                .map(Part::ToolCall),
        );
        parts
    }

    pub(super) fn write(&self, text: Option<&str>, stored: Option<&Json>) -> Written {
        let plain = || text.map_or(Json::Null, Json::from);
        let Some(stored) = stored else {
            return Written {
                content: plain(),
                parts: None,
            };
        };
        let parts: Result<Vec<Part>, _> = serde_json::from_value(stored.clone());
        match parts {
            // Parts of a newer program: nothing we could turn into list content.
            Err(_) => Written {
                content: plain(),
                parts: Some(stored.clone()),
            },
            Ok(parts) => {
                let items: Vec<Json> = parts.iter().filter_map(write_part).collect();
                let again = self.read_list(items.clone());
                let same = again.parts.as_ref() == Some(stored);
                Written {
                    content: Json::Array(items),
                    parts: (!same).then(|| stored.clone()),
                }
            }
        }
    }
}

/// The plain text of content in either form, where our own parts come with it.
pub(super) fn text_of(content: Option<&Json>) -> Option<String> {
    match content? {
        Json::Null => None,
        Json::String(text) => Some(text.clone()),
        Json::Array(items) => Some(join(&items.iter().map(read_item).collect::<Vec<_>>())),
        other @ (Json::Object(_) | Json::Bool(_) | Json::Number(_)) => Some(other.to_string()),
    }
}

fn read_item(item: &Json) -> Part {
    if let Some(media) = media::read(item) {
        return Part::Media(media);
    }
    let kind = item.get("type").and_then(Json::as_str);
    let text = match (kind, item) {
        (_, Json::String(text)) => text.clone(),
        (Some("text" | "input_text" | "output_text"), item) => {
            match item.get("text").and_then(Json::as_str) {
                Some(text) => text.to_owned(),
                None => item.to_string(),
            }
        }
        (_, item) => item.to_string(),
    };
    Part::Text { text }
}

/// The item of list content for a part; `None` for what stands in a column of its own.
fn write_part(part: &Part) -> Option<Json> {
    match part {
        Part::Text { text } | Part::ToolResult { content: text, .. } => {
            Some(json!({ "type": "text", "text": text }))
        }
        Part::Media(media) => Some(media::write(media)),
        Part::Reasoning { .. } | Part::ToolCall(_) => None,
    }
}

/// The text of the pieces, joined as `Message::plain_text` does it.
fn join(pieces: &[Part]) -> String {
    let mut joined = String::new();
    for part in pieces {
        let Part::Text { text } = part else { continue };
        if !joined.is_empty() {
            joined.push('\n');
        }
        joined.push_str(text);
    }
    joined
}
