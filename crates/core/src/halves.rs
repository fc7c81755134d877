//! Halves of characters in JSON.
//!
//! JSON writes a character beyond the first 65,536 as two escapes, a surrogate pair. Who cuts text anywhere,
//! as Python and servers made with it do, leaves one of them alone. No text can hold that, so it becomes the
//! replacement character.

use std::borrow::Cow;
use std::ops::Range;

/// As long as the escape it stands for, so that columns in errors stay right.
const REPLACEMENT: &str = r"\ufffd";

/// Where JSON text has an escape that stands for half a character.
pub fn halves(json: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        while let Some(rest) = json.get(at..).filter(|rest| !rest.is_empty()) {
            let begin = at;
            let (length, half) = match (escape(rest), rest.get(6..).and_then(escape)) {
                (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => (12, false),
                (Some(unit), _) => (6, matches!(unit, 0xd800..=0xdfff)),
                // Whatever is escaped otherwise, a backslash among it, does not begin an escape.
                (None, _) if rest.first() == Some(&b'\\') => (2, false),
                (None, _) => (1, false),
            };
            at += length;
            if half {
                return Some(begin..at);
            }
        }
        None
    })
}

/// JSON text with whole characters only, ready for a parser.
pub fn without_halves(json: &str) -> Cow<'_, str> {
    // Nearly no text has such an escape at all, which is seen much faster than where.
    if !json.contains(r"\ud") && !json.contains(r"\uD") {
        return Cow::Borrowed(json);
    }
    let mut out = Cow::Borrowed(json);
    for half in halves(json.as_bytes()) {
        out.to_mut().replace_range(half, REPLACEMENT);
    }
    out
}

/// The number of a `\uXXXX` that the bytes begin with.
fn escape(bytes: &[u8]) -> Option<u16> {
    let digits = bytes.strip_prefix(b"\\u")?.get(..4)?;
    let digits = std::str::from_utf8(digits).ok()?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_halves_are_replaced() {
        for (text, expected) in [
            (r"\ud83d\ude00 \u00e9", r"\ud83d\ude00 \u00e9"),
            (r"a\ud83d", r"a\ufffd"),
            (r"\uD83Db\uDE00", r"\ufffdb\ufffd"),
            (r"\ud83d\ud83d\ude00", r"\ufffd\ud83d\ude00"),
            (r"\\ud83d \\\ud83d", r"\\ud83d \\\ufffd"),
            (r"é\ud83dé", r"é\ufffdé"),
            (r"\ud8", r"\ud8"),
            (r"\u+d83", r"\u+d83"),
            (r"\", r"\"),
        ] {
            assert_eq!(without_halves(text), expected, "{text}");
        }
    }
}
