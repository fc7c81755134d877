//! Text without terminal control sequences.

use std::borrow::Cow;

use vte::{Parser, Perform};

/// The text as it would be read: without the control sequences of ECMA-48 in their 7-bit and 8-bit forms
/// (colours, titles, device strings) and without other control characters than line ends and tabs.
pub fn strip_ansi(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_unwanted) {
        return Cow::Borrowed(text);
    }
    let mut plain = Plain(String::with_capacity(text.len()));
    let mut parser = Parser::new();
    let mut rest = text;
    // The 8-bit forms mean what their 7-bit twins mean, which the parser knows.
    while let Some((place, control)) = rest.char_indices().find(|(_, c)| is_c1(*c)) {
        let (before, after) = rest.split_at(place);
        parser.advance(&mut plain, before.as_bytes());
        let twin = u32::from(control) - 0x40;
        parser.advance(&mut plain, &[0x1b, u8::try_from(twin).unwrap_or(b'?')]);
        rest = after.split_at(control.len_utf8()).1;
    }
    parser.advance(&mut plain, rest.as_bytes());
    Cow::Owned(plain.0)
}

fn is_c1(c: char) -> bool {
    ('\u{80}'..='\u{9f}').contains(&c)
}

fn is_unwanted(c: char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\r' | '\t')
}

struct Plain(String);

impl Perform for Plain {
    fn print(&mut self, c: char) {
        if !is_unwanted(c) {
            self.0.push(c);
        }
    }

    fn execute(&mut self, byte: u8) {
        let c = char::from(byte);
        if !is_unwanted(c) {
            self.0.push(c);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    // EX-13
    #[test]
    fn sequences_of_every_kind_are_taken_out() {
        let cases = [
            ("\u{1b}[1;31mred\u{1b}[0m", "red"),
            ("\u{1b}]0;title\u{7}text", "text"),
            ("\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
            ("\u{1b}P1$r0m\u{1b}\\after", "after"),
            ("\u{9b}1;31mred\u{9b}m", "red"),
            ("\u{9d}0;title\u{9c}text", "text"),
            ("\u{90}device\u{9c}text", "text"),
            ("\u{1b}(Bplain\u{1b}=", "plain"),
            ("50%\r100%\n\tdone\u{7}", "50%\r100%\n\tdone"),
            ("a\u{1b}[", "a"),
            ("grün, 日本語", "grün, 日本語"),
        ];
        for (text, expected) in cases {
            assert_eq!(strip_ansi(text), expected, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn nothing_is_left_and_plain_text_stays(
            text in "([\\PC\n\t]|\u{1b}|\u{1b}\\[[0-9;]{0,5}[a-zA-Z]|[\u{80}-\u{9f}]|[\u{0}-\u{1f}]){0,60}",
            plain in "[\\PC\n\r\t]{0,60}",
        ) {
            let stripped = strip_ansi(&text);
            prop_assert!(!stripped.chars().any(is_unwanted), "{:?}", stripped);
            prop_assert_eq!(strip_ansi(&plain), plain.as_str());
        }
    }
}
