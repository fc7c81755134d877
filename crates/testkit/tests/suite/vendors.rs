//! The smallest well-formed request of each protocol, and a reader of Amazon's frames.

use hermes_testkit::model_server::{ModelServer, Protocol};
use serde_json::{Value, json};

use super::http_client::{Response, send};

pub(crate) const ALL: [Protocol; 5] = [
    Protocol::ChatCompletions,
    Protocol::Responses,
    Protocol::Anthropic,
    Protocol::Gemini,
    Protocol::Converse,
];

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Whole,
    Streamed,
}

/// Path from the root of the server.
pub(crate) fn path(protocol: Protocol, form: Form) -> &'static str {
    match (protocol, form) {
        (Protocol::ChatCompletions, _) => "/v1/chat/completions",
        (Protocol::Responses, _) => "/v1/responses",
        (Protocol::Anthropic, _) => "/v1/messages",
        (Protocol::Gemini, Form::Whole) => "/v1beta/models/scripted:generateContent",
        (Protocol::Gemini, Form::Streamed) => {
            "/v1beta/models/scripted:streamGenerateContent?alt=sse"
        }
        (Protocol::Converse, Form::Whole) => "/model/scripted/converse",
        (Protocol::Converse, Form::Streamed) => "/model/scripted/converse-stream",
    }
}

/// A body with one user message.
pub(crate) fn body(protocol: Protocol, user: &str, form: Form) -> Value {
    let mut body = match protocol {
        Protocol::ChatCompletions => {
            json!({"model": "scripted", "messages": [{"role": "user", "content": user}]})
        }
        Protocol::Responses => {
            let input = json!([{"role": "user", "content": user}]);
            json!({"model": "scripted", "input": input, "store": false})
        }
        Protocol::Anthropic => {
            let messages = json!([{"role": "user", "content": [{"type": "text", "text": user}]}]);
            json!({"model": "scripted", "max_tokens": 4096, "messages": messages})
        }
        Protocol::Gemini => json!({"contents": [{"role": "user", "parts": [{"text": user}]}]}),
        Protocol::Converse => json!({"messages": [{"role": "user", "content": [{"text": user}]}]}),
    };
    let asks_in_body = !matches!(protocol, Protocol::Gemini | Protocol::Converse);
    if asks_in_body && form == Form::Streamed {
        body["stream"] = true.into();
    }
    body
}

/// Offers one tool in the way of the protocol.
pub(crate) fn offer_tool(protocol: Protocol, body: &mut Value) {
    let schema = json!({"type": "object", "properties": {}});
    let named = json!({"name": "terminal"});
    match protocol {
        Protocol::ChatCompletions => {
            body["tools"] = json!([{"type": "function", "function": named}]);
        }
        Protocol::Responses => {
            let tool = json!({"type": "function", "name": "terminal", "parameters": schema});
            body["tools"] = json!([tool]);
        }
        Protocol::Anthropic => {
            body["tools"] = json!([{"name": "terminal", "input_schema": schema}]);
        }
        Protocol::Gemini => body["tools"] = json!([{"functionDeclarations": [named]}]),
        Protocol::Converse => {
            let spec = json!({"name": "terminal", "inputSchema": {"json": schema}});
            body["toolConfig"] = json!({"tools": [{"toolSpec": spec}]});
        }
    }
}

pub(crate) fn ask(server: &ModelServer, protocol: Protocol, user: &str, form: Form) -> Response {
    let body = body(protocol, user, form).to_string();
    send(&server.origin(), "POST", path(protocol, form), &body)
}

/// The visible text of a whole answer.
pub(crate) fn answer_text(protocol: Protocol, answer: &Value) -> String {
    let text = match protocol {
        Protocol::ChatCompletions => &answer["choices"][0]["message"]["content"],
        Protocol::Responses => &answer["output"][0]["content"][0]["text"],
        Protocol::Anthropic => &answer["content"][0]["text"],
        Protocol::Gemini => &answer["candidates"][0]["content"]["parts"][0]["text"],
        Protocol::Converse => &answer["output"]["message"]["content"][0]["text"],
    };
    text.as_str().unwrap_or_default().to_owned()
}

/// The words of an error.
pub(crate) fn error_message(protocol: Protocol, error: &Value) -> String {
    let message = match protocol {
        Protocol::Converse => &error["message"],
        _ => &error["error"]["message"],
    };
    message.as_str().unwrap_or_default().to_owned()
}

/// One binary frame: its headers and its payload.
pub(crate) struct AmazonFrame {
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) payload: Value,
}

impl AmazonFrame {
    pub(crate) fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value)
    }
}

/// Reads frames and checks every length and checksum.
pub(crate) fn amazon_frames(mut bytes: &[u8]) -> Vec<AmazonFrame> {
    let mut frames = Vec::new();
    while !bytes.is_empty() {
        let total = number(bytes, 0);
        let headers_end = 12 + number(bytes, 4);
        assert_eq!(number(bytes, 8), checksum(&bytes[..8]), "prelude");
        let body_end = total - 4;
        assert_eq!(number(bytes, body_end), checksum(&bytes[..body_end]));
        let mut headers = Vec::new();
        let mut rest = &bytes[12..headers_end];
        while !rest.is_empty() {
            let name_end = 1 + usize::from(rest[0]);
            assert_eq!(rest[name_end], 7, "texts only");
            let length = usize::from(u16::from_be_bytes([rest[name_end + 1], rest[name_end + 2]]));
            let value_end = name_end + 3 + length;
            let text =
                |range: std::ops::Range<usize>| String::from_utf8(rest[range].to_vec()).unwrap();
            headers.push((text(1..name_end), text(name_end + 3..value_end)));
            rest = &rest[value_end..];
        }
        let payload = serde_json::from_slice(&bytes[headers_end..body_end]).unwrap();
        frames.push(AmazonFrame { headers, payload });
        bytes = &bytes[total..];
    }
    frames
}

fn number(bytes: &[u8], at: usize) -> usize {
    let bytes: [u8; 4] = bytes[at..at + 4].try_into().unwrap();
    u32::from_be_bytes(bytes).try_into().unwrap()
}

/// CRC-32 by long division over the reversed bits, unlike the server's.
fn checksum(bytes: &[u8]) -> usize {
    let mut register = u32::MAX;
    for byte in bytes {
        for bit in 0..8 {
            let carry = (register >> 31) ^ u32::from((byte >> bit) & 1);
            register = (register << 1) ^ (carry * 0x04C1_1DB7);
        }
    }
    (!register.reverse_bits()).try_into().unwrap()
}
