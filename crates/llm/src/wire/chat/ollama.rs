//! Ollama's own interface: nearly chat completions, but a request can say how large the window must be,
//! which Ollama's imitation of chat completions ignores.

use serde_json::{Map, Value as Json, json};

/// A body of chat completions as Ollama's own interface wants it, with the window it must run with.
pub(crate) fn body(chat: Json, window: u32) -> Json {
    let Json::Object(mut fields) = chat else {
        return chat;
    };
    let messages = fields.shift_remove("messages").unwrap_or_default();
    let mut options = match fields.shift_remove("options") {
        Some(Json::Object(options)) => options,
        Some(_) | None => Map::new(),
    };
    options.insert("num_ctx".to_owned(), window.into());
    for (ours, theirs) in [
        ("max_tokens", "num_predict"),
        ("max_completion_tokens", "num_predict"),
        ("temperature", "temperature"),
    ] {
        if let Some(value) = fields.shift_remove(ours) {
            options.insert(theirs.to_owned(), value);
        }
    }
    for unknown in ["stream_options", "tool_choice"] {
        fields.shift_remove(unknown);
    }
    if let Some(effort) = fields.shift_remove("reasoning_effort") {
        let think = if effort == "none" {
            false.into()
        } else {
            effort
        };
        fields.insert("think".to_owned(), think);
    }
    fields.insert("options".to_owned(), options.into());
    fields.insert("messages".to_owned(), converted(messages));
    Json::Object(fields)
}

fn converted(messages: Json) -> Json {
    let Json::Array(mut messages) = messages else {
        return messages;
    };
    // Results name the tool in place of the call.
    let mut called: Vec<(Json, Json)> = Vec::new();
    for message in messages.iter_mut().filter_map(Json::as_object_mut) {
        if let Some(Json::Array(calls)) = message.get_mut("tool_calls") {
            for call in calls {
                called.push((call["id"].clone(), call["function"]["name"].clone()));
                if let Some(arguments) = call.pointer_mut("/function/arguments") {
                    let text = arguments.as_str().unwrap_or_default();
                    *arguments = serde_json::from_str(text).unwrap_or_else(|_| json!({}));
                }
            }
        }
        if let Some(id) = message.get("tool_call_id")
            && let Some((_, name)) = called.iter().rev().find(|(known, _)| known == id)
        {
            message.insert("tool_name".to_owned(), name.clone());
        }
        unfold(message);
    }
    Json::Array(messages)
}

/// Content is text only; pictures stand beside it.
fn unfold(message: &mut Map<String, Json>) {
    let Some(content) = message.get_mut("content") else {
        return;
    };
    let parts = match content {
        Json::Null => {
            *content = "".into();
            return;
        }
        Json::Array(parts) => std::mem::take(parts),
        Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Object(_) => return,
    };
    let mut texts: Vec<String> = Vec::new();
    let mut images: Vec<Json> = Vec::new();
    for part in &parts {
        let address = part.pointer("/image_url/url").and_then(Json::as_str);
        match (address, part["text"].as_str()) {
            (Some(address), _) => match address.split_once(";base64,") {
                Some((_, data)) => images.push(data.into()),
                None => texts.push(format!("[picture at {address}]")),
            },
            (None, Some(text)) => texts.push(text.to_owned()),
            (None, None) => {}
        }
    }
    *content = texts.join("\n\n").into();
    if !images.is_empty() {
        message.insert("images".to_owned(), images.into());
    }
}

/// A piece of an answer as chat completions have it; pieces that are not Ollama's stay as they are.
pub(super) fn chunk(piece: Json) -> Json {
    let done = match (piece.get("done"), piece.get("choices")) {
        (Some(Json::Bool(done)), None) => *done,
        _ => return piece,
    };
    let message = &piece["message"];
    let mut choice = Map::new();
    choice.insert(
        "delta".to_owned(),
        json!({
            "content": message["content"],
            "reasoning": message["thinking"],
            "tool_calls": message["tool_calls"],
        }),
    );
    if done {
        let reason = piece["done_reason"].as_str().unwrap_or("stop");
        choice.insert("finish_reason".to_owned(), reason.into());
    }
    let mut chunk = Map::new();
    // The only thing that tells two answers apart.
    chunk.insert("id".to_owned(), piece["created_at"].clone());
    chunk.insert("choices".to_owned(), json!([choice]));
    if piece.get("eval_count").is_some() {
        chunk.insert(
            "usage".to_owned(),
            json!({
                "prompt_tokens": piece["prompt_eval_count"].as_u64().unwrap_or(0),
                "completion_tokens": piece["eval_count"],
            }),
        );
    }
    if let Some(error) = piece.get("error") {
        chunk.insert("error".to_owned(), error.clone());
    }
    Json::Object(chunk)
}
