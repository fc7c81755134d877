//! The parts of a model request that a script looks at, read from any of the protocols.

use serde_json::Value;

use super::protocol::Protocol;

/// What a completion request says, as far as matching and answering need it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ModelRequest {
    pub(super) protocol: Protocol,
    pub(super) model: String,
    pub(super) delivery: Delivery,
    /// Only chat completions leave the choice; the others always tell.
    pub(super) wants_usage: bool,
    pub(super) offers_tools: bool,
    pub(super) last_user: Option<String>,
    /// The system prompt of chat completions.
    pub(super) system: Option<String>,
    /// The last message of chat completions, whoever it is from.
    pub(super) last_message: Option<String>,
}

/// In which form the answer is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Delivery {
    /// One JSON document.
    Document,
    /// The stream of the protocol.
    Stream,
    /// One JSON array written piece by piece: what Gemini streams unless asked for events.
    Array,
}

impl ModelRequest {
    /// Reads a request; `target` is its path and query.
    pub(super) fn read(protocol: Protocol, target: &str, body: &Value) -> Self {
        match protocol {
            Protocol::ChatCompletions => Self {
                wants_usage: body["stream_options"]["include_usage"] == true,
                system: system(&body["messages"]),
                last_message: body["messages"]
                    .as_array()
                    .and_then(|messages| text_of(&messages.last()?["content"])),
                ..Self::plain(protocol, body, last_user(&body["messages"], "content"))
            },
            Protocol::Responses => {
                let said = match &body["input"] {
                    Value::String(text) => Some(text.clone()),
                    items => last_user(items, "content"),
                };
                Self::plain(protocol, body, said)
            }
            Protocol::Anthropic => {
                let said = last_user(&body["messages"], "content");
                let plain = Self::plain(protocol, body, said);
                match Protocol::is_invoked(target) {
                    true => Self {
                        model: in_path(target).0,
                        delivery: in_path(target).1,
                        ..plain
                    },
                    false => plain,
                }
            }
            Protocol::Gemini => gemini(target, body),
            Protocol::Converse => converse(target, body),
        }
    }

    /// The shape the protocols with everything in the body have in common.
    fn plain(protocol: Protocol, body: &Value, last_user: Option<String>) -> Self {
        Self {
            protocol,
            model: body["model"].as_str().unwrap_or_default().to_owned(),
            delivery: if body["stream"] == true {
                Delivery::Stream
            } else {
                Delivery::Document
            },
            wants_usage: true,
            offers_tools: has_items(&body["tools"]),
            last_user,
            system: None,
            last_message: None,
        }
    }
}

fn gemini(target: &str, body: &Value) -> ModelRequest {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let last = path.rsplit('/').next().unwrap_or_default();
    let (model, action) = last.rsplit_once(':').unwrap_or((last, ""));
    let delivery = match action {
        "streamGenerateContent" if query.split('&').any(|pair| pair == "alt=sse") => {
            Delivery::Stream
        }
        "streamGenerateContent" => Delivery::Array,
        _ => Delivery::Document,
    };
    let tools = body["tools"].as_array();
    ModelRequest {
        protocol: Protocol::Gemini,
        model: percent_decoded(model),
        delivery,
        wants_usage: true,
        offers_tools: tools.is_some_and(|tools| {
            tools
                .iter()
                .any(|tool| has_items(&tool["functionDeclarations"]))
        }),
        last_user: last_user(&body["contents"], "parts"),
        system: None,
        last_message: None,
    }
}

/// The model, and how the answer is wanted, where Amazon has both in the path.
fn in_path(target: &str) -> (String, Delivery) {
    let path = target.split('?').next().unwrap_or_default();
    let mut segments = path.rsplit('/');
    let delivery = match segments.next() {
        Some(verb) if verb.ends_with("-stream") => Delivery::Stream,
        _ => Delivery::Document,
    };
    (
        percent_decoded(segments.next().unwrap_or_default()),
        delivery,
    )
}

fn converse(target: &str, body: &Value) -> ModelRequest {
    let (model, delivery) = in_path(target);
    ModelRequest {
        protocol: Protocol::Converse,
        model,
        delivery,
        wants_usage: true,
        offers_tools: has_items(&body["toolConfig"]["tools"]),
        last_user: last_user(&body["messages"], "content"),
        system: None,
        last_message: None,
    }
}

/// What the user said last. Messages that only carry tool results do not count, because in chat
/// completions those are not the user's either.
fn last_user(messages: &Value, content: &str) -> Option<String> {
    let message = messages.as_array()?.iter().rfind(|message| {
        let parts = message[content].as_array();
        let only_results =
            parts.is_some_and(|parts| !parts.is_empty() && parts.iter().all(is_tool_result));
        message["role"] == "user" && !only_results
    })?;
    text_of(&message[content])
}

fn system(messages: &Value) -> Option<String> {
    let first = messages.as_array()?.first()?;
    let speaks = matches!(first["role"].as_str(), Some("system" | "developer"));
    speaks.then(|| text_of(&first["content"])).flatten()
}

fn text_of(content: &Value) -> Option<String> {
    match content {
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

fn is_tool_result(part: &Value) -> bool {
    part["type"] == "tool_result"
        || part.get("functionResponse").is_some()
        || part.get("toolResult").is_some()
}

fn has_items(value: &Value) -> bool {
    value.as_array().is_some_and(|items| !items.is_empty())
}

/// Undoes percent-encoding; what is not a valid escape stays as it is.
fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('%') {
        bytes.extend_from_slice(before.as_bytes());
        let escaped = after
            .get(..2)
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(escaped.unwrap_or(b'%'));
        rest = match escaped {
            Some(_) => after.get(2..).unwrap_or_default(),
            None => after,
        };
    }
    bytes.extend_from_slice(rest.as_bytes());
    String::from_utf8_lossy(&bytes).into_owned()
}
