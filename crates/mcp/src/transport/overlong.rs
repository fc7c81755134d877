//! Answers of programs that are too long to be read: the reader drops them without a word, and whoever asked
//! would wait until his time is over. So the line is followed by an answer that says so.

use std::io;
use std::pin::Pin;
use std::sync::LazyLock;
use std::task::{Context, Poll, ready};

use regex::bytes::Regex;
use rmcp::model::{NumberOrString, ServerJsonRpcMessage};
use tokio::io::{AsyncBufRead, AsyncRead, BufReader, ReadBuf};

use super::stream::MOST_BYTES;
use crate::failure::too_long;

/// How much of both ends of a line is kept to find out what it answers.
const ENDS: usize = 256;

/// The id of an answer, where programs put it: first or last.
static FIRST: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d+)\s*,"#).ok()
});
static LAST: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#""id"\s*:\s*(\d+)\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$"#).ok()
});

/// What a program says, line by line.
pub(super) struct Overlong<R> {
    inner: BufReader<R>,
    limit: usize,
    length: usize,
    head: Vec<u8>,
    tail: Vec<u8>,
    /// What is said in the place of a line that was too long.
    instead: Vec<u8>,
}

impl<R: AsyncRead + Unpin> Overlong<R> {
    pub(super) fn new(inner: R) -> Self {
        Self {
            inner: BufReader::new(inner),
            limit: MOST_BYTES,
            length: 0,
            head: Vec::new(),
            tail: Vec::new(),
            instead: Vec::new(),
        }
    }

    fn note(&mut self, part: &[u8]) {
        self.length += part.len();
        let missing = ENDS.saturating_sub(self.head.len());
        self.head.extend(part.iter().take(missing));
        self.tail
            .extend(part.iter().skip(part.len().saturating_sub(ENDS)));
        let spare = self.tail.len().saturating_sub(ENDS);
        self.tail.drain(..spare);
        if part.last() == Some(&b'\n') {
            if self.length > self.limit {
                self.instead = self.substitute();
            }
            self.length = 0;
            self.head.clear();
            self.tail.clear();
        }
    }

    fn substitute(&self) -> Vec<u8> {
        let id = number(&FIRST, &self.head).or_else(|| number(&LAST, &self.tail));
        tracing::warn!(
            bytes = self.length,
            "a message of a server is too long and dropped"
        );
        let error = too_long(self.limit);
        let answer = ServerJsonRpcMessage::error(error, id.map(NumberOrString::Number));
        // Nobody asked for what has no number.
        let mut line = match id {
            Some(_) => serde_json::to_vec(&answer).unwrap_or_default(),
            None => Vec::new(),
        };
        line.push(b'\n');
        line
    }
}

fn number(pattern: &LazyLock<Option<Regex>>, text: &[u8]) -> Option<i64> {
    let found = pattern.as_ref()?.captures(text)?.get(1)?;
    std::str::from_utf8(found.as_bytes()).ok()?.parse().ok()
}

impl<R: AsyncRead + Unpin> AsyncRead for Overlong<R> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let own = self.get_mut();
        if !own.instead.is_empty() {
            let fits = own.instead.len().min(into.remaining());
            into.put_slice(own.instead.drain(..fits).as_slice());
            return Poll::Ready(Ok(()));
        }
        let available = ready!(Pin::new(&mut own.inner).poll_fill_buf(context))?;
        // Up to the end of the line, where something may have to be put in.
        let line = available.iter().position(|byte| *byte == b'\n');
        let fits = line
            .map_or(available.len(), |end| end + 1)
            .min(into.remaining());
        let part: Vec<u8> = available.iter().take(fits).copied().collect();
        into.put_slice(&part);
        own.note(&part);
        Pin::new(&mut own.inner).consume(fits);
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncReadExt as _;

    async fn read(text: &str) -> Vec<String> {
        let mut reader = Overlong::new(text.as_bytes());
        reader.limit = 80;
        let mut all = String::new();
        reader.read_to_string(&mut all).await.unwrap();
        all.lines().map(str::to_owned).collect()
    }

    #[tokio::test]
    async fn a_line_that_is_too_long_is_answered_for() {
        let long = "x".repeat(600);
        let fine = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
        for text in [
            format!(r#"{{"jsonrpc":"2.0","id":5,"result":"{long}"}}"#),
            format!(r#"{{"result":{{"id":7,"text":"{long}"}},"jsonrpc":"2.0","id":5}}"#),
            format!(r#"{{"result":"{long}","id":5,"jsonrpc":"2.0"}}"#),
        ] {
            let lines = read(&format!("{text}\n{fine}\n")).await;
            assert_eq!((lines.len(), &*lines[0], &*lines[2]), (3, &*text, fine));
            assert!(lines[1].contains(r#""id":5"#), "{}", lines[1]);
            assert!(lines[1].contains("80 bytes"), "{}", lines[1]);
        }
        let notice = format!(r#"{{"method":"x","params":{{"id":7}},"text":"{long}"}}"#);
        assert_eq!(read(&format!("{notice}\n{fine}\n")).await[1], "");
        assert_eq!(read(&format!("{fine}\n{fine}")).await, [fine, fine]);
    }
}
