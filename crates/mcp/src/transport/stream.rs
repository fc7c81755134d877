//! Event streams with a limit for each event.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::stream::{self, BoxStream, Stream, StreamExt};
use rmcp::model::{RequestId, ServerJsonRpcMessage};
use sse_stream::{Error, Sse, SseStream};

use super::Marks;
use super::overlong::{Collected, Collector};
use super::reading::prepared;
use crate::failure::too_long;

/// Largest event of a stream, and largest answer outside of one.
pub(super) const MOST_BYTES: usize = 16 << 20;

/// Reads events from a body. An event over the limit is left out, and an answer that says so takes its place
/// where the event was one. On a stream that answers one request this happens at once and ends the stream.
pub(super) fn events(
    body: impl Stream<Item = io::Result<Bytes>> + Send + 'static,
    limit: usize,
    marks: Arc<Marks>,
    answers: Option<RequestId>,
) -> BoxStream<'static, Result<Sse, Error>> {
    let cutter = Cutter {
        body: body.boxed(),
        collector: Collector::new(limit),
        in_line: false,
        after_return: false,
        ready: VecDeque::new(),
        over: false,
        limit,
        marks,
        answers,
    };
    let whole = stream::unfold(cutter, |mut cutter| async {
        let next = cutter.next().await?;
        Some((next, cutter))
    });
    SseStream::from_bytes_stream(whole.boxed())
        .map(|event| {
            event.map(|mut event| {
                event.data = event.data.map(prepared);
                event
            })
        })
        .boxed()
}

/// Cuts a body where events end.
struct Cutter {
    body: BoxStream<'static, io::Result<Bytes>>,
    collector: Collector,
    /// Whether the present line has something on it; an empty one ends an event.
    in_line: bool,
    /// Whether the last byte was a carriage return: a line feed after it ends nothing more.
    after_return: bool,
    ready: VecDeque<Bytes>,
    over: bool,
    limit: usize,
    marks: Arc<Marks>,
    answers: Option<RequestId>,
}

impl Cutter {
    async fn next(&mut self) -> Option<io::Result<Bytes>> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(Ok(event));
            }
            if self.over {
                return None;
            }
            match self.body.next().await {
                Some(Ok(chunk)) => {
                    self.marks.hear();
                    self.cut(&chunk);
                    if let Some(id) = &self.answers
                        && self.collector.is_too_long()
                    {
                        let answer = too_long(self.limit);
                        let answer = ServerJsonRpcMessage::error(answer, Some(id.clone()));
                        self.ready.extend(as_event(&answer));
                        self.over = true;
                    }
                }
                Some(Err(error)) => {
                    self.over = true;
                    return Some(Err(error));
                }
                // Half an event is none.
                None => self.over = true,
            }
        }
    }

    /// Lines end with a carriage return, a line feed, or both. What is collected has line feeds only, so that
    /// an event is complete as soon as its last line ends, whatever follows.
    fn cut(&mut self, chunk: &[u8]) {
        for line in chunk.split_inclusive(|byte| matches!(byte, b'\r' | b'\n')) {
            let (text, end) = match line.split_last() {
                Some((end @ (b'\r' | b'\n'), text)) => (text, Some(*end)),
                Some(_) | None => (line, None),
            };
            let after_return = std::mem::replace(&mut self.after_return, end == Some(b'\r'));
            if after_return && line == b"\n" {
                continue;
            }
            self.collector.add(text);
            self.in_line |= !text.is_empty();
            if end.is_some() {
                self.collector.add(b"\n");
                if !std::mem::take(&mut self.in_line) {
                    self.finish();
                }
            }
        }
    }

    fn finish(&mut self) {
        match self.collector.take() {
            Collected::Message(event) => self.ready.push_back(event.into()),
            Collected::TooLong(answer) => {
                self.ready
                    .extend(answer.and_then(|answer| as_event(&answer)));
            }
        }
    }
}

fn as_event(message: &ServerJsonRpcMessage) -> Option<Bytes> {
    let message = serde_json::to_string(message).ok()?;
    Some(format!("data: {message}\n\n").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(
        chunks: &[&'static str],
        limit: usize,
        answers: Option<RequestId>,
    ) -> Vec<Option<String>> {
        let chunks: Vec<_> = chunks
            .iter()
            .map(|chunk| Ok(Bytes::from_static(chunk.as_bytes())))
            .collect();
        let body = stream::iter(chunks);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        runtime.block_on(async {
            events(body, limit, Arc::default(), answers)
                .map(|event| event.ok().and_then(|event| event.data))
                .collect()
                .await
        })
    }

    // MCP-83
    #[test]
    fn an_event_that_is_too_large_is_answered_for_and_the_next_one_is_read() {
        let small = [
            "data: ab\n\n",
            "data: cd\r\n\r\n",
            "da",
            "ta: ef\n\ndata: gh\n",
        ];
        let read = |chunks: &[&'static str], answers| -> Vec<String> {
            let events = read(chunks, 12, answers).into_iter();
            events.map(Option::unwrap).collect()
        };
        assert_eq!(read(&small, None), ["ab", "cd", "ef"]);
        // A carriage return alone ends a line too, and one event may not wait for the next.
        let returns = [
            "data: ab\r\rdata: cd\r",
            "\r",
            "data: ef\r\n\r",
            "\ndata: gh\r\r",
        ];
        assert_eq!(read(&returns, None), ["ab", "cd", "ef", "gh"]);
        let long = ["data: abcdefgh", "ijklmnop\n\ndata: cd\n\n"];
        assert_eq!(read(&long, None), ["cd"]);
        let long = ["data: {\"id\": 5, \"result\":", "{}}\n", "\ndata: cd\n\n"];
        let told = read(&long, None);
        assert!(
            told[0].contains("\"id\":5") && told[0].contains("12 bytes"),
            "{told:?}"
        );
        assert_eq!(told[1..], ["cd"]);
        let told = read(&["data: abcdefgh", "ijklmnop"], Some(RequestId::Number(7)));
        assert!(told.len() == 1 && told[0].contains("\"id\":7"), "{told:?}");
    }
}
