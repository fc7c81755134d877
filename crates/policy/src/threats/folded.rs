//! A text as it looks, with the way back to how it is written.

use std::borrow::Cow;
use std::ops::Range;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::canonical_combining_class;

use super::invisible;

/// A text in its compatible form (NFKC) without the characters nobody sees.
pub(super) struct Folded<'t> {
    text: Cow<'t, str>,
    /// For each byte of the text, the bytes of the original it came from. None when they are the same.
    origins: Option<Vec<Range<usize>>>,
}

impl<'t> Folded<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        if text.is_ascii() {
            return Self {
                text: Cow::Borrowed(text),
                origins: None,
            };
        }
        let mut folded = String::with_capacity(text.len());
        let mut origins = Vec::with_capacity(text.len());
        for piece in pieces(text) {
            let visible = text
                .get(piece.clone())
                .unwrap_or_default()
                .chars()
                .filter(|character| !invisible::is_one(*character));
            folded.extend(visible.nfkc());
            origins.resize(folded.len(), piece);
        }
        Self {
            text: Cow::Owned(folded),
            origins: Some(origins),
        }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Where a part of the folded text stands in the original.
    pub(super) fn origin(&self, part: Range<usize>) -> Range<usize> {
        let Some(origins) = &self.origins else {
            return part;
        };
        let start = origins.get(part.start).map_or(0, |piece| piece.start);
        let last = part.end.saturating_sub(1);
        let end = origins.get(last).map_or(start, |piece| piece.end);
        start..end.max(start)
    }
}

/// Cuts a text into characters with the marks that belong to them: these are folded together, and nothing of
/// what is looked for is made from more.
fn pieces(text: &str) -> impl Iterator<Item = Range<usize>> {
    let starts = text
        .char_indices()
        .filter(|(_, character)| canonical_combining_class(*character) == 0)
        .map(|(at, _)| at);
    let ends = starts.clone().skip(1).chain(std::iter::once(text.len()));
    starts.zip(ends).map(|(start, end)| start..end)
}
