//! Messages that are too long to be read, or cannot be read at all. Whoever waits for one would wait until his time
//! is over, so an answer that says so takes its place.

use std::sync::LazyLock;

use regex::bytes::Regex;
use rmcp::model::{NumberOrString, ServerJsonRpcMessage};

use crate::failure::{too_long, unreadable};

/// How much of both ends of a message is kept to find out what it answers.
const ENDS: usize = 256;

/// What requests and notices have, near their beginning.
const METHOD: &[u8] = b"\"method\"";

/// The id of an answer, where servers put it: first or last. On event streams fields stand around it.
static FIRST: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r#"^(?:(?:event|id|retry):[^\n]*\n)*(?:data:)?\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d+)\s*,"#,
    )
    .ok()
});
static LAST: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#""id"\s*:\s*(\d+)\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$"#).ok()
});

/// Collects one message after the other, none of them beyond the limit.
pub(super) struct Collector {
    limit: usize,
    length: usize,
    /// The message; its beginning only, once it is too long.
    message: Vec<u8>,
    /// The end of one that is too long.
    tail: Vec<u8>,
}

/// What was collected.
pub(super) enum Collected {
    /// A message.
    Message(Vec<u8>),
    /// One that was too long, as the answer that takes its place. Nobody asked for what has no number.
    TooLong(Option<Box<ServerJsonRpcMessage>>),
}

impl Collector {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            length: 0,
            message: Vec::new(),
            tail: Vec::new(),
        }
    }

    /// Adds a part of the present message.
    pub(super) fn add(&mut self, part: &[u8]) {
        let was_within = self.length <= self.limit;
        self.length = self.length.saturating_add(part.len());
        if self.length <= self.limit {
            self.message.extend_from_slice(part);
            return;
        }
        if was_within {
            self.message.extend(part.iter().take(ENDS));
            self.tail = last(&self.message).to_vec();
            self.message.truncate(ENDS);
            self.message.shrink_to_fit();
        }
        self.tail.extend_from_slice(last(part));
        self.tail = last(&self.tail).to_vec();
    }

    /// Whether the present message is beyond the limit already.
    pub(super) fn is_too_long(&self) -> bool {
        self.length > self.limit
    }

    /// The present message is complete; the next one begins.
    pub(super) fn take(&mut self) -> Collected {
        let message = std::mem::take(&mut self.message);
        let tail = std::mem::take(&mut self.tail);
        let length = std::mem::take(&mut self.length);
        if length <= self.limit {
            return Collected::Message(message);
        }
        tracing::warn!(
            bytes = length,
            "a message of a server is too long and dropped"
        );
        let id = answered(&message, &tail);
        Collected::TooLong(id.map(|id| {
            let id = Some(NumberOrString::Number(id));
            Box::new(ServerJsonRpcMessage::error(too_long(self.limit), id))
        }))
    }
}

/// What takes the place of an answer that is no message; nothing where it is no answer, as far as can be seen.
pub(super) fn instead(message: &[u8], error: &serde_json::Error) -> Option<ServerJsonRpcMessage> {
    let id = answered(message, last(message))?;
    let id = Some(NumberOrString::Number(id));
    Some(ServerJsonRpcMessage::error(unreadable(error), id))
}

/// The number of the request that a message answers. Requests of the server have numbers of their own.
fn answered(beginning: &[u8], end: &[u8]) -> Option<i64> {
    let beginning = beginning.get(..ENDS).unwrap_or(beginning);
    let is_request = beginning
        .windows(METHOD.len())
        .any(|window| window == METHOD);
    if is_request {
        return None;
    }
    number(&FIRST, beginning).or_else(|| number(&LAST, end))
}

fn last(bytes: &[u8]) -> &[u8] {
    bytes
        .get(bytes.len().saturating_sub(ENDS)..)
        .unwrap_or(bytes)
}

fn number(pattern: &LazyLock<Option<Regex>>, text: &[u8]) -> Option<i64> {
    let found = pattern.as_ref()?.captures(text)?.get(1)?;
    std::str::from_utf8(found.as_bytes()).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collected(text: &str, step: usize) -> Option<String> {
        let mut collector = Collector::new(80);
        for part in text.as_bytes().chunks(step) {
            collector.add(part);
        }
        match collector.take() {
            Collected::Message(message) => Some(String::from_utf8(message).unwrap()),
            Collected::TooLong(answer) => answer.map(|one| serde_json::to_string(&one).unwrap()),
        }
    }

    // MCP-83
    #[test]
    fn an_answer_that_cannot_be_read_is_answered_for_and_a_request_is_not() {
        let error = serde_json::from_str::<bool>("{").unwrap_err();
        let told = |text: &str| instead(text.as_bytes(), &error).is_some();
        assert!(told(r#"{"jsonrpc":"2.0","id":5,"result":{{}"#));
        assert!(told(r#"{"result":{"a":}},"jsonrpc":"2.0","id":5}"#));
        assert!(!told(
            r#"{"jsonrpc":"2.0","id":5,"method":"roots/list","params":}"#
        ));
        assert!(!told("Listening on port 5"));
    }

    // MCP-83
    #[test]
    fn a_message_that_is_too_long_is_answered_for() {
        let long = "x".repeat(600);
        for text in [
            format!(r#"{{"jsonrpc":"2.0","id":5,"result":"{long}"}}"#),
            format!(r#"{{"result":{{"id":7,"text":"{long}"}},"jsonrpc":"2.0","id":5}}"#),
            format!(r#"{{"result":"{long}","id":5,"jsonrpc":"2.0"}}"#),
            format!(
                "event: message\ndata: {{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":\"{long}\"}}\n\n"
            ),
        ] {
            for step in [7, 300, 10_000] {
                let answer = collected(&text, step).unwrap();
                assert!(answer.contains(r#""id":5"#), "{answer}");
                assert!(answer.contains("80 bytes"), "{answer}");
            }
        }
        let notice = format!(r#"{{"method":"x","params":{{"id":7}},"text":"{long}"}}"#);
        assert_eq!(collected(&notice, 7), None);
        let fine = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
        assert_eq!(collected(fine, 7).as_deref(), Some(fine));
    }
}
