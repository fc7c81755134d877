//! The binary frames of Amazon's event streams.
//!
//! A frame is the length of the whole, the length of the headers, a checksum of those two, the headers,
//! the payload, and a checksum of all that came before. Numbers are big-endian, checksums are CRC-32.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

/// Headers here are texts only: this byte says so.
const TEXT_HEADER: u8 = 7;
/// Two lengths and their checksum before the headers, one checksum after the payload.
const OVERHEAD_BYTES: usize = 16;

/// Content type of a body made of such frames.
pub(super) const CONTENT_TYPE: &str = "application/vnd.amazon.eventstream";

/// A frame with a JSON payload. A name that ends in `Exception` makes it an exception.
pub(super) fn frame(name: &str, payload: &str) -> Vec<u8> {
    let (kind, name_header) = if name.ends_with("Exception") {
        ("exception", ":exception-type")
    } else {
        ("event", ":event-type")
    };
    let mut headers = Vec::new();
    for (header, value) in [
        (name_header, name),
        (":content-type", "application/json"),
        (":message-type", kind),
    ] {
        put_header(&mut headers, header, value);
    }
    let total = OVERHEAD_BYTES + headers.len() + payload.len();
    let mut frame = Vec::with_capacity(total);
    put_number(&mut frame, total);
    put_number(&mut frame, headers.len());
    put_checksum(&mut frame);
    frame.extend_from_slice(&headers);
    frame.extend_from_slice(payload.as_bytes());
    put_checksum(&mut frame);
    frame
}

/// An event of the model's own protocol in a frame; what is no event is a name, a space and a payload.
pub(super) fn packed(event: &str) -> Vec<u8> {
    let data = event.lines().find_map(|line| line.strip_prefix("data: "));
    match data {
        Some(data) => frame(
            "chunk",
            &json!({"bytes": STANDARD.encode(data)}).to_string(),
        ),
        None => {
            let (name, payload) = event.trim().split_once(' ').unwrap_or((event, "{}"));
            frame(name, payload)
        }
    }
}

fn put_header(to: &mut Vec<u8>, name: &str, value: &str) {
    // Scripted names are short; a longer one would not be a frame any client takes.
    to.push(u8::try_from(name.len()).unwrap_or(u8::MAX));
    to.extend_from_slice(name.as_bytes());
    to.push(TEXT_HEADER);
    let length = u16::try_from(value.len()).unwrap_or(u16::MAX);
    to.extend_from_slice(&length.to_be_bytes());
    to.extend_from_slice(value.as_bytes());
}

fn put_number(to: &mut Vec<u8>, number: usize) {
    let number = u32::try_from(number).unwrap_or(u32::MAX);
    to.extend_from_slice(&number.to_be_bytes());
}

/// Appends the checksum of everything so far.
fn put_checksum(to: &mut Vec<u8>) {
    let checksum = crc32(to);
    to.extend_from_slice(&checksum.to_be_bytes());
}

/// CRC-32 as in Ethernet and zip, bit by bit: scripted answers are small.
fn crc32(bytes: &[u8]) -> u32 {
    const POLYNOMIAL: u32 = 0xEDB8_8320;
    let remainder = bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            (crc >> 1) ^ if crc & 1 == 1 { POLYNOMIAL } else { 0 }
        })
    });
    !remainder
}

#[cfg(test)]
mod tests {
    use super::{crc32, frame};

    #[test]
    fn checksums_agree_with_the_published_check_value() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
        assert_eq!(crc32(b""), 0);
    }

    #[test]
    fn lengths_cover_the_whole_frame() {
        let frame = frame("messageStop", "{}");
        assert_eq!(
            frame[..4],
            u32::try_from(frame.len()).unwrap().to_be_bytes()
        );
        assert_eq!(frame[8..12], crc32(&frame[..8]).to_be_bytes());
        let end = frame.len() - 4;
        assert_eq!(frame[end..], crc32(&frame[..end]).to_be_bytes());
    }
}
