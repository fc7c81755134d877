//! Server-sent events: bytes in, frames out.

use std::borrow::Cow;

use super::{Frame, WireError};

/// Most bytes of one frame. An answer is many frames; one that passes this is not an answer.
pub const MAX_FRAME_BYTES: usize = 16 << 20;

const BYTE_ORDER_MARK: &[u8] = &[0xef, 0xbb, 0xbf];

/// The fields that lines begin with.
const FIELDS: [&[u8]; 4] = [b"data", b"event", b"id", b"retry"];

/// How much of what is no event is kept, to be shown.
const MOST_STRAY: usize = 200;

/// Cuts a stream of bytes into frames, however the bytes are split.
///
/// Lines may end in `\n`, `\r\n` or `\r`; bytes that are no UTF-8 become replacement characters.
#[derive(Debug, Default)]
pub struct SseParser {
    /// The line under way, when its end has not come yet.
    line: Vec<u8>,
    event: Option<String>,
    data: Option<String>,
    place: Place,
    /// The beginning of the first line that belongs to no event.
    stray: Option<String>,
}

/// Where the next byte falls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Place {
    /// In the first line, which may begin with a byte order mark.
    #[default]
    Start,
    /// In any other line.
    Inside,
    /// Behind a `\r`: a `\n` now belongs to the same line end.
    AfterReturn,
}

impl SseParser {
    /// A parser at the start of a stream.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next bytes; gives the frames they complete.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Vec<Frame>, WireError> {
        let mut out = Vec::new();
        let mut rest = bytes;
        while let Some(&first) = rest.first() {
            if self.place == Place::AfterReturn {
                self.place = Place::Inside;
                if first == b'\n' {
                    rest = rest.get(1..).unwrap_or_default();
                    continue;
                }
            }
            let Some(end) = memchr::memchr2(b'\n', b'\r', rest) else {
                self.line.extend_from_slice(rest);
                self.check_size(0)?;
                break;
            };
            let (head, tail) = rest.split_at(end);
            self.check_size(head.len())?;
            if self.line.is_empty() {
                self.take_line(head, &mut out);
            } else {
                let mut line = std::mem::take(&mut self.line);
                line.extend_from_slice(head);
                self.take_line(&line, &mut out);
                line.clear();
                self.line = line;
            }
            self.place = match tail.first() {
                Some(b'\r') => Place::AfterReturn,
                Some(_) | None => Place::Inside,
            };
            rest = tail.get(1..).unwrap_or_default();
        }
        Ok(out)
    }

    /// The stream ended: the frame that lacks its final blank line, if there is one.
    pub fn finish(&mut self) -> Option<Frame> {
        let line = std::mem::take(&mut self.line);
        let mut out = Vec::new();
        // A cut leaves the beginning of a field behind, which is nothing strange.
        let cut = |field: &&[u8]| field.len() > line.len() && field.starts_with(&line);
        if !FIELDS.iter().any(cut) {
            self.take_line(&line, &mut out);
        }
        self.take_line(&[], &mut out);
        out.pop()
    }

    /// The beginning of the first line that belongs to no event, if one came.
    pub(crate) fn stray(&self) -> Option<&str> {
        self.stray.as_deref()
    }

    fn check_size(&self, more: usize) -> Result<(), WireError> {
        let held = self.line.len() + self.data.as_ref().map_or(0, String::len);
        if held + more > MAX_FRAME_BYTES {
            return Err(WireError::Malformed(
                "a frame is larger than 16 MiB".to_owned(),
            ));
        }
        Ok(())
    }

    fn take_line(&mut self, line: &[u8], out: &mut Vec<Frame>) {
        let line = match self.place {
            Place::Start => line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line),
            Place::Inside | Place::AfterReturn => line,
        };
        if line.is_empty() {
            let event = self.event.take();
            if let Some(data) = self.data.take() {
                out.push(Frame { event, data });
            }
            return;
        }
        let (field, value) = match memchr::memchr(b':', line) {
            Some(colon) => {
                let (field, value) = line.split_at(colon);
                let value = value.get(1..).unwrap_or_default();
                (field, value.strip_prefix(b" ").unwrap_or(value))
            }
            None => (line, &[][..]),
        };
        match field {
            b"data" => {
                // Nearly always well-formed, and known to be much faster than it can be mended.
                let value = std::str::from_utf8(value)
                    .map_or_else(|_| String::from_utf8_lossy(value), Cow::Borrowed);
                match &mut self.data {
                    Some(data) => {
                        data.push('\n');
                        data.push_str(&value);
                    }
                    None => self.data = Some(value.into_owned()),
                }
            }
            b"event" => self.event = Some(String::from_utf8_lossy(value).into_owned()),
            // Comments have an empty name; `id` and `retry` are for reconnecting, which a model's
            // answer cannot do.
            b"" | b"id" | b"retry" => {}
            _ => {
                let start = line.get(..MOST_STRAY).unwrap_or(line);
                self.stray
                    .get_or_insert_with(|| String::from_utf8_lossy(start).into_owned());
            }
        }
    }
}
