//! Amazon Bedrock Converse: one form for the models of many makers. The model stands in the path of the
//! request, not in its body.

pub(super) mod cache;
mod decode;
pub mod frames;
mod media;
mod messages;
mod reasoning;
mod replay;
pub mod sigv4;

use std::collections::HashSet;

use hermes_core::{ModelRequest, ToolChoice};
use serde_json::{Map, Value as Json, json};

use super::legal::{Turn, legal_keeping};
use super::naming::wire_name;
use super::{Decoder, Dialect};
use crate::quirks::{CacheStyle, Quirks, Temperature};
use reasoning::Thinking;
use replay::Replay;

/// Most tokens of an answer when nobody says.
const USUAL_OUTPUT: u32 = 4_096;

/// The body of a request. The conversation comes last, so that a longer one begins with the bytes of a
/// shorter one.
pub fn encode(request: &ModelRequest, dialect: &Dialect<'_>) -> Json {
    let quirks = dialect.quirks;
    let replay = Replay {
        provider: dialect.provider,
        model: &request.model,
        rule: quirks.replay,
    };
    let turns = legal_keeping(&request.messages, |raw| replay.speaks(raw));
    let mut messages = messages::write(&turns, &replay, dialect, &request.model);
    let thinking = reasoning::plan(request, quirks, &messages);

    let mut body = Map::new();
    if let Some(tools) = tool_config(request, &turns, dialect) {
        body.insert("toolConfig".to_owned(), tools);
    }
    let mut system = Vec::new();
    if !request.system.trim().is_empty() {
        system.push(json!({ "text": &*request.system }));
    }
    match quirks.cache {
        CacheStyle::Blocks => cache::write(
            &mut system,
            &mut messages,
            request.settings.cache,
            &request.model,
        ),
        CacheStyle::Automatic | CacheStyle::Envelope => {}
    }
    if !system.is_empty() {
        body.insert("system".to_owned(), Json::Array(system));
    }
    body.insert(
        "inferenceConfig".to_owned(),
        inference(request, quirks, &thinking),
    );
    if let Some(fields) = thinking.fields() {
        body.insert("additionalModelRequestFields".to_owned(), fields);
    }
    body.extend(quirks.extra_body.clone());
    body.insert("messages".to_owned(), Json::Array(messages));
    Json::Object(body)
}

/// Reads an answer of `model` at `provider`.
pub fn decoder(provider: &str, model: &str) -> impl Decoder + use<> {
    decode::ConverseDecoder::new(provider, model)
}

fn inference(request: &ModelRequest, quirks: &Quirks, thinking: &Thinking) -> Json {
    let asked = request.settings.max_output_tokens.unwrap_or(USUAL_OUTPUT);
    let mut config = json!({ "maxTokens": asked.max(thinking.least_output()) });
    let temperature = match quirks.temperature {
        Temperature::Omit => None,
        Temperature::Fixed(value) => Some(value),
        Temperature::AsAsked => request.settings.temperature,
    };
    if let Some(temperature) = temperature.filter(|_| thinking.takes_temperature()) {
        config["temperature"] = json!(temperature);
    }
    config
}

/// The tools. The service wants them named as soon as the history holds a call, even where none is on
/// offer any more; it knows no way to forbid them.
fn tool_config(request: &ModelRequest, turns: &[Turn<'_>], dialect: &Dialect<'_>) -> Option<Json> {
    let schemas = dialect.schemas.of(&request.tools, dialect.quirks.schema);
    let mut names = HashSet::new();
    let mut tools = Vec::new();
    for (spec, schema) in request.tools.iter().zip(schemas.iter()) {
        let name = wire_name(&spec.name);
        if !names.insert(name.clone()) {
            continue;
        }
        let mut tool = json!({ "name": name });
        if !spec.description.trim().is_empty() {
            tool["description"] = json!(spec.description);
        }
        tool["inputSchema"] = json!({ "json": schema });
        tools.push(json!({ "toolSpec": tool }));
    }
    let mut called = turns.iter().flat_map(|turn| match turn {
        Turn::User(_) => Vec::new(),
        Turn::Assistant(assistant) => assistant.calls().map(|call| call.name.clone()).collect(),
    });
    if tools.is_empty() || request.settings.tool_choice == ToolChoice::None {
        let first = called.next()?;
        if tools.is_empty() {
            let schema = json!({ "json": { "type": "object", "properties": {} } });
            let tool = json!({ "name": first, "inputSchema": schema });
            tools.push(json!({ "toolSpec": tool }));
        }
    }
    let mut config = json!({ "tools": tools });
    match request.settings.tool_choice {
        ToolChoice::Required => config["toolChoice"] = json!({ "any": {} }),
        ToolChoice::Auto | ToolChoice::None => {}
    }
    Some(config)
}
