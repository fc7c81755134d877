//! Text in rows of a width: for what is written in the composer and asked in panels.
//!
//! Nothing of a text disappears and nothing of it acts: a control character is shown as a sign.

use std::borrow::Cow;
use std::ops::Range;

use ratatui::style::Style;
use ratatui::text::Span;
use unicode_segmentation::UnicodeSegmentation;

use super::width::grapheme_width;

const TAB: &str = "    ";
const UNSHOWABLE: &str = "\u{fffd}";

/// What is shown of a grapheme where `width` columns are the most there are, and how many it takes.
pub(crate) fn glyph(grapheme: &str, width: usize) -> (Cow<'_, str>, usize) {
    let first = grapheme.chars().next().unwrap_or(' ');
    if first == '\t' {
        let columns = TAB.len().min(width.max(1));
        return (Cow::Borrowed(TAB.get(..columns).unwrap_or(" ")), columns);
    }
    if first.is_control() {
        // The block of control pictures mirrors the first 32 characters.
        let sign = match u32::from(first) {
            code @ 0..0x20 => char::from_u32(0x2400 + code),
            0x7f => Some('\u{2421}'),
            _ => None,
        };
        let sign = sign.map_or(UNSHOWABLE.to_owned(), String::from);
        return (Cow::Owned(sign), 1);
    }
    match grapheme_width(grapheme) {
        0 => (Cow::Borrowed(UNSHOWABLE), 1),
        columns if columns > width.max(1) => (Cow::Borrowed(UNSHOWABLE), 1),
        _ if turns_text(first) || hides_text(grapheme, first) => (Cow::Borrowed(UNSHOWABLE), 1),
        columns => (Cow::Borrowed(grapheme), columns),
    }
}

/// Characters that make text read otherwise than it is stored.
fn turns_text(character: char) -> bool {
    matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Whether invisible letters hang on a grapheme; flags are made of such letters.
fn hides_text(grapheme: &str, first: char) -> bool {
    let alone = grapheme.len() == first.len_utf8();
    !alone
        && first != '🏴'
        && grapheme
            .chars()
            .any(|letter| matches!(letter, '\u{e0000}'..='\u{e007f}'))
}

/// The columns a text takes in one row.
pub(crate) fn columns(text: &str) -> usize {
    let graphemes = text.graphemes(true);
    graphemes
        .map(|grapheme| glyph(grapheme, usize::MAX).1)
        .sum()
}

/// A text in one row of at most `width` columns; what is left out is marked.
pub(crate) fn cut(text: &str, width: usize) -> String {
    super::cut(&shown(text, width), width)
}

/// A text in exactly `width` columns.
pub(crate) fn fit(text: &str, width: usize) -> String {
    super::fit(&shown(text, width), width)
}

/// What is shown of a text in one row.
fn shown(text: &str, width: usize) -> String {
    let sign = |grapheme| match grapheme {
        "\n" | "\r\n" => Cow::Borrowed(" "),
        _ => glyph(grapheme, width).0,
    };
    // Each takes at least one column.
    let enough = width.saturating_add(1);
    text.graphemes(true).take(enough).map(sign).collect()
}

/// The byte ranges of the rows a text fills at a width, broken after spaces where it can be. There is
/// always one; the newline itself belongs to none.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<Range<usize>> {
    let width = width.max(1);
    let mut rows = Vec::new();
    let mut offset = 0;
    for line in text.split('\n') {
        wrap_line(line, offset, width, &mut rows);
        offset += line.len() + 1;
    }
    rows
}

fn wrap_line(line: &str, offset: usize, width: usize, rows: &mut Vec<Range<usize>>) {
    let (mut start, mut column) = (0, 0);
    // Where the row could end, and the column there.
    let mut gap = (0, 0);
    for (at, grapheme) in line.grapheme_indices(true) {
        let columns = glyph(grapheme, width).1;
        while column + columns > width {
            let (end, reached) = if gap.0 > start { gap } else { (at, column) };
            rows.push(offset + start..offset + end);
            start = end;
            column -= reached;
            gap = (start, 0);
        }
        column += columns;
        if grapheme == " " || grapheme == "\t" {
            gap = (at + grapheme.len(), column);
        }
    }
    rows.push(offset + start..offset + line.len());
}

/// A stretch of a text as spans; `style` says how the grapheme at an offset looks.
pub(crate) fn paint(
    text: &str,
    range: Range<usize>,
    width: usize,
    style: impl Fn(usize) -> Style,
) -> Vec<Span<'static>> {
    let mut spans: Vec<Span<'static>> = Vec::new();
    let mut open: Option<(Style, String)> = None;
    let stretch = text.get(range.clone()).unwrap_or_default();
    for (at, grapheme) in stretch.grapheme_indices(true) {
        let look = style(range.start + at);
        let sign = glyph(grapheme, width).0;
        match &mut open {
            Some((same, shown)) if *same == look => shown.push_str(&sign),
            _ => {
                spans.extend(open.take().map(|(style, shown)| Span::styled(shown, style)));
                open = Some((look, sign.into_owned()));
            }
        }
    }
    spans.extend(open.map(|(style, shown)| Span::styled(shown, style)));
    spans
}

/// A text in rows of one style, at most `limit` of them; the last one says when there was more.
pub(crate) fn block(text: &str, width: usize, limit: usize) -> Vec<String> {
    let rows = wrap(text, width);
    let kept = rows.iter().take(limit);
    let mut lines: Vec<String> = kept
        .map(|row| {
            let spans = paint(text, row.clone(), width, |_| Style::new());
            spans.into_iter().map(|span| span.content).collect()
        })
        .collect();
    if let Some(last) = lines.last_mut().filter(|_| rows.len() > limit) {
        let room = width.saturating_sub(2);
        *last = match columns(last.trim_end()) <= room {
            true => cut(&format!("{} …", last.trim_end()), width),
            false => cut(&format!("{last}{}", " ".repeat(width)), width),
        };
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn breaks_after_spaces_and_inside_words_that_are_too_long() {
        assert_eq!(wrap("one two three", 8), [0..8, 8..13]);
        assert_eq!(wrap("abcdefgh ij", 4), [0..4, 4..8, 8..11]);
        assert_eq!(wrap("a\n\nb", 5), [0..1, 2..2, 3..4]);
        assert_eq!(wrap("", 5).len(), 1);
    }

    #[test]
    fn shows_what_would_act_as_signs() {
        assert_eq!(glyph("\u{1b}", 9), (Cow::Borrowed("␛"), 1));
        assert_eq!(glyph("\u{202e}", 9).0, UNSHOWABLE);
        assert_eq!(glyph("漢", 1).0, UNSHOWABLE);
        assert_eq!(glyph("m\u{e0061}", 9).0, UNSHOWABLE);
        assert_eq!(glyph("\u{200b}", 9).0, UNSHOWABLE);
        assert_eq!(glyph("\t", 2).0, "  ");
    }

    #[test]
    fn cuts_by_columns() {
        assert_eq!(cut("abcdef", 4), "abc…");
        assert_eq!(cut("abcd", 4), "abcd");
        assert_eq!(cut("漢字漢", 4), "漢…");
        assert_eq!(cut("a\nb", 4), "a b");
        assert_eq!(cut("abc", 0), "");
        assert_eq!(fit("漢", 4), "漢  ");
    }

    #[test]
    fn a_block_says_that_more_was_left_out() {
        assert_eq!(block("one two three four", 6, 2), ["one ", "two …"]);
        assert_eq!(block("one two", 6, 2), ["one ", "two"]);
    }
}
