//! Event streams with a limit for each event.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use futures_util::stream::{BoxStream, Stream, StreamExt};
use hermes_http::HttpError;
use rmcp::model::{RequestId, ServerJsonRpcMessage};
use sse_stream::{Error, Sse, SseStream};

use super::Marks;
use crate::failure::too_long;

/// Largest event of a stream, and largest answer outside of one.
pub(super) const MOST_BYTES: usize = 16 << 20;

/// Reads events from a body; an event over the limit ends the stream. When the stream answers one request,
/// that is told as its answer.
pub(super) fn events(
    body: impl Stream<Item = Result<Bytes, HttpError>> + Send + 'static,
    limit: usize,
    marks: Arc<Marks>,
    answers: Option<RequestId>,
) -> BoxStream<'static, Result<Sse, Error>> {
    let start = (EventSize::default(), false);
    let overlong = Arc::new(AtomicBool::new(false));
    let found = Arc::clone(&overlong);
    let bounded = body.scan(start, move |(size, failed), chunk| {
        let checked = match chunk {
            _ if *failed => None,
            Ok(chunk) if size.add(&chunk) <= limit => {
                marks.hear();
                Some(Ok(chunk))
            }
            Ok(_) => {
                found.store(true, Ordering::Relaxed);
                Some(Err(io::Error::other(format!(
                    "an event is larger than {limit} bytes"
                ))))
            }
            Err(error) => Some(Err(io::Error::other(error))),
        };
        *failed = !matches!(checked, Some(Ok(_)));
        std::future::ready(checked)
    });
    SseStream::from_bytes_stream(bounded)
        .map(move |event| match (&answers, event) {
            (Some(id), Err(_)) if overlong.load(Ordering::Relaxed) => {
                let answer = ServerJsonRpcMessage::error(too_long(limit), Some(id.clone()));
                let answer = serde_json::to_string(&answer).unwrap_or_default();
                Ok(Sse::default().data(answer))
            }
            (_, event) => event,
        })
        .boxed()
}

/// Counts the bytes since the last empty line, which ends an event.
#[derive(Default)]
struct EventSize {
    bytes: usize,
    in_line: bool,
}

impl EventSize {
    /// The largest size an event had within this chunk.
    fn add(&mut self, chunk: &[u8]) -> usize {
        let mut largest = self.bytes;
        for byte in chunk {
            self.bytes += 1;
            match byte {
                b'\r' => {}
                b'\n' if !self.in_line => self.bytes = 0,
                b'\n' => self.in_line = false,
                _ => self.in_line = true,
            }
            largest = largest.max(self.bytes);
        }
        largest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(chunks: &[&'static str], limit: usize) -> Vec<Option<String>> {
        let chunks: Vec<_> = chunks
            .iter()
            .map(|chunk| Ok(Bytes::from_static(chunk.as_bytes())))
            .collect();
        let body = futures_util::stream::iter(chunks);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        runtime.block_on(async {
            events(body, limit, Arc::default(), None)
                .map(|event| event.ok().and_then(|event| event.data))
                .collect()
                .await
        })
    }

    #[test]
    fn many_small_events_pass_and_a_large_one_does_not() {
        let small = ["data: ab\n\n", "data: cd\r\n\r\n", "da", "ta: ef\n\n"];
        let texts = |items: &[&str]| -> Vec<Option<String>> {
            items.iter().map(|text| Some((*text).to_owned())).collect()
        };
        assert_eq!(read(&small, 12), texts(&["ab", "cd", "ef"]));
        assert_eq!(read(&["data: abcdefgh", "ijklmnop\n\n"], 12), [None]);
    }
}
