//! Lines as coding agents log them: one a message, each pointing at the one before.

use hermes_core::{Media, MediaSource, Part as Piece, Role, ToolCall};
use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};

use super::gather::Part;
use super::jsonl::Lines;
use super::time;
use crate::blobs::{Blobs, hex};
use crate::error::StoreError;
use crate::record::{Record, Session};
use crate::reference_row::{MediaForm, data_address};

pub(super) fn lines(part: &Part, blobs: &Blobs, form: MediaForm) -> Result<Lines, StoreError> {
    let mut lines = Vec::with_capacity(part.records.len());
    let mut parent: Option<String> = None;
    for record in &part.records {
        let uuid = uuid(record);
        let message = record.to_message();
        let role = record.role().unwrap_or(Role::User);
        let mut blocks = Vec::new();
        for piece in &message.parts {
            blocks.push(block(piece, blobs, form)?);
        }
        // The answers of tools are the user's turn in this form.
        let kind = match role {
            Role::Assistant => "assistant",
            Role::System => "system",
            Role::User | Role::Tool => "user",
        };
        lines.push(json!({
            "parentUuid": parent,
            "isSidechain": part.session.source == "subagent",
            "userType": "external",
            "cwd": part.session.cwd.as_deref().unwrap_or_default(),
            "sessionId": part.session.id.as_str(),
            "version": env!("CARGO_PKG_VERSION"),
            "gitBranch": part.session.git_branch.as_deref().unwrap_or_default(),
            "type": kind,
            "message": envelope(record, &part.session, kind, blocks),
            "uuid": uuid,
            "timestamp": time::to_the_millisecond(record.timestamp),
        }));
        parent = Some(uuid);
    }
    Ok(Lines(lines))
}

fn envelope(record: &Record, session: &Session, kind: &str, blocks: Vec<Json>) -> Json {
    if kind != "assistant" {
        // A single text stands for itself.
        let content = match &*blocks {
            [only] if only.get("type").is_some_and(|kind| kind == "text") => {
                only.get("text").cloned().unwrap_or_default()
            }
            _ => Json::Array(blocks),
        };
        return json!({ "role": kind, "content": content });
    }
    let stop_reason = match record.finish_reason.as_deref() {
        Some("stop") => Some("end_turn"),
        Some("length") => Some("max_tokens"),
        Some("tool_calls") => Some("tool_use"),
        other => other,
    };
    json!({
        "id": format!("msg_{}", record.id),
        "type": "message",
        "role": "assistant",
        "model": session.model.as_deref().unwrap_or("unknown"),
        "content": blocks,
        "stop_reason": stop_reason,
        "stop_sequence": null,
    })
}

fn block(piece: &Piece, blobs: &Blobs, form: MediaForm) -> Result<Json, StoreError> {
    Ok(match piece {
        Piece::Text { text } => json!({ "type": "text", "text": text }),
        Piece::Reasoning { text } => json!({ "type": "thinking", "thinking": text }),
        Piece::Media(media) => picture(media, blobs, form)?,
        Piece::ToolCall(ToolCall {
            id,
            name,
            arguments,
        }) => json!({ "type": "tool_use", "id": id, "name": name, "input": arguments }),
        Piece::ToolResult {
            call,
            content,
            failed,
            ..
        } => {
            json!({ "type": "tool_result", "tool_use_id": call, "content": content, "is_error": failed })
        }
    })
}

fn picture(media: &Media, blobs: &Blobs, form: MediaForm) -> Result<Json, StoreError> {
    let named = |what: &str| json!({ "type": "text", "text": format!("[{}: {what}]", media.mime) });
    Ok(match &media.source {
        MediaSource::Blob(hash) if form == MediaForm::Inline && blobs.contains(hash) => {
            let address = data_address(&media.mime, &blobs.get(hash)?);
            let data = address.split_once(',').map_or("", |(_, data)| data);
            let kind = if media.mime.starts_with("image/") {
                "image"
            } else {
                "document"
            };
            let source = json!({ "type": "base64", "media_type": media.mime, "data": data });
            json!({ "type": kind, "source": source })
        }
        MediaSource::Blob(hash) => named(&format!("sha256 {hash}")),
        MediaSource::Url(url) => named(url),
    })
}

/// The same for the same message every time, and shaped like a name-based UUID.
fn uuid(record: &Record) -> String {
    let name = format!("hermes:{}:{}", record.session, record.id);
    let mut bytes: [u8; 16] = [0; 16];
    for (byte, from) in bytes.iter_mut().zip(Sha256::digest(name.as_bytes())) {
        *byte = from;
    }
    let [.., version, _, variant, _, _, _, _, _, _, _] = &mut bytes;
    *version = (*version & 0x0f) | 0x50;
    *variant = (*variant & 0x3f) | 0x80;
    let hex = hex(&bytes);
    let mut dashed = String::with_capacity(36);
    for (index, digit) in hex.chars().enumerate() {
        if matches!(index, 8 | 12 | 16 | 20) {
            dashed.push('-');
        }
        dashed.push(digit);
    }
    dashed
}
