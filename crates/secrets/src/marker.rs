//! The text that stands where a secret stood: `[redacted:NAME]`.
//!
//! One marker for every kind of text, chosen so that it can never be mistaken for data: tools refuse to write a text
//! that contains one ([`contains_marker`]), otherwise a masked file would be saved over the real one.

use std::ops::Range;

pub(crate) const OPEN: &str = "[redacted:";
pub(crate) const CLOSE: u8 = b']';
const MAX_LABEL: usize = 128;
/// How the reference begins and ends such a text; imported conversations hold it.
const FOREIGN_OPEN: &str = "«redacted:";
const FOREIGN_CLOSE: char = '»';

pub(crate) fn marker(label: &str) -> String {
    format!("{OPEN}{label}]")
}

/// Reports whether the text holds something that was put in place of a secret.
pub fn contains_marker(text: &str) -> bool {
    markers(text).next().is_some()
}

/// Lists the markers in a text: ours in order, then those of the reference.
pub fn markers(text: &str) -> impl Iterator<Item = &str> {
    let ours = spans(text.as_bytes()).filter_map(|span| text.get(span));
    ours.chain(foreign(text))
}

fn foreign(text: &str) -> impl Iterator<Item = &str> {
    let starts = text.match_indices(FOREIGN_OPEN);
    starts.filter_map(|(start, open)| {
        let rest = text.get(start + open.len()..)?;
        let length = rest.find([FOREIGN_CLOSE, '\n'])?;
        let end = start + open.len() + length + FOREIGN_CLOSE.len_utf8();
        let whole = text.get(start..end)?;
        (length <= MAX_LABEL && whole.ends_with(FOREIGN_CLOSE)).then_some(whole)
    })
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
