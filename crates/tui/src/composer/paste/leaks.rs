//! What terminals say that was never typed: replies, mouse reports and paste markers, whole or with their
//! first byte lost on the way.

/// A pasted text with newlines only, and without control characters and leaked terminal talk.
pub fn clean(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut made = String::with_capacity(text.len());
    let mut kept_from = 0;
    for at in memchr::memchr3_iter(0x1b, b'[', b'\r', bytes) {
        if at < kept_from {
            continue;
        }
        let rest = bytes.get(at..).unwrap_or_default();
        let (start, length, instead) = match rest {
            [b'\r', b'\n', ..] => (at, 2, "\n"),
            [b'\r', ..] => (at, 1, "\n"),
            [0x1b, ..] => (at, sequence(rest), ""),
            // An escape written as `^[`.
            [_, report @ ..] if report.first() == Some(&b'[') && made_of_caret(bytes, at) => {
                (at - 1, bare(report).map_or(0, |length| 2 + length), "")
            }
            [_, b'<' | b'?' | b'0'..=b'9', ..] => (at, bare(rest).unwrap_or(0), ""),
            _ => continue,
        };
        if length > 0 {
            made.push_str(text.get(kept_from..start).unwrap_or_default());
            made.push_str(instead);
            kept_from = start + length;
        }
    }
    made.push_str(text.get(kept_from..).unwrap_or_default());
    // Other control characters are rare, and looking for each by itself is quick.
    let acts = |byte: u8| byte != b'\n' && byte != b'\t' && made.as_bytes().contains(&byte);
    if (0..b' ').chain([0x7f, 0xc2]).any(acts) {
        made.retain(|letter| !letter.is_control() || letter == '\n' || letter == '\t');
    }
    made
}

fn made_of_caret(bytes: &[u8], bracket: usize) -> bool {
    bracket.checked_sub(1).and_then(|at| bytes.get(at)) == Some(&b'^')
}

/// The length of what begins with an escape.
fn sequence(rest: &[u8]) -> usize {
    let body = rest.get(2..).unwrap_or_default();
    match rest.get(1) {
        Some(b'[') => {
            let parameters = body
                .iter()
                .take_while(|byte| (0x20..0x40).contains(*byte))
                .count();
            let ended = body
                .get(parameters)
                .is_some_and(|byte| (0x40..0x7f).contains(byte));
            2 + parameters + usize::from(ended)
        }
        Some(b']' | b'P' | b'_' | b'^' | b'X') => string(body).map_or(2, |length| 2 + length),
        Some(b'O') => 2 + usize::from(body.first().is_some_and(u8::is_ascii_alphabetic)),
        Some(byte) if byte.is_ascii_graphic() => 2,
        _ => 1,
    }
}

/// The length of a string sequence up to its end, which must come before the line's.
fn string(body: &[u8]) -> Option<usize> {
    let end = body
        .iter()
        .position(|byte| matches!(*byte, 0x07 | 0x1b | b'\n'))?;
    match body.get(end..end + 2) {
        Some([0x1b, b'\\']) => Some(end + 2),
        _ => (body.get(end) == Some(&0x07)).then_some(end + 1),
    }
}

/// The length of a report whose escape was lost: only shapes that nobody writes by hand.
fn bare(rest: &[u8]) -> Option<usize> {
    let (b'[', body) = rest.split_first()? else {
        return None;
    };
    let (mark, body) = match body.split_first()? {
        (mark @ (b'<' | b'?'), body) => (Some(*mark), body),
        _ => (None, body),
    };
    let digits = body
        .iter()
        .take_while(|byte| byte.is_ascii_digit() || **byte == b';')
        .count();
    let numbers = body.get(..digits)?;
    let parts = numbers.split(|byte| *byte == b';');
    if !parts.clone().all(|part| (1..=5).contains(&part.len())) {
        return None;
    }
    let known = match (mark, body.get(digits)?, parts.count()) {
        (Some(b'<'), b'M' | b'm', 3) | (Some(b'?'), b'c', _) | (None, b'R', 2) => true,
        (None, b'~', 1) => numbers == b"200" || numbers == b"201",
        _ => false,
    };
    known.then_some(1 + usize::from(mark.is_some()) + digits + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    // CL-17
    #[test]
    fn terminal_talk_is_taken_out_and_text_is_not() {
        let cases = [
            ("a\r\nb\rc", "a\nb\nc"),
            ("\u{1b}[200~hello\u{1b}[201~", "hello"),
            ("[200~hello[201~", "hello"),
            ("^[[200~hello^[[201~", "hello"),
            ("x\u{1b}[<35;10;20My", "xy"),
            ("x[<0;10;20M[<0;10;20my", "xy"),
            ("x[12;40Ry", "xy"),
            ("x[?62;22cy", "xy"),
            ("x\u{1b}]11;rgb:0000/0000/0000\u{7}y", "xy"),
            ("x\u{1b}]11;rgb:00/00/00\u{1b}\\y", "xy"),
            ("x\u{1b}P>|term 1\u{1b}\\y", "xy"),
            ("x\u{1b}OAy", "xy"),
            ("\u{1b}[31mred\u{1b}[0m", "red"),
            ("a\u{0}b\u{7f}c\u{85}d", "abcd"),
            (
                "keep [1;2] x[0] [R] ^[ ^x [<a;b;cM [12R é Â",
                "keep [1;2] x[0] [R] ^[ ^x [<a;b;cM [12R é Â",
            ),
            ("tab\tnewline\n", "tab\tnewline\n"),
            ("\u{1b}", ""),
            ("\u{1b}[", ""),
            ("a\u{1b}]never ended\nb", "anever ended\nb"),
        ];
        for (dirty, expected) in cases {
            assert_eq!(clean(dirty), expected, "{dirty:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn nothing_that_acts_is_left(text in "\\PC*|[\\x00-\\x1f\\[\\]^0-9;<?MmRc~a-z]{0,40}") {
            let made = clean(&text);
            let harmless = |letter: char| !letter.is_control() || letter == '\n' || letter == '\t';
            proptest::prop_assert!(made.chars().all(harmless), "{made:?}");
        }
    }
}
