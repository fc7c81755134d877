//! Gemini's own protocol. The model's name is part of the address, not of the body.

mod contents;
mod decode;
mod family;
mod replay;

use std::collections::HashSet;
use std::sync::Arc;

use hermes_core::{ModelRequest, ToolChoice, ToolSpec};
use serde_json::{Map, Value as Json, json};

use super::{Decoder, Dialect};
use crate::quirks::{Quirks, ReasoningStyle, SchemaTarget, Temperature};
use crate::wire::legal::legal;
pub use family::wire_model;

/// Most tokens of an answer when the caller sets nothing.
const DEFAULT_OUTPUT: u32 = 65_535;

/// The body of a request. The conversation comes last, so that a longer one begins with the bytes of a
/// shorter one.
pub fn encode(request: &ModelRequest, dialect: &Dialect<'_>) -> Json {
    let quirks = dialect.quirks;
    let turns = legal(&request.messages);
    let mut body = Map::new();
    if !request.system.trim().is_empty() {
        let instruction = json!({ "parts": [{ "text": &*request.system }] });
        body.insert("systemInstruction".to_owned(), instruction);
    }
    if !request.tools.is_empty() {
        let declarations = declarations(&request.tools, dialect);
        let tools = json!([{ "functionDeclarations": declarations }]);
        body.insert("tools".to_owned(), tools);
        let mode = match request.settings.tool_choice {
            ToolChoice::Auto => "AUTO",
            ToolChoice::None => "NONE",
            ToolChoice::Required => "ANY",
        };
        let config = json!({ "functionCallingConfig": { "mode": mode } });
        body.insert("toolConfig".to_owned(), config);
    }
    let contents = contents::write(&turns, &request.model, dialect);
    body.insert("generationConfig".to_owned(), generation(request, quirks));
    if let Some(field) = &quirks.conversation_field {
        body.insert(field.clone(), json!(request.conversation));
    }
    body.extend(quirks.extra_body.clone());
    body.insert("contents".to_owned(), Json::Array(contents));
    Json::Object(body)
}

/// Reads an answer of `model` at `provider`.
pub fn decoder(provider: &str, model: &str) -> impl Decoder + use<> {
    decode::ContentDecoder::new(provider, model)
}

fn generation(request: &ModelRequest, quirks: &Quirks) -> Json {
    let settings = &request.settings;
    let mut config = Map::new();
    let limit = settings.max_output_tokens.unwrap_or(DEFAULT_OUTPUT);
    config.insert("maxOutputTokens".to_owned(), json!(limit));
    let temperature = match quirks.temperature {
        Temperature::Omit => None,
        Temperature::Fixed(value) => Some(value),
        Temperature::AsAsked => settings.temperature,
    };
    if let Some(value) = temperature {
        config.insert("temperature".to_owned(), json!(value));
    }
    let thinking = match &quirks.reasoning {
        ReasoningStyle::Omit => None,
        // The other styles are fields of other protocols.
        ReasoningStyle::Native
        | ReasoningStyle::Effort { .. }
        | ReasoningStyle::Object { .. }
        | ReasoningStyle::Verbosity { .. }
        | ReasoningStyle::ThinkingSwitch { .. }
        | ReasoningStyle::GoogleConfig
        | ReasoningStyle::Local
        | ReasoningStyle::Adaptive => settings
            .effort
            .and_then(|effort| family::thinking_config(&request.model, effort)),
    };
    if let Some(thinking) = thinking {
        config.insert("thinkingConfig".to_owned(), thinking);
    }
    Json::Object(config)
}

/// The tools; of several with one name the first counts, because names must be unique.
fn declarations(specs: &Arc<[ToolSpec]>, dialect: &Dialect<'_>) -> Vec<Json> {
    let schemas = dialect.schemas.of(specs, SchemaTarget::Gemini);
    let mut names = HashSet::new();
    let specs = specs.iter().zip(schemas.iter());
    specs
        .filter(|(spec, _)| names.insert(spec.name.as_str()))
        .map(|(spec, parameters)| {
            let mut declaration = json!({ "name": spec.name, "description": spec.description });
            // An object without properties is rejected; a tool without parameters is not.
            if parameters["properties"] != json!({}) {
                declaration["parameters"] = parameters.clone();
            }
            declaration
        })
        .collect()
}
