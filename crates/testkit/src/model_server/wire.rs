//! Putting an answer on the wire at the scripted pace.

use std::convert::Infallible;
use std::future;
use std::io;

use axum::body::{Body, Bytes};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use futures_util::stream;

use super::step::{End, Timing};

/// A response ready to be sent.
pub(super) struct Plan {
    pub(super) status: u16,
    pub(super) content_type: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) frames: Vec<Bytes>,
    /// Sent with chunked encoding even when it could be sent at once.
    pub(super) streamed: bool,
}

impl Plan {
    pub(super) fn json(status: u16, body: &serde_json::Value) -> Self {
        Self {
            status,
            content_type: "application/json".to_owned(),
            headers: Vec::new(),
            frames: vec![body.to_string().into()],
            streamed: false,
        }
    }

    /// Server-sent events.
    pub(super) fn events(frames: Vec<String>) -> Self {
        Self::stream("text/event-stream; charset=utf-8", frames)
    }

    /// A stream of any kind.
    pub(super) fn stream(
        content_type: &str,
        frames: impl IntoIterator<Item = impl Into<Bytes>>,
    ) -> Self {
        Self {
            status: 200,
            content_type: content_type.to_owned(),
            headers: Vec::new(),
            frames: frames.into_iter().map(Into::into).collect(),
            streamed: true,
        }
    }

    /// Sends with the given timing; waits out the pause before the headers.
    pub(super) async fn send(self, timing: Timing) -> Response {
        if !timing.before_headers.is_zero() {
            tokio::time::sleep(timing.before_headers).await;
        }
        let at_once = timing
            == Timing {
                before_headers: timing.before_headers,
                ..Timing::default()
            };
        let body = if at_once && !self.streamed {
            Body::from(self.frames.concat())
        } else {
            timed_body(self.frames, timing)
        };
        let mut response = Response::new(body);
        *response.status_mut() =
            StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let content_type = ("content-type".to_owned(), self.content_type);
        for (name, value) in self.headers.into_iter().chain([content_type]) {
            // `Scenario::check` has refused what would not parse here.
            if let (Ok(name), Ok(value)) =
                (name.parse::<HeaderName>(), value.parse::<HeaderValue>())
            {
                response.headers_mut().entry(name).or_insert(value);
            }
        }
        response
            .headers_mut()
            .insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        response
    }
}

/// A server-sent event without a name.
pub(super) fn data_frame(payload: &str) -> String {
    format!("data: {payload}\n\n")
}

/// A server-sent event with a name.
pub(super) fn event_frame(name: &str, payload: &str) -> String {
    format!("event: {name}\ndata: {payload}\n\n")
}

/// Where a timed body stands.
struct Progress {
    pieces: std::vec::IntoIter<Bytes>,
    timing: Timing,
    started: bool,
}

fn timed_body(mut frames: Vec<Bytes>, timing: Timing) -> Body {
    if let End::CloseAfter(count) | End::HangAfter(count) = timing.end {
        frames.truncate(count);
    }
    let pieces = match timing.write_bytes {
        Some(size) => recut(&frames, size),
        None => frames,
    };
    let progress = Progress {
        pieces: pieces.into_iter(),
        timing,
        started: false,
    };
    Body::from_stream(stream::unfold(progress, next_piece))
}

async fn next_piece(mut progress: Progress) -> Option<(io::Result<Bytes>, Progress)> {
    let timing = progress.timing;
    let Some(piece) = progress.pieces.next() else {
        return match timing.end {
            End::Complete => None,
            End::HangAfter(_) => {
                let never: Infallible = future::pending().await;
                match never {}
            }
            End::CloseAfter(_) => {
                // Yielding once makes the server flush what it buffered before the cut.
                tokio::task::yield_now().await;
                let cut = io::Error::new(io::ErrorKind::ConnectionAborted, "scripted close");
                Some((Err(cut), progress))
            }
        };
    };
    if progress.started {
        if !timing.between_chunks.is_zero() {
            tokio::time::sleep(timing.between_chunks).await;
        } else if timing.write_bytes.is_some() {
            tokio::task::yield_now().await;
        }
    }
    progress.started = true;
    Some((Ok(piece), progress))
}

fn recut(frames: &[Bytes], size: usize) -> Vec<Bytes> {
    frames
        .concat()
        .chunks(size.max(1))
        .map(Bytes::copy_from_slice)
        .collect()
}
