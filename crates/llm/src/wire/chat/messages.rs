//! A legal conversation as messages of chat completions.

use std::borrow::Cow;

use hermes_core::{RawTurn, WireProtocol};
use serde_json::{Map, Value as Json, json};

use super::arguments::{canonical, fitting};
use super::media::{Shown, note, plain, show_answer, show_behind, show_user};
use crate::quirks::ReasoningReplay;
use crate::wire::Dialect;
use crate::wire::legal::{Assistant, CLOSING, Call, OPENING, Piece, Turn, ends_with_model};

/// Longest id of a call that every provider takes from somebody else.
const MOST_ID_BYTES: usize = 40;

/// Stands for thinking where a provider insists on some.
const NO_THOUGHTS: &str = " ";

/// Stands before words of the user inside the result of a tool.
const USER_SAYS: &str = "The user says:";

/// Stands between results and the pictures that belong to them.
const WANTS_PICTURES: &str = "(the pictures of these results follow)";

/// Stands for the answer that the user did not wait for.
const INTERRUPTED: &str = "(interrupted)";

pub(super) fn system(text: &str, developer_role: bool) -> Json {
    let role = if developer_role {
        "developer"
    } else {
        "system"
    };
    json!({"role": role, "content": text})
}

/// Adds a conversation in the order of roles that the strictest servers insist on: the user begins and
/// has the last word, and no user comes right behind the results of tools.
pub(super) fn append(turns: &[Turn<'_>], model: &str, dialect: &Dialect<'_>, out: &mut Vec<Json>) {
    if !matches!(turns.first(), Some(Turn::User(_))) {
        out.push(json!({"role": "user", "content": OPENING}));
    }
    for turn in turns {
        append_turn(turn, model, dialect, out);
    }
    if ends_with_model(turns) {
        out.push(json!({"role": "user", "content": CLOSING}));
    }
}

fn append_turn(turn: &Turn<'_>, model: &str, dialect: &Dialect<'_>, out: &mut Vec<Json>) {
    match turn {
        Turn::User(parts) => append_user(&show_user(parts, dialect), out),
        Turn::Assistant(assistant) => {
            let raw = assistant.issued_by(WireProtocol::ChatCompletions, dialect.provider);
            let own = raw.is_some();
            out.push(said(assistant, raw, model, dialect));
            for answer in &assistant.answers {
                out.push(json!({
                    "role": "tool",
                    "tool_call_id": wire_id(&answer.id, own),
                    "content": content(&show_answer(answer, dialect)),
                }));
            }
            let behind = show_behind(&assistant.answers, dialect);
            if !behind.is_empty() {
                out.push(json!({"role": "assistant", "content": WANTS_PICTURES}));
                out.push(json!({"role": "user", "content": content(&behind)}));
            }
        }
    }
}

/// Adds what the user says, to the last message where a message of its own would break the order.
fn append_user(shown: &[Shown], out: &mut Vec<Json>) {
    match out.last_mut() {
        Some(last) if last["role"] == "tool" => match plain(shown) {
            Some(text) => return add_text(&mut last["content"], &text),
            // A picture cannot be the result of a tool everywhere.
            None => out.push(json!({"role": "assistant", "content": INTERRUPTED})),
        },
        // The pictures of results were shown as the user's.
        Some(last) if last["role"] == "user" => {
            if let Some(before) = last["content"].as_array_mut() {
                return before.extend(pieces(shown));
            }
        }
        Some(_) | None => {}
    }
    out.push(json!({"role": "user", "content": content(shown)}));
}

/// Adds what the user said to the result of a tool.
fn add_text(result: &mut Json, said: &str) {
    let said = format!("{USER_SAYS}\n{said}");
    match result {
        Json::String(text) => {
            text.push_str("\n\n");
            text.push_str(&said);
        }
        Json::Array(parts) => parts.push(json!({"type": "text", "text": said})),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::Object(_) => *result = said.into(),
    }
}

/// An id the provider gave itself is right as it is.
fn wire_id(id: &str, own: bool) -> Cow<'_, str> {
    if own {
        Cow::Borrowed(id)
    } else {
        fitting(id, MOST_ID_BYTES)
    }
}

/// A string where there is only text, which every server takes; else a list of parts.
fn content(shown: &[Shown]) -> Json {
    match plain(shown) {
        Some(text) => text.into(),
        None => pieces(shown).collect(),
    }
}

fn pieces(shown: &[Shown]) -> impl Iterator<Item = Json> {
    shown.iter().map(|piece| match piece {
        Shown::Text(text) => json!({"type": "text", "text": text}),
        Shown::Picture(url) => json!({"type": "image_url", "image_url": {"url": url}}),
    })
}

fn said(
    assistant: &Assistant<'_>,
    raw: Option<&RawTurn>,
    model: &str,
    dialect: &Dialect<'_>,
) -> Json {
    let mut message = Map::new();
    message.insert("role".to_owned(), "assistant".into());
    let text = spoken(assistant);
    let calls: Vec<Json> = assistant
        .calls()
        .map(|call| tool_call(call, raw.map(|raw| &raw.body)))
        .collect();
    let content = if text.is_empty() && !calls.is_empty() {
        Json::Null
    } else {
        text.into()
    };
    message.insert("content".to_owned(), content);
    if !calls.is_empty() {
        message.insert("tool_calls".to_owned(), calls.into());
    }
    match dialect.quirks.replay {
        ReasoningReplay::Native
        | ReasoningReplay::Never
        | ReasoningReplay::All
        | ReasoningReplay::Unsigned => {}
        ReasoningReplay::Content => {
            let thoughts = raw.and_then(|raw| thoughts(&raw.body));
            message.insert(
                "reasoning_content".to_owned(),
                thoughts.unwrap_or(NO_THOUGHTS).into(),
            );
        }
        ReasoningReplay::Details => {
            let details = raw
                .filter(|raw| raw.model == model)
                .and_then(|raw| raw.body.get("reasoning_details"))
                .and_then(Json::as_array)
                .filter(|details| !details.is_empty());
            if let Some(details) = details {
                message.insert("reasoning_details".to_owned(), details.clone().into());
            }
        }
    }
    Json::Object(message)
}

/// The text of a turn, with a note for what the model made that is no text.
fn spoken(assistant: &Assistant<'_>) -> String {
    let mut texts = vec![assistant.text()];
    texts.extend(assistant.pieces.iter().filter_map(|piece| match piece {
        Piece::Media(media) => Some(note(media, "was made here")),
        Piece::Text(_) | Piece::Reasoning(_) | Piece::Call(_) => None,
    }));
    texts.retain(|text| !text.is_empty());
    texts.join("\n\n")
}

fn thoughts(body: &Json) -> Option<&str> {
    ["reasoning_content", "reasoning"]
        .iter()
        .filter_map(|key| body.get(key).and_then(Json::as_str))
        .find(|text| !text.trim().is_empty())
}

/// A call. The neutral form says what was called; what its issuer wrote around it (the exact text of
/// the arguments, signatures) is taken from the raw turn.
fn tool_call(call: &Call<'_>, raw: Option<&Json>) -> Json {
    let issued = raw
        .and_then(|raw| raw.get("tool_calls"))
        .and_then(Json::as_array)
        .and_then(|calls| {
            calls
                .iter()
                .find(|issued| issued.get("id").and_then(Json::as_str) == Some(call.original))
        });
    let arguments = issued
        .and_then(|issued| issued.pointer("/function/arguments"))
        .and_then(Json::as_str)
        .filter(|text| serde_json::from_str(text).is_ok_and(|value: Json| value == *call.arguments))
        .map_or_else(|| canonical(&call.arguments), str::to_owned);
    let mut out = Map::new();
    let id = wire_id(&call.id, raw.is_some());
    out.insert("id".to_owned(), id.into());
    out.insert("type".to_owned(), "function".into());
    out.insert(
        "function".to_owned(),
        json!({"name": call.name, "arguments": arguments}),
    );
    let extra = issued
        .and_then(|issued| issued.get("extra_content"))
        .filter(|extra| !extra.is_null());
    if let Some(extra) = extra {
        out.insert("extra_content".to_owned(), extra.clone());
    }
    Json::Object(out)
}
