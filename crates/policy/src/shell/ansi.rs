//! Reads text with escapes: `$'…'`, and what `printf` understands.

use super::read::{Reader, Trouble};
use super::tree::Part;
use super::word::push;

impl Reader<'_> {
    /// `$'…'`.
    pub(super) fn ansi(&mut self, parts: &mut Vec<Part>) {
        self.at += 2;
        let mut text = String::new();
        loop {
            let Some(byte) = self.peek() else {
                self.fault(Trouble::Malformed);
                break;
            };
            match byte {
                b'\'' => {
                    self.at += 1;
                    break;
                }
                b'\\' => {
                    self.at += 1;
                    self.ansi_escape(&mut text);
                }
                _ => {
                    let length = self.next_length();
                    text.push_str(self.slice(self.at, self.at + length));
                    self.at += length;
                }
            }
        }
        push(parts, &text, true);
    }

    fn ansi_escape(&mut self, text: &mut String) {
        let rest = self.slice(self.at, self.end);
        let (value, length) = escape_sequence(rest);
        text.extend(value);
        self.at = (self.at + length).min(self.end);
    }
}

/// What stands behind a backslash in `$'…'` and in `printf`: a character and how many bytes it took.
pub(super) fn escape_sequence(rest: &str) -> (Option<char>, usize) {
    let Some(first) = rest.chars().next() else {
        return (None, 0);
    };
    let coded = |skip: usize, most: usize, radix: u32| {
        let digits: String = rest.chars().skip(skip).take(most).collect();
        let digits: &str = digits
            .split(|c: char| !c.is_digit(radix))
            .next()
            .unwrap_or_default();
        let value = u32::from_str_radix(digits, radix)
            .ok()
            .and_then(char::from_u32);
        (value, skip + digits.len())
    };
    match first {
        'a' => (Some('\u{7}'), 1),
        'b' => (Some('\u{8}'), 1),
        'e' | 'E' => (Some('\u{1b}'), 1),
        'f' => (Some('\u{c}'), 1),
        'n' => (Some('\n'), 1),
        'r' => (Some('\r'), 1),
        't' => (Some('\t'), 1),
        'v' => (Some('\u{b}'), 1),
        'x' => coded(1, 2, 16),
        'u' => coded(1, 4, 16),
        'U' => coded(1, 8, 16),
        '0'..='7' => coded(0, 3, 8),
        'c' => (rest.chars().nth(1).map(|c| char::from((c as u8) & 0x1f)), 2),
        other => (Some(other), other.len_utf8()),
    }
}
