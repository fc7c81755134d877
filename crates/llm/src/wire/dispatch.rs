//! From a protocol to its encoder, its decoder, its path and its headers.

use hermes_core::{ModelRequest, WireProtocol};
use serde_json::Value as Json;

use super::{Decoder, Dialect, anthropic, chat, converse, gemini, responses, wordy};
use crate::quirks::Quirks;

/// How Amazon's frames call themselves.
const AMAZON_FRAMES: &str = "application/vnd.amazon.eventstream";

/// What Google's services are told about who calls.
const CLIENT: &str = concat!("hermes/", env!("CARGO_PKG_VERSION"));

/// The body of a request.
pub fn encode(protocol: WireProtocol, request: &ModelRequest, dialect: &Dialect<'_>) -> Json {
    let without_tools = dialect
        .quirks
        .no_tools
        .then(|| wordy::without_tools(request));
    let request = without_tools.as_ref().unwrap_or(request);
    let mut body = match protocol {
        WireProtocol::ChatCompletions => {
            let body = chat::encode(request, dialect);
            match dialect.quirks.ollama_window {
                Some(window) => chat::ollama::body(body, window),
                None => body,
            }
        }
        WireProtocol::Responses => responses::encode(request, dialect),
        WireProtocol::Anthropic => {
            let body = anthropic::encode(request, dialect);
            match dialect.quirks.invoke {
                true => anthropic::invoke::body(body, &betas(&request.model, dialect.quirks)),
                false => body,
            }
        }
        WireProtocol::Gemini => gemini::encode(request, dialect),
        WireProtocol::Converse => converse::encode(request, dialect),
    };
    if dialect.quirks.no_streaming
        && let Some(body) = body.as_object_mut()
        && body.contains_key("stream")
    {
        body.insert("stream".to_owned(), false.into());
        body.shift_remove("stream_options");
    }
    body
}

/// What reads the answer.
pub fn decoder(protocol: WireProtocol, provider: &str, model: &str) -> Box<dyn Decoder> {
    match protocol {
        WireProtocol::ChatCompletions => Box::new(chat::decoder(provider, model)),
        WireProtocol::Responses => Box::new(responses::decoder(provider, model)),
        WireProtocol::Anthropic => Box::new(anthropic::decoder(provider, model)),
        WireProtocol::Gemini => Box::new(gemini::decoder(provider, model)),
        WireProtocol::Converse => Box::new(converse::decoder(provider, model)),
    }
}

/// The limit of an answer that a protocol sends when nobody set one; `None` where the provider has its own.
pub(crate) fn usual_output(protocol: WireProtocol, model: &str) -> Option<u32> {
    match protocol {
        WireProtocol::Anthropic => Some(anthropic::usual_output(model)),
        WireProtocol::ChatCompletions
        | WireProtocol::Responses
        | WireProtocol::Gemini
        | WireProtocol::Converse => None,
    }
}

/// Where the request goes, below the base whose path is given.
pub fn path(protocol: WireProtocol, model: &str, base: &str, quirks: &Quirks) -> String {
    match protocol {
        WireProtocol::ChatCompletions if quirks.ollama_window.is_some() => {
            // It stands beside `/v1`, not below it.
            let below = base.trim_end_matches('/').ends_with("/v1");
            if below { "../api/chat" } else { "api/chat" }.to_owned()
        }
        WireProtocol::ChatCompletions => "chat/completions".to_owned(),
        WireProtocol::Responses => "responses".to_owned(),
        WireProtocol::Anthropic if quirks.invoke => {
            at_amazon(model, quirks, ["invoke-with-response-stream", "invoke"])
        }
        WireProtocol::Anthropic if base.trim_end_matches('/').ends_with("/v1") => {
            "messages".to_owned()
        }
        WireProtocol::Anthropic => "v1/messages".to_owned(),
        WireProtocol::Gemini => {
            let model = gemini::wire_model(model);
            if quirks.no_streaming {
                format!("models/{model}:generateContent")
            } else {
                format!("models/{model}:streamGenerateContent?alt=sse")
            }
        }
        WireProtocol::Converse => at_amazon(model, quirks, ["converse-stream", "converse"]),
    }
}

fn at_amazon(model: &str, quirks: &Quirks, [stream, whole]: [&str; 2]) -> String {
    let verb = if quirks.no_streaming { whole } else { stream };
    format!("model/{}/{verb}", escaped(model))
}

/// Model ids hold colons and slashes, which must not be taken for parts of the path.
fn escaped(model: &str) -> String {
    let mut out = String::with_capacity(model.len());
    for byte in model.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// The kind of answer that is asked for.
pub fn accepts(protocol: WireProtocol, quirks: &Quirks) -> &'static str {
    match protocol {
        _ if quirks.no_streaming => "application/json",
        WireProtocol::ChatCompletions if quirks.ollama_window.is_some() => "application/x-ndjson",
        WireProtocol::Anthropic if quirks.invoke => AMAZON_FRAMES,
        WireProtocol::Converse => AMAZON_FRAMES,
        WireProtocol::ChatCompletions
        | WireProtocol::Responses
        | WireProtocol::Anthropic
        | WireProtocol::Gemini => "text/event-stream",
    }
}

/// Headers a protocol wants beside those of the provider.
pub fn headers(
    protocol: WireProtocol,
    model: &str,
    quirks: &Quirks,
) -> Vec<(&'static str, String)> {
    match protocol {
        WireProtocol::Anthropic if !quirks.invoke => {}
        WireProtocol::Gemini => return vec![("x-goog-api-client", CLIENT.to_owned())],
        WireProtocol::Anthropic
        | WireProtocol::ChatCompletions
        | WireProtocol::Responses
        | WireProtocol::Converse => return Vec::new(),
    }
    let betas = betas(model, quirks);
    let mut headers = vec![("anthropic-version", "2023-06-01".to_owned())];
    if !betas.is_empty() {
        headers.push(("anthropic-beta", betas.join(",")));
    }
    headers
}

/// The preview features that are asked for.
fn betas(model: &str, quirks: &Quirks) -> Vec<&'static str> {
    let refused: Vec<&str> = quirks.refused_betas.iter().map(String::as_str).collect();
    let wanted = anthropic::Betas {
        long_context: quirks.long_context,
        fast: quirks.extra_body.get("speed").and_then(Json::as_str) == Some("fast"),
        refused: &refused,
    };
    anthropic::betas(model, &wanted)
}
