//! From the bytes of a body to frames, by what the server says it sends.

use hermes_core::without_halves;
use serde_json::Value as Json;

use super::converse::frames::EventStream;
use super::sse::{MAX_FRAME_BYTES, SseParser};
use super::whole::Whole;
use super::{Frame, WireError};

/// Cuts a body into frames whose JSON holds whole characters only.
pub(crate) struct Framing {
    cut: Cut,
    whole: Whole,
}

/// How a body is cut into frames.
enum Cut {
    /// Server-sent events.
    Events(SseParser),
    /// Amazon's binary frames.
    Binary(EventStream),
    /// A JSON document on each line; this is the line under way.
    Lines(Vec<u8>),
    /// One JSON document.
    Document(Vec<u8>),
}

/// What was left when the body ended.
pub(crate) enum Rest {
    Frames(Vec<Frame>),
    Document(Json),
}

impl Framing {
    pub(crate) fn of(content_type: &str) -> Self {
        let content_type = content_type.to_ascii_lowercase();
        let cut = if content_type.starts_with("text/event-stream") {
            Cut::Events(SseParser::new())
        } else if content_type.starts_with("application/vnd.amazon.eventstream") {
            Cut::Binary(EventStream::new())
        } else if content_type.starts_with("application/x-ndjson") {
            Cut::Lines(Vec::new())
        } else {
            Cut::Document(Vec::new())
        };
        Self {
            cut,
            whole: Whole::default(),
        }
    }

    pub(crate) fn is_stream(&self) -> bool {
        !matches!(self.cut, Cut::Document(_))
    }

    /// The beginning of what came and is not what was announced.
    pub(crate) fn stray(&self) -> Option<&str> {
        match &self.cut {
            Cut::Events(parser) => parser.stray(),
            Cut::Binary(_) | Cut::Lines(_) | Cut::Document(_) => None,
        }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<Vec<Frame>, WireError> {
        Ok(self.whole.push(self.cut.push(bytes)?))
    }

    pub(crate) fn finish(&mut self) -> Result<Rest, WireError> {
        Ok(match self.cut.finish()? {
            Rest::Frames(frames) => {
                let mut frames = self.whole.push(frames);
                frames.extend(self.whole.finish());
                Rest::Frames(frames)
            }
            document @ Rest::Document(_) => document,
        })
    }
}

impl Cut {
    fn push(&mut self, bytes: &[u8]) -> Result<Vec<Frame>, WireError> {
        match self {
            Self::Events(parser) => parser.push(bytes),
            Self::Binary(parser) => parser.push(bytes),
            Self::Lines(held) => {
                held.extend_from_slice(bytes);
                if held.len() > MAX_FRAME_BYTES {
                    return Err(WireError::Malformed("a line has no end".to_owned()));
                }
                let Some(end) = held.iter().rposition(|byte| *byte == b'\n') else {
                    return Ok(Vec::new());
                };
                let rest = held.split_off(end + 1);
                let whole = std::mem::replace(held, rest);
                Ok(lines(&whole))
            }
            Self::Document(whole) => {
                whole.extend_from_slice(bytes);
                Ok(Vec::new())
            }
        }
    }

    fn finish(&mut self) -> Result<Rest, WireError> {
        match self {
            Self::Events(parser) => Ok(Rest::Frames(parser.finish().into_iter().collect())),
            Self::Binary(_) => Ok(Rest::Frames(Vec::new())),
            Self::Lines(held) => Ok(Rest::Frames(lines(held))),
            Self::Document(whole) => read_document(whole),
        }
    }
}

fn lines(bytes: &[u8]) -> Vec<Frame> {
    let text = String::from_utf8_lossy(bytes);
    let filled = text.lines().filter(|line| !line.trim().is_empty());
    filled
        .map(|line| Frame {
            event: None,
            data: line.to_owned(),
        })
        .collect()
}

fn read_document(whole: &[u8]) -> Result<Rest, WireError> {
    // Bytes that are no text become replacement characters, as they do in events.
    let text = String::from_utf8_lossy(whole);
    match serde_json::from_str(&without_halves(&text)) {
        Ok(document) => Ok(Rest::Document(document)),
        Err(_) if whole.iter().all(u8::is_ascii_whitespace) => Err(WireError::Empty),
        Err(_) if looks_like_events(whole) => {
            let mut parser = SseParser::new();
            let mut frames = parser.push(whole)?;
            frames.extend(parser.finish());
            Ok(Rest::Frames(frames))
        }
        Err(_) => {
            let text = String::from_utf8_lossy(whole.get(..200).unwrap_or(whole)).into_owned();
            let what = if text.trim_start().starts_with('<') {
                "a web page came instead of an answer: the address may be wrong".to_owned()
            } else {
                format!("neither JSON nor events: {}", text.trim())
            };
            Err(WireError::Malformed(what))
        }
    }
}

/// Some servers send events without saying so.
fn looks_like_events(whole: &[u8]) -> bool {
    [&b"data:"[..], b"event:", b":"]
        .iter()
        .any(|start| whole.trim_ascii_start().starts_with(start))
}
