//! The messages of a program, one on each line.

use rmcp::model::ServerJsonRpcMessage;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

use super::overlong::{Collected, Collector, instead};
use super::reading::parse;

/// Reads messages. What is not one is left out: programs print all kinds of things.
pub(super) struct Lines<R> {
    inner: BufReader<R>,
    collector: Collector,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(super) fn new(inner: R, limit: usize) -> Self {
        Self {
            inner: BufReader::new(inner),
            collector: Collector::new(limit),
        }
    }

    /// The next message; nothing when there will be none. May be dropped at any time: half a line is kept.
    pub(super) async fn next(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            let available = match self.inner.fill_buf().await {
                Ok([]) => return None,
                Ok(available) => available,
                Err(error) => {
                    tracing::debug!(%error, "a program's output cannot be read");
                    return None;
                }
            };
            let end = available.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(available.len(), |end| end + 1);
            self.collector
                .add(available.get(..taken).unwrap_or(available));
            self.inner.consume(taken);
            if end.is_none() {
                continue;
            }
            match self.collector.take() {
                Collected::TooLong(Some(answer)) => return Some(*answer),
                Collected::TooLong(None) => {}
                Collected::Message(line) if line.trim_ascii().is_empty() => {}
                Collected::Message(line) => match parse(&line) {
                    Ok(message) => return Some(message),
                    Err(error) => {
                        tracing::debug!(%error, "a line is not a message");
                        if let Some(answer) = instead(&line, &error) {
                            return Some(answer);
                        }
                    }
                },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn read(text: &str) -> Vec<String> {
        let mut lines = Lines::new(text.as_bytes(), 80);
        let mut all = Vec::new();
        while let Some(message) = lines.next().await {
            all.push(serde_json::to_string(&message).unwrap());
        }
        all
    }

    #[tokio::test]
    async fn what_is_not_a_message_or_too_long_does_not_end_the_reading() {
        let fine = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
        let long = format!(
            r#"{{"jsonrpc":"2.0","id":5,"result":"{}"}}"#,
            "x".repeat(600)
        );
        let text = format!("\u{feff}{fine}\nnoise\n\n{{\"half\": \n{long}\r\n{fine}\r\n{fine}");
        let read = read(&text).await;
        assert_eq!(
            (read.len(), &*read[0], &*read[2]),
            (3, fine, fine),
            "{read:?}"
        );
        assert!(read[1].contains("80 bytes"), "{}", read[1]);
    }
}
