//! Lines of JSON: whole sessions, or only what the user said.

use serde_json::{Map, Value as Json};

use super::gather::Part;
use super::{ExportOptions, time};
use crate::blobs::Blobs;
use crate::error::StoreError;
use crate::reference_row::{MediaForm, spaced, write_spaced};

/// Objects to be written one a line.
pub(super) struct Lines(pub(super) Vec<Json>);

impl Lines {
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        for line in &self.0 {
            // Writing to memory cannot fail.
            drop(write_spaced(&mut *out, line));
            out.push(b'\n');
        }
    }
}

pub(super) fn session(
    part: &Part,
    blobs: &Blobs,
    options: &ExportOptions,
) -> Result<Lines, StoreError> {
    let mut row = part.session.to_reference(&part.beside);
    let messages = part
        .records
        .iter()
        .map(|record| Ok(Json::Object(record.to_reference(blobs, options.media)?)));
    row.insert(
        "messages".to_owned(),
        Json::Array(messages.collect::<Result<_, StoreError>>()?),
    );
    Ok(Lines(vec![Json::Object(row)]))
}

pub(super) fn prompts(part: &Part, blobs: &Blobs, media: MediaForm) -> Result<Lines, StoreError> {
    let mut lines = Vec::new();
    for record in part.records.iter().filter(|record| record.role == "user") {
        let mut row = record.to_reference(blobs, media)?;
        let text = row.get("content").map(prompt_text).unwrap_or_default();
        if text.is_empty() {
            continue;
        }
        let mut line = Map::new();
        line.insert("session_id".to_owned(), record.session.as_str().into());
        line.insert("index".to_owned(), (lines.len() + 1).into());
        let created_at = time::to_the_second(record.timestamp);
        line.insert("created_at".to_owned(), created_at.into());
        line.insert("role".to_owned(), "user".into());
        line.insert("text".to_owned(), text.into());
        line.insert("message_id".to_owned(), record.id.0.into());
        let event = row.shift_remove("platform_message_id").unwrap_or_default();
        if !event.is_null() {
            line.insert("event_id".to_owned(), event);
        }
        lines.push(Json::Object(line));
    }
    Ok(Lines(lines))
}

/// Content as one text; pieces that are no text appear as JSON.
fn prompt_text(content: &Json) -> String {
    match content {
        Json::Null => String::new(),
        Json::String(text) => text.clone(),
        Json::Array(items) => {
            let pieces: Vec<String> = items
                .iter()
                .map(|item| match item.get("text").and_then(Json::as_str) {
                    Some(text) => text.to_owned(),
                    None => spaced(&sorted(item)),
                })
                .collect();
            pieces.join("\n")
        }
        other @ (Json::Object(_) | Json::Bool(_) | Json::Number(_)) => spaced(&sorted(other)),
    }
}

fn sorted(value: &Json) -> Json {
    match value {
        Json::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_by_key(|(name, _)| *name);
            fields
                .into_iter()
                .map(|(name, value)| (name.clone(), sorted(value)))
                .collect()
        }
        Json::Array(items) => items.iter().map(sorted).collect(),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => value.clone(),
    }
}
