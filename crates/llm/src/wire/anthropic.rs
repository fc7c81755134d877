//! Anthropic Messages, and everything that imitates it.

mod cache;
mod decode;
mod family;
pub(super) mod invoke;
mod media;
mod messages;
mod replay;
mod thinking;

use std::collections::HashSet;
use std::sync::Arc;

use hermes_core::{ModelRequest, ToolChoice, ToolSpec};
use serde_json::{Map, Value as Json, json};

use super::converse::cache::possible;
use super::{Decoder, Dialect};
use crate::quirks::{CacheStyle, SchemaTarget};
use crate::wire::legal::legal_keeping;
pub use family::{Betas, ThinkingStyle, betas, thinking_style, wire_model};
pub(crate) use family::{effort_word, usual_output};
use replay::Replay;

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
    let mut messages = messages::write(&turns, &replay, dialect);
    let mut system = Vec::new();
    if !request.system.trim().is_empty() {
        system.push(media::text(&request.system));
    }
    match quirks.cache {
        CacheStyle::Blocks => {
            let asked = request.settings.cache;
            let life = match quirks.invoke {
                true => possible(asked, &request.model),
                false => asked,
            };
            cache::write(&mut system, &mut messages, life);
        }
        CacheStyle::Automatic | CacheStyle::Envelope => {}
    }

    let mut body = Map::new();
    body.insert("model".to_owned(), json!(wire_model(&request.model)));
    thinking::write(&mut body, request, quirks, &messages);
    if !request.tools.is_empty() {
        body.insert("tools".to_owned(), tools(&request.tools, dialect));
        match request.settings.tool_choice {
            ToolChoice::Auto => {}
            ToolChoice::None => {
                body.insert("tool_choice".to_owned(), json!({ "type": "none" }));
            }
            ToolChoice::Required => {
                body.insert("tool_choice".to_owned(), json!({ "type": "any" }));
            }
        }
    }
    if !system.is_empty() {
        body.insert("system".to_owned(), Json::Array(system));
    }
    body.insert("stream".to_owned(), json!(!quirks.no_streaming));
    if let Some(field) = &quirks.conversation_field {
        body.insert(field.clone(), json!(request.conversation));
    }
    body.extend(quirks.extra_body.clone());
    body.insert("messages".to_owned(), Json::Array(messages));
    Json::Object(body)
}

/// Reads an answer of `model` at `provider`.
pub fn decoder(provider: &str, model: &str) -> impl Decoder + use<> {
    decode::MessagesDecoder::new(provider, model)
}

/// The tools; of several with one name the first counts, because names must be unique.
fn tools(specs: &Arc<[ToolSpec]>, dialect: &Dialect<'_>) -> Json {
    let target = match dialect.quirks.schema {
        SchemaTarget::Common => SchemaTarget::Anthropic,
        own @ (SchemaTarget::Anthropic
        | SchemaTarget::Moonshot
        | SchemaTarget::Gemini
        | SchemaTarget::Xai
        | SchemaTarget::LlamaCpp) => own,
    };
    let mut names = HashSet::new();
    let schemas = dialect.schemas.of(specs, target);
    let specs = specs.iter().zip(schemas.iter());
    specs
        .filter(|(spec, _)| names.insert(spec.name.as_str()))
        .map(|(spec, schema)| {
            json!({
                "name": spec.name,
                "description": spec.description,
                "input_schema": schema,
            })
        })
        .collect()
}
