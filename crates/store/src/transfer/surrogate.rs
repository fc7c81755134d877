//! Halves of surrogate pairs in JSON.
//!
//! Python writes text that was cut in the middle of a character as a lone `\ud83d`. No text can hold
//! that, so it becomes the replacement character.

/// As long as the escape it stands for, so that columns in errors stay right.
const REPLACEMENT: &[u8; 6] = b"\\ufffd";

/// Replaces escapes that stand for half a character; all other bytes stay.
pub(super) fn replace_lone(line: &mut [u8]) {
    let mut at = 0;
    while let Some(rest) = line.get_mut(at..)
        && !rest.is_empty()
    {
        at += match (escape(rest), rest.get(6..).and_then(escape)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 12,
            (Some(0xd800..=0xdfff), _) => {
                if let Some(escape) = rest.get_mut(..6) {
                    escape.copy_from_slice(REPLACEMENT);
                }
                6
            }
            (Some(_), _) => 6,
            // Whatever is escaped otherwise, a backslash among it, does not begin an escape.
            (None, _) if rest.first() == Some(&b'\\') => 2,
            (None, _) => 1,
        };
    }
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
        for (line, expected) in [
            (r"\ud83d\ude00 \u00e9", r"\ud83d\ude00 \u00e9"),
            (r"a\ud83d", r"a\ufffd"),
            (r"\uD83Db\uDE00", r"\ufffdb\ufffd"),
            (r"\ud83d\ud83d\ude00", r"\ufffd\ud83d\ude00"),
            (r"\\ud83d \\\ud83d", r"\\ud83d \\\ufffd"),
            (r"\ud8", r"\ud8"),
            (r"\", r"\"),
        ] {
            let mut bytes = line.as_bytes().to_vec();
            replace_lone(&mut bytes);
            assert_eq!(String::from_utf8(bytes).unwrap(), expected, "{line}");
        }
    }
}
