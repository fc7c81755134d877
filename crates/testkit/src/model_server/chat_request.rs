//! The parts of a chat completion request that a script looks at.

use serde_json::Value;

/// What a completion request says, as far as matching and answering need it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ChatRequest {
    pub(super) model: String,
    pub(super) wants_stream: bool,
    pub(super) wants_usage: bool,
    pub(super) offers_tools: bool,
    pub(super) last_user: Option<String>,
}

impl ChatRequest {
    pub(super) fn from_json(body: &Value) -> Self {
        Self {
            model: body["model"].as_str().unwrap_or_default().to_owned(),
            wants_stream: body["stream"] == true,
            wants_usage: body["stream_options"]["include_usage"] == true,
            offers_tools: body["tools"]
                .as_array()
                .is_some_and(|tools| !tools.is_empty()),
            last_user: last_user_message(&body["messages"]),
        }
    }
}

fn last_user_message(messages: &Value) -> Option<String> {
    let message = messages
        .as_array()?
        .iter()
        .rfind(|message| message["role"] == "user")?;
    match &message["content"] {
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => {
            let texts: Vec<&str> = parts
                .iter()
                .filter_map(|part| part["text"].as_str())
                .collect();
            Some(texts.join("\n"))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
    }
}
