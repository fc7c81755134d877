//! The text that stands where a secret stood: `[redacted:NAME]`.
//!
//! One marker for every kind of text, chosen so that it can never be mistaken for data: tools refuse to write a text
//! that contains one ([`contains_marker`]), otherwise a masked file would be saved over the real one.

use std::ops::Range;

pub(crate) const OPEN: &str = "[redacted:";
pub(crate) const CLOSE: u8 = b']';
const MAX_LABEL: usize = 128;

pub(crate) fn marker(label: &str) -> String {
    format!("{OPEN}{label}]")
}

/// Reports whether the text holds something this crate put in place of a secret.
pub fn contains_marker(text: &str) -> bool {
    markers(text).next().is_some()
}

/// Lists the labels of the markers in a text, in order.
pub fn markers(text: &str) -> impl Iterator<Item = &str> {
    spans(text.as_bytes()).filter_map(|span| text.get(label_of(&span)))
}

/// Finds everything shaped like a marker, whoever wrote it.
pub(crate) fn spans(text: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut from = 0;
    std::iter::from_fn(move || {
        loop {
            let rest = text.get(from..)?;
            let start = from + find(rest, OPEN.as_bytes())?;
            let label = start + OPEN.len();
            from = label;
            let candidate = text.get(label..).unwrap_or_default();
            let length = candidate
                .iter()
                .take(MAX_LABEL + 1)
                .take_while(|byte| is_label(**byte))
                .count();
            if (1..=MAX_LABEL).contains(&length) && candidate.get(length) == Some(&CLOSE) {
                from = label + length + 1;
                return Some(start..from);
            }
        }
    })
}

/// The part of a marker's span that is its label.
pub(crate) fn label_of(span: &Range<usize>) -> Range<usize> {
    span.start + OPEN.len()..span.end - 1
}

fn is_label(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_.:/@-".contains(&byte)
}

fn find(text: &[u8], needle: &[u8]) -> Option<usize> {
    text.windows(needle.len())
        .position(|window| window == needle)
}
