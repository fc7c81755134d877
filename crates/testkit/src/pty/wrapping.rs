//! Lines that are cut instead of wrapped. Programs ask terminals for that, and the screen model does not know it.

use unicode_width::UnicodeWidthChar as _;
use vt100::{Callbacks, Parser};

const ESCAPE: u8 = 0x1b;
const BELL: u8 = 0x07;
/// What ends wrapping, and what begins it again.
const CUT: &[u8] = b"\x1b[?7l";
const WRAP: &[u8] = b"\x1b[?7h";

/// Stands between a program and the screen model, and drops what would go past the last column while lines are cut.
#[derive(Debug, Default)]
pub struct Wrapping {
    cut: bool,
    inside: Inside,
    /// What was begun and is not complete: a sequence or a character.
    begun: Vec<u8>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Inside {
    #[default]
    Text,
    /// Behind an escape.
    Escape,
    /// In a sequence that a letter ends.
    Control,
    /// In a string that a bell or another escape ends.
    String,
}

impl Wrapping {
    /// Passes on what the screen is to show.
    pub fn process<C: Callbacks>(&mut self, bytes: &[u8], parser: &mut Parser<C>) {
        let mut rest = bytes;
        while let Some((byte, after)) = rest.split_first() {
            let plain = self.inside == Inside::Text && !self.cut;
            if plain && *byte != ESCAPE {
                let end = rest.iter().position(|byte| *byte == ESCAPE);
                let (text, behind) = rest.split_at(end.unwrap_or(rest.len()));
                parser.process(text);
                rest = behind;
                continue;
            }
            rest = after;
            self.begun.push(*byte);
            let complete = match (self.inside, *byte) {
                (Inside::Text, ESCAPE) => {
                    self.inside = Inside::Escape;
                    false
                }
                (Inside::Text, _) => {
                    let text = std::str::from_utf8(&self.begun);
                    // Four bytes that are no character never become one.
                    text.is_ok() || self.begun.len() >= 4
                }
                (Inside::Escape, b'[') => {
                    self.inside = Inside::Control;
                    false
                }
                (Inside::Escape, b']' | b'P' | b'_' | b'^' | b'X') => {
                    self.inside = Inside::String;
                    false
                }
                (Inside::Escape, _) => true,
                (Inside::Control, _) => (0x40..0x7f).contains(byte),
                (Inside::String, BELL) => true,
                (Inside::String, ESCAPE) => {
                    // The string is over, and what follows is a sequence of its own.
                    self.inside = Inside::Escape;
                    false
                }
                (Inside::String, _) => false,
            };
            if complete {
                self.pass_on(parser);
            }
        }
    }

    fn pass_on<C: Callbacks>(&mut self, parser: &mut Parser<C>) {
        let begun = std::mem::take(&mut self.begun);
        let was = std::mem::take(&mut self.inside);
        match begun.as_slice() {
            CUT => self.cut = true,
            WRAP => self.cut = false,
            _ => {}
        }
        if self.cut && was == Inside::Text {
            let letter = std::str::from_utf8(&begun).ok();
            let letter = letter.and_then(|text| text.chars().next());
            let width = letter.and_then(|letter| letter.width()).unwrap_or_default();
            let column = usize::from(parser.screen().cursor_position().1);
            if column + width > usize::from(parser.screen().size().1.get()) {
                return;
            }
        }
        parser.process(&begun);
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU16;

    use super::*;

    fn shown(bytes: &str) -> Vec<String> {
        let size = |number| NonZeroU16::new(number).unwrap();
        let mut parser = Parser::new(size(3), size(4), 0);
        let mut wrapping = Wrapping::default();
        // Cut at any place.
        for byte in bytes.as_bytes() {
            wrapping.process(&[*byte], &mut parser);
        }
        let rows = parser.screen().rows(0, 4);
        rows.map(|row| row.trim_end().to_owned()).collect()
    }

    #[test]
    fn lines_are_cut_while_they_are_to_be() {
        assert_eq!(shown("abcdef"), ["abcd", "ef", ""]);
        assert_eq!(shown("\x1b[?7labcdef\r\nxy"), ["abcd", "xy", ""]);
        assert_eq!(shown("\x1b[?7labc日本"), ["abc", "", ""]);
        assert_eq!(shown("\x1b[?7la\x1b[?7hbcdef"), ["abcd", "ef", ""]);
        assert_eq!(
            shown("\x1b]0;a long title\x07\x1b[?7l\x1b[1mabcdef"),
            ["abcd", "", ""]
        );
    }
}
