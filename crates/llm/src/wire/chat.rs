//! OpenAI chat completions and everything that imitates it.

pub(crate) mod arguments;
mod cache;
mod calls;
pub(crate) mod decode;
pub(crate) mod media;
mod messages;
pub(crate) mod ollama;
mod piece;
pub(crate) mod reasoning;
pub(crate) mod tokens;

use hermes_core::{ModelRequest, ToolChoice};
use serde_json::{Map, Value as Json, json};

use super::Dialect;
use super::legal::legal;
use crate::quirks::{CacheStyle, MaxTokensKey, Quirks, Temperature};

pub use decode::decoder;

/// The body of a request. The messages come last, so that a longer conversation begins with the bytes
/// of a shorter one.
pub fn encode(request: &ModelRequest, dialect: &Dialect<'_>) -> Json {
    let quirks = dialect.quirks;
    let settings = &request.settings;
    let mut body = Map::new();
    body.insert("model".to_owned(), request.model.clone().into());
    body.insert("stream".to_owned(), true.into());
    body.insert("stream_options".to_owned(), json!({"include_usage": true}));
    if let Some(most) = settings.max_output_tokens {
        let key = match quirks.max_tokens_key {
            MaxTokensKey::MaxTokens => "max_tokens",
            MaxTokensKey::MaxCompletionTokens => "max_completion_tokens",
        };
        body.insert(key.to_owned(), most.into());
    }
    if let Some(temperature) = temperature(settings.temperature, quirks.temperature) {
        body.insert("temperature".to_owned(), temperature.into());
    }
    body.extend(reasoning::fields(
        settings.effort,
        &quirks.reasoning,
        &request.model,
    ));
    if !request.tools.is_empty() {
        let choice = match settings.tool_choice {
            ToolChoice::Auto => None,
            ToolChoice::None => Some("none"),
            ToolChoice::Required => Some("required"),
        };
        if let Some(choice) = choice {
            body.insert("tool_choice".to_owned(), choice.into());
        }
        body.insert("tools".to_owned(), tools(request, dialect));
    }
    body.insert("messages".to_owned(), messages(request, dialect));
    finish(body, "messages", request, quirks)
}

/// The temperature to send, if any.
pub(crate) fn temperature(asked: Option<f64>, quirk: Temperature) -> Option<f64> {
    match quirk {
        Temperature::AsAsked => asked,
        Temperature::Omit => None,
        Temperature::Fixed(value) => Some(value),
    }
}

/// Adds what the provider's profile adds to every body. A field that the profile sets to null is taken
/// out. The conversation stays last.
pub(crate) fn finish(
    mut body: Map<String, Json>,
    conversation: &str,
    request: &ModelRequest,
    quirks: &Quirks,
) -> Json {
    let last = body.shift_remove(conversation).unwrap_or_default();
    if let Some(field) = &quirks.conversation_field {
        body.insert(field.clone(), request.conversation.clone().into());
    }
    for (key, value) in &quirks.extra_body {
        if value.is_null() {
            body.shift_remove(key);
        } else {
            body.insert(key.clone(), filled(value, &request.conversation));
        }
    }
    body.entry(conversation).or_insert(last);
    Json::Object(body)
}

/// Puts the conversation's id where a profile asks for it.
fn filled(value: &Json, conversation: &str) -> Json {
    match value {
        Json::String(text) => text.replace("{conversation}", conversation).into(),
        Json::Array(items) => {
            let items = items.iter();
            items.map(|item| filled(item, conversation)).collect()
        }
        Json::Object(fields) => {
            let fields = fields.iter();
            let fields = fields.map(|(key, item)| (key.clone(), filled(item, conversation)));
            Json::Object(fields.collect())
        }
        Json::Null | Json::Bool(_) | Json::Number(_) => value.clone(),
    }
}

fn tools(request: &ModelRequest, dialect: &Dialect<'_>) -> Json {
    let schemas = dialect.schemas.of(&request.tools, dialect.quirks.schema);
    let tools = request.tools.iter().zip(schemas.iter());
    tools
        .map(|(tool, schema)| {
            json!({
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": schema,
                },
            })
        })
        .collect()
}

fn messages(request: &ModelRequest, dialect: &Dialect<'_>) -> Json {
    let quirks = dialect.quirks;
    let mut out = Vec::with_capacity(request.messages.len() + 1);
    if !request.system.is_empty() {
        out.push(messages::system(&request.system, quirks.developer_role));
    }
    messages::append(&legal(&request.messages), &request.model, dialect, &mut out);
    match quirks.cache {
        CacheStyle::Envelope => cache::mark(
            &mut out,
            request.settings.cache,
            quirks.text_only_tool_results,
        ),
        CacheStyle::Automatic | CacheStyle::Blocks => {}
    }
    Json::Array(out)
}
