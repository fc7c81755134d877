//! OpenAI Responses: a conversation as a list of items.

mod decode;
mod input;
mod stream;

use hermes_core::{Effort, ModelRequest, ToolChoice};
use serde_json::{Map, Value as Json, json};

use super::Dialect;
use super::chat::arguments::{canonical, derived};
use super::chat::reasoning::{nearest, said};
use super::chat::{finish, temperature};
use crate::quirks::{ReasoningReplay, ReasoningStyle};

pub use decode::decoder;

/// What models know unless their profile says otherwise.
const LEVELS: [&str; 4] = ["low", "medium", "high", "xhigh"];

/// Sent when the user set no effort.
const USUAL_LEVEL: &str = "medium";

/// The body of a request. The items come last, so that a longer conversation begins with the bytes of a
/// shorter one. Nothing is stored at the provider.
pub fn encode(request: &ModelRequest, dialect: &Dialect<'_>) -> Json {
    let quirks = dialect.quirks;
    let settings = &request.settings;
    let mut body = Map::new();
    body.insert("model".to_owned(), request.model.clone().into());
    body.insert("stream".to_owned(), true.into());
    body.insert("store".to_owned(), false.into());
    if quirks.replay != ReasoningReplay::Never {
        body.insert("include".to_owned(), json!(["reasoning.encrypted_content"]));
    }
    if let Some(level) = level(settings.effort, &quirks.reasoning) {
        let mut reasoning = json!({"effort": level});
        if !quirks.no_summaries {
            reasoning["summary"] = "auto".into();
        }
        body.insert("reasoning".to_owned(), reasoning);
    }
    if let Some(most) = settings.max_output_tokens {
        body.insert("max_output_tokens".to_owned(), most.into());
    }
    if let Some(temperature) = temperature(settings.temperature, quirks.temperature) {
        body.insert("temperature".to_owned(), temperature.into());
    }
    let tools = tools(request, dialect);
    body.insert(
        "prompt_cache_key".to_owned(),
        cache_key(&request.system, &tools).into(),
    );
    if !request.system.is_empty() {
        body.insert("instructions".to_owned(), request.system.as_ref().into());
    }
    if !tools.is_empty() {
        let choice = match settings.tool_choice {
            ToolChoice::Auto => "auto",
            ToolChoice::None => "none",
            ToolChoice::Required => "required",
        };
        body.insert("tool_choice".to_owned(), choice.into());
        body.insert("parallel_tool_calls".to_owned(), true.into());
        body.insert("tools".to_owned(), tools.into());
    }
    body.insert("input".to_owned(), input::items(request, dialect));
    finish(body, "input", request, quirks)
}

fn level(effort: Option<Effort>, style: &ReasoningStyle) -> Option<&str> {
    match style {
        ReasoningStyle::Omit => None,
        ReasoningStyle::Effort {
            levels,
            default,
            unsaid,
        } => match effort {
            Some(effort) => said(effort, levels, unsaid),
            None => default.as_deref(),
        },
        // The other styles are how chat completions ask; here there is one way.
        ReasoningStyle::Native
        | ReasoningStyle::Object { .. }
        | ReasoningStyle::Verbosity { .. }
        | ReasoningStyle::ThinkingSwitch { .. }
        | ReasoningStyle::GoogleConfig
        | ReasoningStyle::Local
        | ReasoningStyle::Adaptive => match effort {
            Some(effort) => nearest(effort, &LEVELS),
            None => Some(USUAL_LEVEL),
        },
    }
}

fn tools(request: &ModelRequest, dialect: &Dialect<'_>) -> Vec<Json> {
    let schemas = dialect.schemas.of(&request.tools, dialect.quirks.schema);
    let tools = request.tools.iter().zip(schemas.iter());
    tools
        .map(|(tool, schema)| {
            if dialect.quirks.own_tools.contains(&tool.name) {
                return json!({"type": tool.name});
            }
            json!({
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "strict": false,
                "parameters": schema,
            })
        })
        .collect()
}

/// Sends conversations with the same prefix to the same cache.
fn cache_key(system: &str, tools: &[Json]) -> String {
    let mut texts: Vec<String> = tools.iter().map(canonical).collect();
    texts.sort();
    let mut parts = vec![system];
    parts.extend(texts.iter().map(String::as_str));
    derived("pck_", &parts)
}
