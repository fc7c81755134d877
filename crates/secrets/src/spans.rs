//! Ranges of text to replace: collecting, merging, replacing.

use std::ops::Range;

/// A stretch of text that must go, and the label of the marker that replaces it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Span<'a> {
    pub(crate) range: Range<usize>,
    pub(crate) label: &'a str,
    /// Lower wins when stretches overlap: a known value before a shape, an exact shape before a loose one.
    pub(crate) rank: usize,
}

/// Joins stretches that overlap, so that no character of any of them stays.
pub(crate) fn merge(mut spans: Vec<Span<'_>>) -> Vec<Span<'_>> {
    spans.sort_by_key(|span| (span.range.start, span.rank));
    let mut merged: Vec<Span<'_>> = Vec::with_capacity(spans.len());
    for span in spans {
        match merged.last_mut() {
            Some(last) if span.range.start < last.range.end => {
                last.range.end = last.range.end.max(span.range.end);
                if span.rank < last.rank {
                    (last.label, last.rank) = (span.label, span.rank);
                }
            }
            _ => merged.push(span),
        }
    }
    merged
}

/// Writes the text with each stretch replaced by its marker.
pub(crate) fn replace(text: &[u8], spans: &[Span<'_>]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut from = 0;
    for span in spans {
        out.extend_from_slice(text.get(from..span.range.start).unwrap_or_default());
        out.extend_from_slice(crate::marker::marker(span.label).as_bytes());
        from = span.range.end;
    }
    out.extend_from_slice(text.get(from..).unwrap_or_default());
    out
}
