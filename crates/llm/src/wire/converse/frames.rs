//! The binary frames of Amazon's event streams.
//!
//! A frame is the length of the whole, the length of the headers, a checksum of those two, the headers,
//! the payload, and a checksum of all that came before. Numbers are big-endian, checksums are CRC-32.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hermes_core::without_halves;
use serde_json::{Map, Value as Json, json};

use crate::error::VendorError;
use crate::wire::{Frame, WireError};

/// The event name of frames that report a failure; their data names its kind under `__type`.
pub const EXCEPTION: &str = "exception";

/// Frames that carry an event of the model's own protocol, packed up.
const CHUNK: &str = "chunk";

/// Two lengths and their checksum.
const PRELUDE: usize = 12;
const CHECKSUM: usize = 4;
/// A frame with nothing in it.
const SMALLEST: usize = PRELUDE + CHECKSUM;
/// Largest frame that is read. The service's own limit for payloads, and room for headers.
const LARGEST: usize = 24 * 1024 * 1024 + 128 * 1024 + SMALLEST;

/// Cuts a body into frames, wherever the pieces of it end.
#[derive(Debug, Default)]
pub struct EventStream {
    held: Vec<u8>,
}

impl EventStream {
    /// At the start of a body.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next bytes and gives the frames they complete.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Vec<Frame>, WireError> {
        self.held.extend_from_slice(bytes);
        let mut frames = Vec::new();
        let mut used = 0;
        while let Some(rest) = self.held.get(used..)
            && let Some(length) = length(rest)?
            && let Some(whole) = rest.get(..length)
        {
            frames.push(read(whole)?);
            used += length;
        }
        self.held.drain(..used);
        Ok(frames)
    }
}

/// The length of the frame that begins here, once its prelude is complete.
fn length(bytes: &[u8]) -> Result<Option<usize>, WireError> {
    let Some(prelude) = bytes.get(..PRELUDE) else {
        return Ok(None);
    };
    let mut reader = Reader(prelude);
    let total = reader.size()?;
    let headers = reader.size()?;
    if reader.number()? != crc32fast::hash(prelude.get(..8).unwrap_or_default()) {
        return Err(broken("the checksum of a frame's lengths is wrong"));
    }
    if !(SMALLEST..=LARGEST).contains(&total) || headers > total - SMALLEST {
        return Err(broken("the lengths of a frame are impossible"));
    }
    Ok(Some(total))
}

fn read(whole: &[u8]) -> Result<Frame, WireError> {
    let (content, checksum) = whole
        .split_at_checked(whole.len().saturating_sub(CHECKSUM))
        .ok_or_else(too_short)?;
    if Reader(checksum).number()? != crc32fast::hash(content) {
        return Err(broken("the checksum of a frame is wrong"));
    }
    let mut reader = Reader(content);
    reader.take(4)?;
    let size = reader.size()?;
    reader.take(4)?;
    let headers = Headers::read(reader.take(size)?)?;
    // Bytes that are no text become replacement characters, as they do in events.
    match headers.frame(&String::from_utf8_lossy(reader.0)) {
        Frame { event, data } if event.as_deref() == Some(CHUNK) => unpacked(&data),
        frame => Ok(frame),
    }
}

/// The event inside a chunk, which names itself.
fn unpacked(chunk: &str) -> Result<Frame, WireError> {
    let chunk: Json = serde_json::from_str(chunk).map_err(|_| broken("a chunk is not JSON"))?;
    let packed = chunk["bytes"].as_str().unwrap_or_default();
    let bytes = STANDARD.decode(packed);
    let bytes = bytes.map_err(|_| broken("a chunk holds no event"))?;
    Ok(Frame {
        event: None,
        data: String::from_utf8_lossy(&bytes).into_owned(),
    })
}

/// An exception, with the words and the status of the model's own server where they are told.
pub(in crate::wire) fn failure(data: &Json) -> WireError {
    let mut said = VendorError::from_body(data).unwrap_or_default();
    said.code = data["__type"].as_str().map(str::to_owned);
    if let Some(original) = data["originalMessage"].as_str()
        && !said.message.contains(original)
    {
        said.message = format!("{}: {original}", said.message);
    }
    if let Some(status) = data["originalStatusCode"].as_u64() {
        said.status = u16::try_from(status).ok();
    }
    WireError::Vendor(said)
}

/// The headers that matter.
#[derive(Default)]
struct Headers<'a> {
    message_type: &'a str,
    event_type: Option<&'a str>,
    exception_type: Option<&'a str>,
    error_code: Option<&'a str>,
    error_message: Option<&'a str>,
}

impl<'a> Headers<'a> {
    fn read(bytes: &'a [u8]) -> Result<Self, WireError> {
        let mut headers = Self::default();
        let mut reader = Reader(bytes);
        while !reader.0.is_empty() {
            let name = reader.short_text()?;
            let value = reader.value()?;
            match (name, value) {
                (":message-type", Some(value)) => headers.message_type = value,
                (":event-type", value) => headers.event_type = value,
                (":exception-type", value) => headers.exception_type = value,
                (":error-code", value) => headers.error_code = value,
                (":error-message", value) => headers.error_message = value,
                _ => {}
            }
        }
        Ok(headers)
    }

    fn frame(&self, payload: &str) -> Frame {
        let kind = match self.message_type {
            "error" => Some(self.error_code.unwrap_or_default()),
            EXCEPTION => Some(self.exception_type.unwrap_or_default()),
            _ => self.exception_type,
        };
        match kind {
            Some(kind) => Frame {
                event: Some(EXCEPTION.to_owned()),
                data: self.failure(kind, payload).to_string(),
            },
            None => Frame {
                event: self.event_type.map(str::to_owned),
                data: payload.to_owned(),
            },
        }
    }

    /// The payload of a failure with its kind in it.
    fn failure(&self, kind: &str, payload: &str) -> Json {
        let mut fields = match serde_json::from_str(&without_halves(payload)) {
            Ok(Json::Object(fields)) => fields,
            Ok(_) | Err(_) => {
                let message = self.error_message.unwrap_or(payload);
                Map::from_iter([("message".to_owned(), json!(message))])
            }
        };
        fields.insert("__type".to_owned(), json!(kind));
        Json::Object(fields)
    }
}

/// Reads from the front.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], WireError> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or_else(too_short)?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], WireError> {
        self.take(N)?.try_into().map_err(|_| too_short())
    }

    fn number(&mut self) -> Result<u32, WireError> {
        self.array().map(u32::from_be_bytes)
    }

    fn size(&mut self) -> Result<usize, WireError> {
        usize::try_from(self.number()?).map_err(|_| broken("a length is too large"))
    }

    fn short_text(&mut self) -> Result<&'a str, WireError> {
        let [length] = self.array()?;
        self.text(usize::from(length))
    }

    fn text(&mut self, length: usize) -> Result<&'a str, WireError> {
        std::str::from_utf8(self.take(length)?).map_err(|_| broken("a header is not text"))
    }

    /// A header's value; `None` for the kinds that are no text.
    fn value(&mut self) -> Result<Option<&'a str>, WireError> {
        let [kind] = self.array()?;
        let size = match kind {
            // Yes and no.
            0 | 1 => 0,
            // Numbers of growing width, a time, an id.
            2 => 1,
            3 => 2,
            4 => 4,
            5 | 8 => 8,
            9 => 16,
            // Bytes, and text.
            6 => usize::from(u16::from_be_bytes(self.array()?)),
            7 => {
                let length = usize::from(u16::from_be_bytes(self.array()?));
                return self.text(length).map(Some);
            }
            _ => return Err(broken("a header has an unknown type")),
        };
        self.take(size)?;
        Ok(None)
    }
}

fn too_short() -> WireError {
    broken("a frame is shorter than it says")
}

fn broken(what: &str) -> WireError {
    WireError::Malformed(what.to_owned())
}
