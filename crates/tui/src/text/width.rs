//! How many columns text takes.

use ratatui::text::Span;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Columns of one line of text. Emoji sequences and wide characters count two, combining marks none.
pub fn width(text: &str) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    text.graphemes(true).map(grapheme_width).sum()
}

/// Columns of one grapheme, as the terminal's buffer counts them.
pub(super) fn grapheme_width(grapheme: &str) -> usize {
    grapheme.width()
}

/// Columns of a run of styled text.
pub(crate) fn spans_width(spans: &[Span<'_>]) -> usize {
    spans.iter().map(|span| width(&span.content)).sum()
}

/// The text when it fits into `columns`, else its beginning and `…`.
pub fn cut(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut out = head(text, columns.saturating_sub(1)).to_owned();
    if columns > 0 {
        out.push('…');
    }
    out
}

/// The text when it fits into `columns`, else `…` and its end, where paths differ.
pub(crate) fn cut_path(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut start = text.len();
    let mut left = columns.saturating_sub(1);
    for (place, grapheme) in text.grapheme_indices(true).rev() {
        let Some(rest) = left.checked_sub(grapheme_width(grapheme)) else {
            break;
        };
        left = rest;
        start = place;
    }
    let end = text.get(start..).unwrap_or_default();
    if columns == 0 {
        String::new()
    } else {
        format!("…{end}")
    }
}

/// The text cut or filled with spaces to exactly `columns`.
pub fn fit(text: &str, columns: usize) -> String {
    let mut out = cut(text, columns);
    let missing = columns.saturating_sub(width(&out));
    out.extend(std::iter::repeat_n(' ', missing));
    out
}

/// The beginning of a text that fits into `columns`.
pub(super) fn head(text: &str, columns: usize) -> &str {
    let mut left = columns;
    for (place, grapheme) in text.grapheme_indices(true) {
        match left.checked_sub(grapheme_width(grapheme)) {
            Some(rest) => left = rest,
            None => return text.get(..place).unwrap_or_default(),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_count_as_what_is_seen() {
        for (text, columns) in [
            ("abc", 3),
            ("日本", 4),
            ("e\u{301}", 1),
            ("👩\u{200d}💻", 2),
            ("❤\u{fe0f}", 2),
            ("🇩🇪", 2),
            ("", 0),
        ] {
            assert_eq!(width(text), columns, "{text:?}");
        }
    }

    #[test]
    fn cutting_keeps_to_the_columns_and_to_graphemes() {
        assert_eq!(cut("日本語", 5), "日本…");
        assert_eq!(cut("日本語", 4), "日…");
        assert_eq!(cut("abc", 0), "");
        assert_eq!(cut("e\u{301}e\u{301}e\u{301}", 2), "e\u{301}…");
        assert_eq!(cut_path("/home/anna/project", 9), "…/project");
        assert_eq!(cut_path("short", 9), "short");
        assert_eq!(fit("日本語", 4), "日… ");
        assert_eq!(fit("ab", 4), "ab  ");
    }
}
