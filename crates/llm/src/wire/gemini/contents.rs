//! The conversation as contents of parts.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hermes_core::{Media, MediaSource};
use serde_json::{Value as Json, json};

use super::family::wants_signatures;
use super::replay::{Replayed, replay};
use crate::picture::kind as kind_of;
use crate::wire::Dialect;
use crate::wire::chat::media::{left_out, note};
use crate::wire::legal::{
    Answer, Assistant, CLOSING, OPENING, Piece, Turn, UserPart, ends_with_model,
};

/// Stands where the provider wants text and there is none.
const NO_TEXT: &str = "(no text)";

/// The value the provider documents for calls it did not issue itself.
const FOREIGN_SIGNATURE: &str = "skip_thought_signature_validator";

/// The contents of a conversation, the first of which is the user's.
pub(super) fn write(turns: &[Turn<'_>], model: &str, dialect: &Dialect<'_>) -> Vec<Json> {
    let mut contents = Vec::new();
    if !matches!(turns.first(), Some(Turn::User(_))) {
        push(&mut contents, "user", vec![text(OPENING)]);
    }
    for turn in turns {
        match turn {
            Turn::User(parts) => {
                let parts = parts.iter().map(|part| match part {
                    UserPart::Text(said) => text(said),
                    UserPart::Media(media) => medium(media, dialect),
                });
                push(&mut contents, "user", parts.collect());
            }
            Turn::Assistant(turn) => {
                let replayed = replay(turn, model, dialect).unwrap_or_else(|| neutral(turn));
                let mut parts = replayed.parts;
                if wants_signatures(model) {
                    sign(&mut parts);
                }
                push(&mut contents, "model", parts);
                if !turn.answers.is_empty() {
                    let answers = answers(&turn.answers, &replayed.call_ids, dialect);
                    push(&mut contents, "user", answers);
                }
            }
        }
    }
    if ends_with_model(turns) {
        push(&mut contents, "user", vec![text(CLOSING)]);
    }
    contents
}

/// Adds parts, to the last content when it has the same role.
fn push(contents: &mut Vec<Json>, role: &str, mut parts: Vec<Json>) {
    let last = contents
        .last_mut()
        .filter(|content| content["role"] == role)
        .and_then(|content| content.get_mut("parts")?.as_array_mut());
    match last {
        Some(before) => before.append(&mut parts),
        None => contents.push(json!({ "role": role, "parts": parts })),
    }
}

/// A turn of another issuer: calls last.
fn neutral(turn: &Assistant<'_>) -> Replayed {
    let mut said = Vec::new();
    let mut calls = Vec::new();
    for piece in &turn.pieces {
        match piece {
            Piece::Text(words) => said.push(text(words)),
            Piece::Media(media) => said.push(text(&note(media, "was made here"))),
            Piece::Reasoning(_) => {}
            Piece::Call(call) => calls.push(json!({
                "functionCall": { "name": call.name, "args": call.arguments },
            })),
        }
    }
    if said.is_empty() && calls.is_empty() {
        said.push(text(NO_TEXT));
    }
    Replayed {
        call_ids: vec![None; calls.len()],
        parts: said.into_iter().chain(calls).collect(),
    }
}

/// Newer models reject a turn whose first call has no signature.
fn sign(parts: &mut [Json]) {
    let first = parts
        .iter_mut()
        .filter_map(Json::as_object_mut)
        .find(|part| part.contains_key("functionCall"));
    if let Some(part) = first {
        part.entry("thoughtSignature")
            .or_insert_with(|| json!(FOREIGN_SIGNATURE));
    }
}

/// The results in the order of their calls, their pictures behind all of them.
fn answers(
    answers: &[Answer<'_>],
    call_ids: &[Option<String>],
    dialect: &Dialect<'_>,
) -> Vec<Json> {
    let mut parts = Vec::new();
    let mut media = Vec::new();
    for (index, answer) in answers.iter().enumerate() {
        let mut response = json!({ "name": answer.name, "response": response(answer) });
        if let Some(Some(id)) = call_ids.get(index) {
            response["id"] = json!(id);
        }
        parts.push(json!({ "functionResponse": response }));
        media.extend(answer.media.iter().map(|one| {
            if dialect.quirks.text_only_tool_results || dialect.quirks.no_tool_images {
                text(&left_out(one))
            } else {
                medium(one, dialect)
            }
        }));
    }
    parts.append(&mut media);
    parts
}

/// A result must be an object: one that is stays as it is, anything else is wrapped.
fn response(answer: &Answer<'_>) -> Json {
    if answer.failed {
        return json!({ "error": answer.content });
    }
    match serde_json::from_str(&answer.content) {
        Ok(object @ Json::Object(_)) => object,
        Ok(_) | Err(_) => json!({ "output": answer.content }),
    }
}

fn medium(media: &Media, dialect: &Dialect<'_>) -> Json {
    let kind = media.mime.split('/').next().unwrap_or_default();
    let readable = match kind {
        "image" => !dialect.quirks.no_images,
        "audio" | "video" | "text" => true,
        _ => media.mime == "application/pdf",
    };
    if !readable {
        return text(&note(media, "cannot be shown to this model"));
    }
    match &media.source {
        MediaSource::Url(address) => {
            json!({ "fileData": { "mimeType": media.mime, "fileUri": address } })
        }
        MediaSource::Blob(hash) => match dialect.media.read(hash) {
            Some(bytes) => json!({
                "inlineData": { "mimeType": kind_of(&bytes, &media.mime), "data": STANDARD.encode(bytes) },
            }),
            None => text(&note(media, "is not available")),
        },
    }
}

fn text(text: &str) -> Json {
    json!({ "text": text })
}
