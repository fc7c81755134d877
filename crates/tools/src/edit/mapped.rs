//! A text made easier to compare, which knows where its parts came from.

use std::borrow::Cow;
use std::ops::Range;

/// A changed copy of a text with the way back to the original's positions.
pub(super) struct Mapped<'t> {
    text: Cow<'t, str>,
    /// Pairs of positions, here and in the original, after each part whose length changed.
    anchors: Vec<(usize, usize)>,
}

impl<'t> Mapped<'t> {
    /// Line breaks of two characters become one.
    pub(super) fn with_single_breaks(text: &'t str) -> Self {
        let mut breaks = memchr::memmem::find_iter(text.as_bytes(), b"\r\n").peekable();
        if breaks.peek().is_none() {
            return Self::unchanged(text);
        }
        let mut out = Copy::new(text);
        for at in breaks {
            out.put(at..at + 2, "\n");
        }
        out.done()
    }

    /// Runs of blanks and tabs become one blank.
    pub(super) fn with_single_blanks(text: &'t str) -> Self {
        let mut out = Copy::new(text);
        let bytes = text.as_bytes();
        let mut at = 0;
        while let Some(found) = memchr::memchr2(b' ', b'\t', bytes.get(at..).unwrap_or_default()) {
            let start = at + found;
            let run = bytes
                .iter()
                .skip(start)
                .take_while(|byte| matches!(byte, b' ' | b'\t'))
                .count();
            at = start + run;
            if run > 1 || bytes.get(start) == Some(&b'\t') {
                out.put(start..at, " ");
            }
        }
        out.done()
    }

    /// Typographic quotes, dashes, dots and blanks become the ones of a keyboard.
    pub(super) fn with_plain_punctuation(text: &'t str) -> Self {
        if text.is_ascii() {
            return Self::unchanged(text);
        }
        let mut out = Copy::new(text);
        for (at, character) in text.char_indices() {
            if let Some(plain) = plain(character) {
                out.put(at..at + character.len_utf8(), plain);
            }
        }
        out.done()
    }

    fn unchanged(text: &'t str) -> Self {
        Self {
            text: Cow::Borrowed(text),
            anchors: Vec::new(),
        }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Whether nothing had to be changed.
    pub(super) fn is_same(&self) -> bool {
        self.anchors.is_empty()
    }

    /// The part of the original that `span` was made from.
    pub(super) fn original(&self, span: &Range<usize>) -> Range<usize> {
        let start = self.position(span.start);
        start..self.position(span.end).max(start)
    }

    fn position(&self, at: usize) -> usize {
        let before = self.anchors.partition_point(|(here, _)| *here <= at);
        let anchor = before
            .checked_sub(1)
            .and_then(|index| self.anchors.get(index));
        anchor.map_or(at, |(here, there)| there + (at - here))
    }

    /// How many parts changed their length.
    pub(super) fn changes(&self) -> usize {
        self.anchors.len()
    }
}

/// A copy being made.
struct Copy<'t> {
    from: &'t str,
    done: usize,
    text: String,
    anchors: Vec<(usize, usize)>,
}

impl<'t> Copy<'t> {
    fn new(from: &'t str) -> Self {
        Self {
            from,
            done: 0,
            text: String::with_capacity(from.len()),
            anchors: Vec::new(),
        }
    }

    /// Copies up to the range and puts something else in its place.
    fn put(&mut self, range: Range<usize>, instead: &str) {
        self.text
            .push_str(self.from.get(self.done..range.start).unwrap_or_default());
        self.text.push_str(instead);
        self.done = range.end;
        if instead.len() != range.len() {
            self.anchors.push((self.text.len(), range.end));
        }
    }

    fn done(mut self) -> Mapped<'t> {
        self.text
            .push_str(self.from.get(self.done..).unwrap_or_default());
        Mapped {
            text: Cow::Owned(self.text),
            anchors: self.anchors,
        }
    }
}

fn plain(character: char) -> Option<&'static str> {
    Some(match character {
        '\u{2018}'..='\u{201B}' | '\u{2032}' | '\u{FF07}' => "'",
        '\u{201C}'..='\u{201F}' | '\u{2033}' | '\u{FF02}' | '\u{AB}' | '\u{BB}' => "\"",
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{FE58}' | '\u{FF0D}' => "-",
        '\u{2026}' => "...",
        '\u{A0}' | '\u{2000}'..='\u{200A}' | '\u{202F}' | '\u{205F}' | '\u{3000}' => " ",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(mapped: &Mapped<'_>, original: &str, needle: &str) -> String {
        let at = mapped.text().find(needle).unwrap();
        original[mapped.original(&(at..at + needle.len()))].to_owned()
    }

    #[test]
    fn parts_are_found_again_in_the_original() {
        let text = "a\r\nb\r\n\r\nc";
        let mapped = Mapped::with_single_breaks(text);
        assert_eq!(mapped.text(), "a\nb\n\nc");
        assert_eq!(found(&mapped, text, "a"), "a");
        assert_eq!(found(&mapped, text, "a\nb"), "a\r\nb");
        assert_eq!(found(&mapped, text, "b\n\nc"), "b\r\n\r\nc");

        let text = "x \t =   1;";
        let mapped = Mapped::with_single_blanks(text);
        assert_eq!(mapped.text(), "x = 1;");
        assert_eq!(found(&mapped, text, "= 1"), "=   1");
        assert_eq!(found(&mapped, text, "x ="), "x \t =");

        let text = "say “hi” … – end";
        let mapped = Mapped::with_plain_punctuation(text);
        assert_eq!(mapped.text(), "say \"hi\" ... - end");
        assert_eq!(found(&mapped, text, "\"hi\""), "“hi”");
        assert_eq!(found(&mapped, text, "... -"), "… –");
    }
}
