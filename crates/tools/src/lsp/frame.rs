//! Messages on a pipe: a header with the length, and a JSON text.

use serde_json::Value as Json;

/// Longer messages end the conversation.
const LONGEST: usize = 8 << 20;
/// A header is a few short lines.
const LONGEST_HEADER: usize = 4 << 10;
const END_OF_HEADER: &[u8] = b"\r\n\r\n";

/// What is wrong with what a server says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Garbled {
    #[error("what it says has no length")]
    Header,
    #[error("a message is longer than {LONGEST} bytes")]
    TooLong,
    #[error("a message is not JSON")]
    NotJson,
}

/// A message as it goes over the pipe.
pub(super) fn frame(message: &Json) -> Vec<u8> {
    let body = message.to_string();
    format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

/// Takes the first whole message out of what has arrived.
pub(super) fn next(arrived: &mut Vec<u8>) -> Result<Option<Json>, Garbled> {
    let Some(header) = memchr::memmem::find(arrived, END_OF_HEADER) else {
        return match arrived.len() > LONGEST_HEADER {
            true => Err(Garbled::Header),
            false => Ok(None),
        };
    };
    let lines = arrived.get(..header).unwrap_or_default();
    let lines = String::from_utf8_lossy(lines).to_ascii_lowercase();
    let length = lines
        .lines()
        .find_map(|line| {
            line.strip_prefix("content-length:")?
                .trim()
                .parse::<usize>()
                .ok()
        })
        .ok_or(Garbled::Header)?;
    if length > LONGEST {
        return Err(Garbled::TooLong);
    }
    let from = header + END_OF_HEADER.len();
    let Some(body) = arrived.get(from..from + length) else {
        return Ok(None);
    };
    let message = serde_json::from_slice(body).map_err(|_| Garbled::NotJson)?;
    arrived.drain(..from + length);
    Ok(Some(message))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn messages_come_out_whole_however_they_arrive() {
        let (one, two) = (json!({"id": 1}), json!({"text": "ä\r\n\r\n"}));
        let all = [frame(&one), frame(&two)].concat();
        let mut arrived = Vec::new();
        let mut seen = Vec::new();
        for byte in all {
            arrived.push(byte);
            seen.extend(next(&mut arrived).unwrap());
        }
        assert_eq!(seen, [one, two]);
        assert!(arrived.is_empty());
    }

    #[test]
    fn what_is_no_message_is_said() {
        let bad = |text: &str| next(&mut text.as_bytes().to_vec());
        assert_eq!(bad("Content-Type: x\r\n\r\n{}"), Err(Garbled::Header));
        assert_eq!(
            bad("Content-Length: 99999999\r\n\r\n"),
            Err(Garbled::TooLong)
        );
        assert_eq!(bad("Content-Length: 2\r\n\r\n{]"), Err(Garbled::NotJson));
        assert_eq!(bad(&"x".repeat(5_000)), Err(Garbled::Header));
        assert_eq!(bad("Content-Length: 2\r\n"), Ok(None));
    }
}
