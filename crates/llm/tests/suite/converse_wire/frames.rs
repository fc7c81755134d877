//! The binary frames of the event stream.

use hermes_llm::VendorError;
use hermes_llm::wire::converse::frames::EventStream;
use hermes_llm::wire::{Frame, WireError};

use super::{answer, read};

/// A frame, made without the code under test.
fn binary(headers: &[(&str, &str)], payload: &str) -> Vec<u8> {
    let mut written = Vec::new();
    for (name, value) in headers {
        written.push(u8::try_from(name.len()).unwrap());
        written.extend(name.bytes());
        written.push(7);
        written.extend(u16::try_from(value.len()).unwrap().to_be_bytes());
        written.extend(value.bytes());
    }
    let total = u32::try_from(16 + written.len() + payload.len()).unwrap();
    let mut frame = total.to_be_bytes().to_vec();
    frame.extend(u32::try_from(written.len()).unwrap().to_be_bytes());
    frame.extend(crc(&frame).to_be_bytes());
    frame.extend(written);
    frame.extend(payload.bytes());
    frame.extend(crc(&frame).to_be_bytes());
    frame
}

/// CRC-32 bit by bit.
fn crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            (crc >> 1) ^ (0xEDB8_8320 & (crc & 1).wrapping_neg())
        })
    })
}

/// An event as the service frames it.
pub(crate) fn event(name: &str, payload: &str) -> Vec<u8> {
    binary(
        &[
            (":event-type", name),
            (":content-type", "application/json"),
            (":message-type", "event"),
        ],
        payload,
    )
}

/// An exception as the service frames it.
pub(crate) fn exception(name: &str, payload: &str) -> Vec<u8> {
    binary(
        &[
            (":message-type", "exception"),
            (":exception-type", name),
            (":content-type", "application/json"),
        ],
        payload,
    )
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
    digits
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

// PV-10: the published frames of the format: an empty one, one with a payload, one with a number as header.
#[test]
fn the_published_frames_are_read() {
    for (frame, payload) in [
        ("00000010 00000000 05c248eb 7d98c8ff", ""),
        (
            "0000001d 00000000 fd528c5a 7b27666f6f273a27626172277d c3653936",
            "{'foo':'bar'}",
        ),
        (
            "0000002d 00000010 41c424b8 0a6576656e742d74797065 04 0000a00c \
             7b27666f6f273a27626172277d 36f480a0",
            "{'foo':'bar'}",
        ),
    ] {
        let frames = EventStream::new().push(&bytes(frame)).unwrap();
        assert_eq!(
            frames,
            [Frame {
                event: None,
                data: payload.to_owned()
            }]
        );
    }
}

// PV-10
#[test]
fn frames_may_be_cut_anywhere() {
    let whole: Vec<u8> = answer()
        .iter()
        .flat_map(|frame| event(frame.event.as_deref().unwrap(), &frame.data))
        .collect();
    for size in [1, 2, 3, 7, 12, 64, whole.len()] {
        let mut stream = EventStream::new();
        let frames: Vec<Frame> = whole
            .chunks(size)
            .flat_map(|piece| stream.push(piece).unwrap())
            .collect();
        assert_eq!(frames, answer(), "in pieces of {size}");
    }
}

// PV-10
#[test]
fn a_flipped_bit_anywhere_is_noticed() {
    let good = event("messageStop", r#"{"stopReason":"end_turn"}"#);
    for at in 0..good.len() {
        let mut bad = good.clone();
        bad[at] ^= 1;
        let read = EventStream::new().push(&bad);
        assert!(matches!(read, Err(WireError::Malformed(_))), "byte {at}");
    }
}

// PV-10
#[test]
fn an_exception_in_the_middle_of_an_answer_ends_it_with_its_code() {
    let throttled = exception("throttlingException", r#"{"message":"Too many tokens"}"#);
    let error = binary(
        &[
            (":message-type", "error"),
            (":error-code", "InternalServerException"),
            (":error-message", "It broke"),
        ],
        "",
    );
    let original = exception(
        "modelStreamErrorException",
        r#"{"message":"The model failed","originalMessage":"out of memory","originalStatusCode":424}"#,
    );
    for (frame, status, code, message) in [
        (throttled, None, "throttlingException", "Too many tokens"),
        (error, None, "InternalServerException", "It broke"),
        (
            original,
            Some(424),
            "modelStreamErrorException",
            "The model failed: out of memory",
        ),
    ] {
        let mut bytes = event("messageStart", r#"{"role":"assistant"}"#);
        bytes.extend(event(
            "contentBlockDelta",
            r#"{"contentBlockIndex":0,"delta":{"text":"So"}}"#,
        ));
        bytes.extend(frame);
        let frames = EventStream::new().push(&bytes).unwrap();
        assert_eq!(
            read(&frames),
            Err(WireError::Vendor(VendorError {
                status,
                code: Some(code.to_owned()),
                message: message.to_owned(),
                ..VendorError::default()
            }))
        );
    }
}
