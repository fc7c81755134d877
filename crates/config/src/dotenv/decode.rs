//! From the bytes editors write to text.

/// The text of a file: UTF-8 with or without a mark, UTF-16 with one, else Latin-1. `None` for UTF-32.
///
/// Zero bytes are left out: they come from UTF-16 without a mark and mean nothing in a variable.
pub(super) fn text_of(bytes: &[u8]) -> Option<String> {
    let text = match bytes {
        [0xff, 0xfe, 0, 0, ..] | [0, 0, 0xfe, 0xff, ..] => return None,
        [0xff, 0xfe, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => utf16(rest, u16::from_be_bytes),
        [0xef, 0xbb, 0xbf, rest @ ..] => utf8_or_latin1(rest),
        rest => utf8_or_latin1(rest),
    };
    Some(if text.contains('\0') {
        text.replace('\0', "")
    } else {
        text
    })
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> String {
    // A byte too many at the end belongs to no character.
    let units = bytes.chunks_exact(2).filter_map(|pair| match pair {
        [a, b] => Some(unit([*a, *b])),
        _ => None,
    });
    char::decode_utf16(units)
        .map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect()
}

fn utf8_or_latin1(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes.iter().map(|byte| char::from(*byte)).collect(),
    }
}
